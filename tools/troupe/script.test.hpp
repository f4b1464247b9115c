// A shell script in a temporary file, for tests that need a program which does one odd thing: it prints and hangs, or
// it dies at the wrong moment. Gone when the object is.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace troupe::tool {

class Script {
 public:
  explicit Script(const std::string& commands) {
    std::ofstream(path_) << "#!/bin/sh\n" << commands << "\n";
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  ~Script() { std::filesystem::remove(path_); }

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / ("troupe-script-" + std::to_string(getpid()));
};

}  // namespace troupe::tool

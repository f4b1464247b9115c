// Compiled programs on the disk, so that the next process need not compile them again: a compiler takes 0.1 to 3 s for
// one. The files are only a cache. One that is damaged, that another compiler has made, or that somebody else could
// have written counts as not there; several processes may use a folder at once; the least used go first. Nothing here
// fails: a folder that cannot be used keeps nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/wire/compiled_image.hpp"

namespace troupe::inline v0 {

/// In the place of a compute capability: the CPU of this machine.
inline constexpr int kOnCpu = 0;

/// All that an image depends on, but for the compiler, which the image itself names.
struct ProgramKey {
  std::string executable;  // the worker's, which has headers of ours in it
  std::string source;
  std::string flags;
  std::string instances;  // of templates, with tabs between them
  std::vector<wire::SourceHeader> headers = {};
  int capability = kOnCpu;
  bool is_checked = false;

  /// Whether nothing else is read for it. Sources and flags that name files of the user's are not kept: those may
  /// change.
  bool is_complete() const;
};

/// Any thread and process may call any function at any time.
class ProgramCache {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  static constexpr std::size_t kMostPrograms = 1024;
  static constexpr std::uint64_t kMostBytesOfProgram = std::uint64_t{64} << 20;

  /// Keeps programs in that folder, which is made when the first one is kept; with an empty path, none.
  explicit ProgramCache(std::string folder, std::size_t most_programs = kMostPrograms,
                        std::uint64_t most_bytes = kMostBytes)
      : folder_(std::move(folder)), most_programs_(most_programs), most_bytes_(most_bytes) {}
  /// In the folder that $TROUPE_PROGRAMS names, where that is set: empty, it keeps nothing. Otherwise in
  /// troupe/programs of $XDG_CACHE_HOME or of ~/.cache.
  static ProgramCache of_user();

  const std::string& folder() const noexcept { return folder_; }

  /// What was kept, if its compiler is still the one that was there.
  std::optional<wire::CompiledImage> find(const ProgramKey& key) const;
  /// Keeps an image whose compiler is known, and removes the least used while there are too many.
  void keep(const ProgramKey& key, const wire::CompiledImage& image) const;

 private:
  bool is_usable(const ProgramKey& key) const { return !folder_.empty() && key.is_complete(); }
  void make_room() const;

  std::string folder_;
  std::size_t most_programs_;
  std::uint64_t most_bytes_;
};

}  // namespace troupe::inline v0

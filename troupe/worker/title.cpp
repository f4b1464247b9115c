#include "troupe/worker/title.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstring>

namespace troupe::worker {
namespace {

constexpr std::size_t kMaxThreadName = 15;

}  // namespace

std::string thread_name(std::string_view device, std::string_view role_in_short) {
  std::string rest(device);
  if (!role_in_short.empty()) rest.append(":").append(role_in_short);
  std::string name = "troupe:" + rest;
  if (name.size() > kMaxThreadName) name = "tr:" + rest;
  name.resize(std::min(name.size(), kMaxThreadName));
  return name;
}

Title::Title(int argc, char** argv) noexcept {
  if (argc < 1) return;
  char* end = argv[0] + std::strlen(argv[0]) + 1;
  for (int i = 1; i < argc && argv[i] == end; ++i) end += std::strlen(argv[i]) + 1;
  place_ = {argv[0], end};
}

void Title::starting(std::string_view device) noexcept {
  device_ = device;
  show("starting", "new");
}

void Title::standby() noexcept { show("standby", "sby"); }

void Title::serving(std::int64_t generation) noexcept {
  const std::string number = std::to_string(generation);
  show("serving generation " + number, "g" + number);
}

void Title::show(std::string_view role, std::string_view role_in_short) noexcept {
  pthread_setname_np(pthread_self(), thread_name(device_, role_in_short).c_str());
  if (place_.empty()) return;
  const std::string title = "troupe-worker " + device_ + " " + std::string(role);
  // The last byte stays zero: without it the kernel takes the environment for a part of the title.
  const std::size_t size = std::min(title.size(), place_.size() - 1);
  std::copy_n(title.begin(), size, place_.begin());
  std::fill(place_.begin() + static_cast<std::ptrdiff_t>(size), place_.end(), '\0');
}

}  // namespace troupe::worker

#include "tests/adversary/caller.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe::adversary {
namespace {

constexpr std::int64_t kElements = 1000;
/// Longer than any op here takes, trials included: whoever ends by it was not served.
constexpr Duration kLongest = std::chrono::seconds(30);

}  // namespace

void Findings::complain(const std::string& what) {
  ++wrong;
  const std::lock_guard lock(mutex_);
  std::fprintf(stderr, "WRONG: %s\n", what.c_str());
}

void Findings::count(ErrorKind kind) {
  ++errors;
  const std::lock_guard lock(mutex_);
  ++by_kind_[std::string(name(kind))];
}

std::map<std::string, std::uint64_t> Findings::by_kind() {
  const std::lock_guard lock(mutex_);
  return by_kind_;
}

Caller::Caller(Device device, std::string plugin, std::uint64_t seed, Findings& findings)
    : device_(std::move(device)), plugin_(std::move(plugin)), random_(seed), findings_(findings) {
  for (Array<float>* array : {&first_, &second_, &third_, &updated_}) *array = value(device_.array<float>({kElements}));
}

bool Caller::matches(const HostArray<float>& read, float number) const {
  return std::ranges::all_of(read, [&](float element) { return element == number; });
}

void Caller::step() {
  ++findings_.steps;
  check_copies(next_++);
  if (random_() % 4 == 0) check_failure();
  check_update();
}

void Caller::last_step() {
  const float number = next_++;
  if (const Result<void> done = copy_through_lanes(number); !done)
    return findings_.complain("all is quiet, and an op fails: " + done.error().to_string());
  check_copies(next_++);
}

/// Three arrays, three lanes: filled, copied by a plugin, copied again. Nobody waits in between.
Result<void> Caller::copy_through_lanes(float number) {
  const Result<void> filled = device_.fill(first_, number).submit();
  if (!filled) return std::unexpected(filled.error());
  const Result<void> copied = device_.call_plugin(plugin_, "copy", {reads(first_), writes(second_)}).submit();
  if (!copied) return std::unexpected(copied.error());
  return device_.copy(second_, third_).deadline(kLongest).get();
}

void Caller::check_copies(float number) {
  const std::int64_t generation = device_.generation();
  const Result<void> done = copy_through_lanes(number);
  if (!done) findings_.count(done.error().kind());
  const Result<HostArray<float>> read = device_.read(third_).deadline(kLongest).get();
  if (!read) {
    findings_.count(read.error().kind());
    if (read.error().kind() == ErrorKind::deadline_exceeded) findings_.complain("a read ends by its deadline only");
    return;
  }
  if (!done) return;  // the last copy may have been refused or cut off, and what was there before is good
  if (matches(*read, number))
    ++findings_.values;
  else
    findings_.complain("a copy of " + std::to_string(number) + " ended well and holds " + std::to_string((*read)[0]) +
                       "; what was filled holds " + first_of(first_) + ", the first copy " + first_of(second_) +
                       ", the second " + first_of(third_) + "; generation " + std::to_string(generation) + " to " +
                       std::to_string(device_.generation()));
}

std::string Caller::first_of(const Array<float>& array) const {
  const Result<HostArray<float>> read = device_.read(array).deadline(kLongest).get();
  return read ? std::to_string((*read)[0]) : read.error().to_string();
}

void Caller::check_failure() {
  const Result<void> failed = device_.call_plugin(plugin_, "error", {}).deadline(kLongest).get();
  if (failed) return findings_.complain("an op that fails ended well");
  if (failed.error().kind() == ErrorKind::library_error)
    ++findings_.values;
  else
    findings_.count(failed.error().kind());
}

/// In place: it cannot be run again, so after a failure the array is tainted, or as it was if the op had not begun.
void Caller::check_update() {
  if (!is_known_) {
    updated_to_ = next_++;
    is_known_ = device_.fill(updated_, updated_to_).deadline(kLongest).get().has_value();
    if (!is_known_) return;
  }
  const float factor = 2;
  const Result<void> done =
      device_.call_plugin(plugin_, "scale", {updates(updated_)}, std::as_bytes(std::span(&factor, 1)))
          .deadline(kLongest)
          .get();
  const Result<HostArray<float>> read = device_.read(updated_).deadline(kLongest).get();
  if (!done) findings_.count(done.error().kind());
  if (!read) {
    findings_.count(read.error().kind());
    is_known_ = false;
    return;
  }
  const float expected = done ? updated_to_ * factor : updated_to_;
  if (!matches(*read, expected))
    findings_.complain("an update ended " + (done ? std::string("well") : "in " + done.error().to_string()) +
                       ", and the array that is not tainted holds " + std::to_string((*read)[0]) + " instead of " +
                       std::to_string(expected));
  else
    ++findings_.values;
  updated_to_ = expected;
  if (updated_to_ > 1e15) is_known_ = false;
}

}  // namespace troupe::adversary

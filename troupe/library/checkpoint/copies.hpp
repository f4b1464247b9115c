// Copies that belong together: all of them are made before any is submitted, and then all are submitted at once. So
// whoever is cut off while it waits leaves all of them behind, or none.
#pragma once

#include <string>
#include <vector>

#include "troupe/actor/task.hpp"
#include "troupe/device/device.hpp"
#include "troupe/device/op_call.hpp"

namespace troupe::inline v0 {

class Copies {
 public:
  /// `call` is what the user called: a literal.
  Copies(Device device, const char* call) : device_(std::move(device)), call_(call) {}

  /// One more; `name` is that of the array, for errors. Both have the same shape and type.
  Result<void> add(const std::string& name, const AnyArray& from, const AnyArray& to);
  /// Submits them, and waits for the end of all: the first error in their order, with the array's name. Call it once,
  /// and keep this until it has ended.
  Task<Result<void>> run();

 private:
  class Group;
  class End;
  Error about(const std::string& name, const Error& error) const;

  const Device device_;
  const char* const call_;
  std::vector<std::string> names_;
  std::vector<detail::IntrusivePtr<detail::OpCall>> ops_;
};

}  // namespace troupe::inline v0

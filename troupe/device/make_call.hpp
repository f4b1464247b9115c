// How the library makes a call from an op and its arrays. It is not for users: they have the functions of `Device` and
// of its families.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

#include "troupe/device/device.hpp"
#include "troupe/device/op_call.hpp"
#include "troupe/op/table.hpp"

namespace troupe::inline v0 {

/// What the library needs from a device and users do not.
class DeviceParts {
 public:
  static const std::shared_ptr<detail::DeviceState>& state(const Device& device) noexcept { return device.state(); }
  /// Memory of the device for an array that knows its type.
  static Result<void> allocate(const Device& device, AnyArray& array, const Shape& shape) {
    return device.allocate(array, shape);
  }
  /// The same in memory that the app and the workers share.
  static Result<void> allocate_host(const Device& device, AnyArray& array, const Shape& shape) {
    return device.allocate_host(array, shape);
  }
  /// Whether an op may use the array, which the call names like that. `make_op_call` asks, too.
  static Result<void> check(const Device& device, std::string_view call, std::string_view name, const AnyArray& array);
  /// Has every worker of the device, now and later, run that call of a plugin ahead of those that need what it makes;
  /// see `wire::PrepareOp`. Gives a number to forget it by; until then the caller keeps the arrays, and nobody writes
  /// them.
  static Result<std::uint64_t> prepare(const Device& device, const std::string& path, const std::string& function,
                                       std::span<const ArrayUse> arrays, std::span<const std::byte> parameters);
  static void forget(const Device& device, std::uint64_t prepared) noexcept;
  /// Checks everything before it reaches a worker. The arrays are those of the op's views, in the order in which the op
  /// describes them; further arrays are only kept until the op ends.
  static Result<detail::IntrusivePtr<detail::OpCall>> make_op_call(const Device& device, const op::OpInfo& info,
                                                                   const void* op,
                                                                   std::span<const AnyArray* const> arrays);
};

/// A call that gives `R`. `kept` is one of the arrays: the op writes the result there.
template <class R, class Op>
Call<R> make_call_giving(const Device& device, typename detail::Keeping<R>::Kept kept, const Op& op,
                         std::span<const AnyArray* const> arrays) {
  Result<detail::IntrusivePtr<detail::OpCall>> call = DeviceParts::make_op_call(device, op::info_of<Op>(), &op, arrays);
  if (!call) return fail(std::move(call).error());
  return {DeviceParts::state(device), std::move(*call), std::move(kept)};
}

template <class Op>
Call<void> make_call(const Device& device, const Op& op, std::span<const AnyArray* const> arrays) {
  return make_call_giving<void>(device, {}, op, arrays);
}
template <class Op>
Call<void> make_call(const Device& device, const Op& op, std::initializer_list<const AnyArray*> arrays) {
  return make_call(device, op, std::span<const AnyArray* const>(arrays.begin(), arrays.size()));
}

/// The same for an op that itself says whether it went well: it writes words into `verdict`, one of the arrays, and
/// `judge` says what they mean.
template <class R, class Op>
Call<R> make_judged_call(const Device& device, typename detail::Keeping<R>::Kept kept, const Op& op,
                         std::span<const AnyArray* const> arrays, const HostArray<std::int32_t>& verdict,
                         Result<void> (*judge)(std::span<const std::int32_t>)) {
  Result<detail::IntrusivePtr<detail::OpCall>> call = DeviceParts::make_op_call(device, op::info_of<Op>(), &op, arrays);
  if (!call) return fail(std::move(call).error());
  (*call)->verdict = {verdict.span(), judge};  // the op keeps the array
  return {DeviceParts::state(device), std::move(*call), std::move(kept)};
}

}  // namespace troupe::inline v0

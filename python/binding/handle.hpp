// What the files of the binding share: the handle of an array as Python holds it, how ops are submitted, how the
// library's errors become Python's exceptions. Functions here need the interpreter lock, unless they say otherwise.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "troupe/device/gpu_sharing.hpp"
#include "troupe/troupe.hpp"

namespace troupe::python {

namespace nb = nanobind;

/// An array, and the device that computes with it. The base of Python's `Array`.
struct Handle {
  AnyArray array;
  Device device;
  std::shared_ptr<detail::GpuLease> lease = nullptr;  // for those who have read its address and keep this object
};

/// An array that a CUDA context of this process sees.
struct Lent {
  std::shared_ptr<detail::GpuLease> lease;
};

/// What the package's Python code tells this module when it is imported. There is one, as there is one interpreter.
struct Registry {
  nb::object array_type;                                  // Python's `Array`
  nb::object convert;                                     // makes an array of anything else, beside another array
  std::array<nb::object, kErrorKinds> exception_classes;  // by kind
};
Registry& registry() noexcept;

// ---- errors ----

[[noreturn]] void raise(const Error& error);
[[noreturn]] void raise(ErrorKind kind, std::string message);
inline void check(const Result<void>& result) {
  if (!result) raise(result.error());
}
template <class T>
T checked(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

// ---- arrays ----

bool is_array(nb::handle object) noexcept;
/// Needs an array.
Handle& handle_of(nb::handle object) noexcept;
/// An instance of Python's `Array`.
nb::object wrap(AnyArray array, const Device& device);

/// Where memory is made: `usual` is memory that the app sees where the device is the CPU.
enum class Place : int { usual, app, device, sealable };
AnyArray allocate(const Device& device, DType dtype, const Shape& shape, Place place = Place::usual);
/// Null when the app does not see the memory.
std::byte* address_of(const AnyArray& array) noexcept;
Shape shape_from(nb::handle extents);
nb::tuple tuple_of(std::span<const std::int64_t> numbers);
DType dtype_from(int number);
/// "[2, 3]" beside "[4]" for an error.
[[noreturn]] void raise_no_broadcast(std::string_view call, const Shape& a, const Shape& b);

// ---- ops ----

/// Whether ops of this thread wait for their end (`with troupe.strict()`).
bool& is_strict() noexcept;
/// Waits in this thread, without the interpreter lock, until `array` has what ops submitted so far write. Ctrl-C ends
/// it. The error of an op that failed to write it is raised as it was.
void wait_until_ready(const Device& device, const AnyArray& array);
/// Waits for room in the device's queue; Ctrl-C ends it.
void wait_for_room(const Device& device);
/// Waits for a call to end, as above.
void wait_for_end(const Device& device, Call<void> call);
/// What an op does with an array: "reads", "writes" (all of it), "part" (writes some of it) or "updates".
ArrayUse use_from(const std::string& word, const AnyArray& array);

/// Submits the call that `make_call` makes. It returns at once, unless too many ops wait already.
template <class MakeCall>
void submit(const Device& device, const MakeCall& make_call) {
  if (is_strict()) return wait_for_end(device, make_call());
  for (;;) {
    const Result<void> taken = make_call().try_now().submit(std::source_location());
    if (taken) return;
    if (taken.error().kind() != ErrorKind::queue_full) raise(taken.error());
    wait_for_room(device);
  }
}

// ---- the parts of the module ----

void bind_system(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_indexing(nb::module_& module);
void bind_elementwise(nb::module_& module);
void bind_products(nb::module_& module);
void bind_families(nb::module_& module);
void bind_primitives(nb::module_& module);
void bind_dnn(nb::module_& module);
void bind_training(nb::module_& module);
void bind_recurrent(nb::module_& module);
void bind_random(nb::module_& module);
void bind_sparse(nb::module_& module);
void bind_dlpack(nb::module_& module);
void bind_sharing(nb::module_& module);
void bind_calls(nb::module_& module);
void bind_jit(nb::module_& module);
void bind_expressions(nb::module_& module);
void bind_iterative(nb::module_& module);
void bind_numbers(nb::module_& module);

}  // namespace troupe::python

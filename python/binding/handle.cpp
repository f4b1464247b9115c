#include "handle.hpp"

#include "troupe/device/block.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"

namespace troupe::python {

Registry& registry() noexcept {
  // Never destroyed: objects of Python must not be released after the interpreter's end.
  static Registry& only = *new Registry;
  return only;
}

void raise(const Error& error) {
  const ErrorOrigin& from = error.origin();
  const nb::object& type = registry().exception_classes[static_cast<std::size_t>(error.kind())];
  const std::string_view message = error.message();
  const auto text = [](std::string_view words) { return nb::str(words.data(), words.size()); };
  const nb::object exception =
      type(text(message), text(from.op), from.device < 0 ? nb::object(nb::none()) : nb::object(nb::int_(from.device)),
           from.generation < 0 ? nb::object(nb::none()) : nb::object(nb::int_(from.generation)), text(from.library),
           nb::int_(from.native_code));
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw nb::python_error();
}

void raise(ErrorKind kind, std::string message) { raise(Error(kind, std::move(message))); }

bool is_array(nb::handle object) noexcept { return nb::isinstance<Handle>(object); }
Handle& handle_of(nb::handle object) noexcept { return *nb::inst_ptr<Handle>(object); }

nb::object wrap(AnyArray array, const Device& device) {
  nb::object made = nb::inst_alloc(registry().array_type);
  new (nb::inst_ptr<Handle>(made)) Handle{std::move(array), device};
  nb::inst_mark_ready(made);
  return made;
}

AnyArray allocate(const Device& device, DType dtype, const Shape& shape, Place place) {
  if (place == Place::usual) place = device.info().backend == "host" ? Place::app : Place::device;
  if (place == Place::device) return checked(device.array(dtype, shape));
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> AnyArray {
    if (place == Place::app) return checked(device.host_array<T>(shape));
    return checked(device.sealable_array<T>(shape));
  });
}

std::byte* address_of(const AnyArray& array) noexcept {
  if (!array.block() || array.block()->data() == nullptr) return nullptr;
  return array.block()->data() + (array.view().address - array.block()->address());
}

Shape shape_from(nb::handle extents) {
  std::vector<std::int64_t> numbers;
  for (const nb::handle extent : extents) numbers.push_back(nb::cast<std::int64_t>(extent));
  Shape shape(numbers);
  check(troupe::check(shape));
  return shape;
}

nb::tuple tuple_of(std::span<const std::int64_t> numbers) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(numbers[i]));
  return nb::borrow<nb::tuple>(tuple);
}

DType dtype_from(int number) {
  if (number < 0 || number >= kDTypes) throw nb::value_error("there is no such element type");
  return static_cast<DType>(number);
}

void raise_no_broadcast(std::string_view call, const Shape& a, const Shape& b) {
  raise(ErrorKind::invalid_argument, std::string(call) + ": the operands are " + a.to_string() + " and " +
                                         b.to_string() + "; their shapes must broadcast");
}

bool& is_strict() noexcept {
  static thread_local bool strict = false;
  return strict;
}

namespace {

/// How long a wait goes on before it looks whether Ctrl-C was pressed.
constexpr Duration kLook = std::chrono::milliseconds(50);

void look_for_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// What became of the op that should have written the array, rather than that the array is tainted.
Error cause_of(const Error& error, const AnyArray& array) {
  if (error.kind() != ErrorKind::buffer_tainted || !array.block()) return error;
  const std::optional<Error> why = array.block()->why_tainted();
  return why ? *why : error;
}

}  // namespace

void wait_until_ready(const Device& device, const AnyArray& array) {
  if (array.block() && DeviceParts::state(device)->engine().is_settled(*array.block())) return;
  for (;;) {
    const Result<void> end = [&] {
      nb::gil_scoped_release released;
      return device.wait_for(array).wait_at_most(kLook).get(std::source_location());
    }();
    if (end) return;
    if (end.error().kind() != ErrorKind::timeout) raise(cause_of(end.error(), array));
    look_for_signals();
  }
}

void wait_for_room(const Device& device) {
  {
    nb::gil_scoped_release released;
    (void)device.nop().wait_at_most(kLook).get(std::source_location());
  }
  look_for_signals();
}

}  // namespace troupe::python

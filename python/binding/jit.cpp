// Kernels of the user's own: compiled from source, launched with arrays and numbers.
#include <cstring>

#include "handle.hpp"

namespace troupe::python {
namespace {

/// A compiled program, and the device that it is for.
struct ProgramHandle {
  Program program;
  Device device;
};

ProgramHandle compile(const Device& device, const std::string& source, const std::string& flags,
                      const std::string& instances, double timeout_s, bool cached) {
  CompileOptions options{.flags = flags, .instances = instances, .cached = cached};
  options.timeout = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(timeout_s));
  Result<Program> made = [&] {
    nb::gil_scoped_release released;
    return device.jit().compile(source, options).get(std::source_location());
  }();
  return {checked(std::move(made)), device};
}

detail::GridExtents extents_from(nb::handle given) {
  std::array<std::uint32_t, 3> extents{1, 1, 1};
  std::size_t count = 0;
  for (const nb::handle extent : given) {
    if (count == extents.size()) raise(ErrorKind::invalid_argument, "a grid has up to three extents");
    extents[count++] = nb::cast<std::uint32_t>(extent);
  }
  return {extents[0], extents[1], extents[2]};
}

/// A number comes as (element type, its bytes).
void add_number(KernelArguments& arguments, int dtype, const nb::bytes& bytes) {
  visit(dtype_from(dtype), [&]<class T>(std::type_identity<T>) {
    if (bytes.size() != sizeof(T)) raise(ErrorKind::invalid_argument, "a number has other bytes than its type");
    T number;
    std::memcpy(&number, bytes.data(), sizeof(T));
    arguments.add(number);
  });
}

/// Each is None, (word, array) or (element type, bytes).
KernelArguments arguments_from(nb::handle list) {
  KernelArguments arguments;
  for (const nb::handle item : list) {
    if (item.is_none()) {
      arguments.add(nullptr);
    } else if (const nb::object first = nb::borrow(item[0]); PyLong_Check(first.ptr())) {
      add_number(arguments, nb::cast<int>(first), nb::cast<nb::bytes>(nb::object(item[1])));
    } else {
      arguments.add(use_from(nb::cast<std::string>(first), handle_of(nb::object(item[1])).array));
    }
  }
  return arguments;
}

void launch(const ProgramHandle& self, const std::string& kernel, nb::handle blocks, nb::handle threads,
            std::uint32_t shared_bytes, nb::handle list) {
  const Grid grid{.blocks = extents_from(blocks), .threads = extents_from(threads), .shared_bytes = shared_bytes};
  const KernelArguments arguments = arguments_from(list);
  submit(self.device, [&] { return self.device.jit().launch(self.program, kernel, grid, arguments); });
}

}  // namespace

void bind_jit(nb::module_& module) {
  nb::class_<ProgramHandle>(module, "ProgramHandle")
      .def_prop_ro("log", [](const ProgramHandle& self) { return self.program.log(); })
      .def_prop_ro("size_bytes", [](const ProgramHandle& self) { return self.program.size_bytes(); })
      .def_prop_ro("device_handle", [](const ProgramHandle& self) { return self.device; })
      .def_prop_ro("kernels",
                   [](const ProgramHandle& self) {
                     nb::list all;
                     for (const std::string& kernel : self.program.kernels())
                       all.append(nb::str(kernel.data(), kernel.size()));
                     return all;
                   })
      .def("launch", &launch);
  module.def("compile", &compile);
}

}  // namespace troupe::python

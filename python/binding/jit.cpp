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

/// `flags` are a text or several, `headers` are pairs of names and texts.
ProgramHandle compile(const Device& device, const std::string& text, nb::handle flags, nb::handle headers,
                      const std::string& instances, double timeout_s, bool cached) {
  const std::string all_flags = nb::isinstance<nb::str>(flags) ? nb::cast<std::string>(flags) : std::string();
  KernelSource source(text);
  if (!nb::isinstance<nb::str>(flags))
    for (const nb::handle flag : flags) source.add_flag(nb::cast<std::string>(flag));
  for (const nb::handle header : headers)
    source.add_header(nb::cast<std::string>(header[0]), nb::cast<std::string>(header[1]));
  CompileOptions options{.flags = all_flags, .instances = instances, .cached = cached};
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

/// A kernel that was looked up, and the device that it is for.
struct KernelHandle {
  AnyKernel kernel;
  Device device;
};

void launch(const KernelHandle& self, nb::handle blocks, nb::handle threads, std::uint32_t shared_bytes,
            nb::handle cluster, bool fills_device, bool cooperative, nb::handle list) {
  const Grid grid{.blocks = extents_from(blocks),
                  .threads = extents_from(threads),
                  .shared_bytes = shared_bytes,
                  .fills_device = fills_device,
                  .cooperative = cooperative,
                  .cluster = extents_from(cluster)};
  const KernelArguments arguments = arguments_from(list);
  submit(self.device, [&] { return self.device.jit().launch(self.kernel, grid, arguments); });
}

nb::list names_in(const std::vector<std::string>& names) {
  nb::list all;
  for (const std::string& name : names) all.append(nb::str(name.data(), name.size()));
  return all;
}

}  // namespace

void bind_jit(nb::module_& module) {
  nb::class_<ProgramHandle>(module, "ProgramHandle")
      .def_prop_ro("log", [](const ProgramHandle& self) { return self.program.log(); })
      .def_prop_ro("size_bytes", [](const ProgramHandle& self) { return self.program.size_bytes(); })
      .def_prop_ro("device_handle", [](const ProgramHandle& self) { return self.device; })
      .def_prop_ro("kernels", [](const ProgramHandle& self) { return names_in(self.program.kernels()); })
      .def_prop_ro("variables", [](const ProgramHandle& self) { return names_in(self.program.variables()); })
      .def_prop_ro("image",
                   [](const ProgramHandle& self) {
                     const std::span<const std::byte> image = self.program.image();
                     return nb::bytes(image.data(), image.size());
                   })
      .def("kernel",
           [](const ProgramHandle& self, const std::string& name) {
             return KernelHandle{checked(self.program.kernel(name)), self.device};
           })
      .def("set",
           [](const ProgramHandle& self, const std::string& name, nb::handle array) {
             submit(self.device, [&] { return self.device.jit().set(self.program, name, handle_of(array).array); });
           })
      .def("get", [](const ProgramHandle& self, const std::string& name, nb::handle array) {
        submit(self.device, [&] { return self.device.jit().get(self.program, name, handle_of(array).array); });
      });
  nb::class_<KernelHandle>(module, "KernelHandle").def("launch", &launch);
  module.def("compile", &compile);
  module.def("load_program", [](const Device& device, const nb::bytes& image) {
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(image.data()), image.size());
    return ProgramHandle{checked(device.jit().load(bytes)), device};
  });
}

}  // namespace troupe::python

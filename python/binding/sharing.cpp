// A GPU's memory in this process, for libraries that have a CUDA context here.
#include "handle.hpp"
#include "troupe/device/block.hpp"

namespace troupe::python {
namespace {

/// The context of this process on a GPU.
struct Sharing {
  std::shared_ptr<detail::GpuSharing> gpu;
};

Lent lend(const Sharing& self, const Handle& array) { return {checked(self.gpu->lend(array.array))}; }

/// What is written here is written as if by an op: the array is whole then.
void copy_into(const Sharing& self, const Lent& to, std::uintptr_t from, std::uint64_t size_bytes) {
  const AnyArray& array = to.lease->array();
  check(self.gpu->copy_into(*to.lease, from, size_bytes));
  array.block()->rewritten(array.range());
}

}  // namespace

void bind_sharing(nb::module_& module) {
  nb::class_<Lent>(module, "Lent")
      .def_prop_ro("address", [](const Lent& self) { return self.lease->address(); })
      .def_prop_ro("is_read_only", [](const Lent& self) { return self.lease->is_read_only(); });
  nb::class_<Sharing>(module, "Sharing")
      .def("__init__",
           [](Sharing* self, const std::string& uuid) { new (self) Sharing{checked(detail::GpuSharing::open(uuid))}; })
      .def_prop_ro("ordinal", [](const Sharing& self) { return self.gpu->ordinal(); })
      .def("lend", &lend)
      .def("copy_into", &copy_into)
      .def("can_be_written",
           [](const Sharing& self, const Handle& array) { return self.gpu->can_be_written(array.array); });
  module.def("keep_lent", [](Handle& array, const Lent& lent) { array.lease = lent.lease; });
}

}  // namespace troupe::python

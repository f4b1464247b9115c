// `troupe._core`: the C++ side of the Python package. Python's side (python/troupe) gives it its classes when it is
// imported, and is the only user of these names.
#include "handle.hpp"
#include "troupe/op/table.hpp"

namespace troupe::python {
namespace {

void register_classes(nb::object array_type, nb::object convert, nb::dict exceptions) {
  Registry& all = registry();
  all.array_type = std::move(array_type);
  all.convert = std::move(convert);
  for (int i = 0; i < kErrorKinds; ++i) {
    const std::string_view kind = name(static_cast<ErrorKind>(i));
    all.exception_classes[static_cast<std::size_t>(i)] = exceptions[nb::str(kind.data(), kind.size())];
  }
}

nb::list kinds_of_errors() {
  nb::list all;
  for (int i = 0; i < kErrorKinds; ++i) {
    const std::string_view kind = name(static_cast<ErrorKind>(i));
    all.append(nb::str(kind.data(), kind.size()));
  }
  return all;
}

nb::list element_types() {
  nb::list all;
  for (int i = 0; i < kDTypes; ++i) {
    const std::string_view word = name(static_cast<DType>(i));
    all.append(nb::str(word.data(), word.size()));
  }
  return all;
}

nb::list names_of_ops() {
  nb::list all;
  for (const op::FamilyOps* const family : op::families())
    for (const op::OpInfo& info : family->ops) all.append(nb::str(info.name.data(), info.name.size()));
  return all;
}

}  // namespace
}  // namespace troupe::python

NB_MODULE(_core, module) {
  using namespace troupe::python;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nanobind::import_error(
        "troupe: its workers belong to the whole process, so it is imported by the main "
        "interpreter, and not by a sub-interpreter");
  nanobind::set_leak_warnings(false);  // objects that are alive at the interpreter's end are ended by the system's
  module.def("register_classes", &register_classes);
  module.def("kinds_of_errors", &kinds_of_errors);
  module.def("element_types", &element_types);
  module.def("names_of_ops", &names_of_ops);
  bind_system(module);
  bind_arrays(module);
  bind_indexing(module);
  bind_elementwise(module);
  bind_products(module);
  bind_families(module);
  bind_primitives(module);
  bind_dnn(module);
  bind_training(module);
  bind_recurrent(module);
  bind_random(module);
  bind_sparse(module);
  bind_dlpack(module);
  bind_sharing(module);
  bind_calls(module);
  bind_jit(module);
  bind_expressions(module);
  bind_iterative(module);
  bind_numbers(module);
}

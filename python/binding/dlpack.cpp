// DLPack both ways for memory that the app sees. What is handed out keeps the memory alive, needs no interpreter, and
// may be given back in any thread, also after the interpreter's end.
#include "dlpack.hpp"

#include "handle.hpp"

namespace troupe::python {
namespace {

/// What an element type is called there; `bits` 0: it has no name.
constexpr std::array<dlpack::TypeName, kDTypes> kTypeNames{{{2, 64, 1},
                                                            {2, 32, 1},
                                                            {2, 16, 1},
                                                            {4, 16, 1},
                                                            {10, 8, 1},
                                                            {12, 8, 1},
                                                            {0, 8, 1},
                                                            {1, 8, 1},
                                                            {0, 16, 1},
                                                            {0, 32, 1},
                                                            {1, 32, 1},
                                                            {0, 64, 1},
                                                            {1, 64, 1},
                                                            {6, 8, 1},
                                                            {5, 64, 1},
                                                            {5, 128, 1},
                                                            {1, 16, 1}}};

/// An array that somebody else uses.
template <class Managed>
struct Export {
  AnyArray array;
  std::shared_ptr<detail::GpuLease> lease;  // of memory that a context of this process sees; else null
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> strides{};
  Managed managed{};

  static void give_back(Managed* managed) { delete static_cast<Export*>(managed->owner); }
};

/// Where the array goes: to the CPU, or with its lease to the GPU of that number.
struct Destination {
  void* data = nullptr;
  dlpack::DeviceName device{dlpack::kCpu, 0};
  std::shared_ptr<detail::GpuLease> lease = nullptr;
};

template <class Managed>
Managed* exported(const AnyArray& array, const Destination& to) {
  auto* const made = new Export<Managed>{.array = array, .lease = to.lease};
  std::ranges::copy(array.shape(), made->shape.begin());
  std::ranges::copy(array.strides(), made->strides.begin());
  made->managed.owner = made;
  made->managed.deleter = &Export<Managed>::give_back;
  made->managed.tensor = {.data = to.data,
                          .device = to.device,
                          .rank = array.rank(),
                          .dtype = kTypeNames[static_cast<std::size_t>(array.dtype())],
                          .shape = made->shape.data(),
                          .strides = made->strides.data(),
                          .byte_offset = 0};
  return &made->managed;
}

/// A capsule that nobody has taken gives its array back.
template <class Managed>
nb::object capsule_of(Managed* managed, const char* capsule_name) {
  const auto drop = [](PyObject* capsule) {
    const char* const now = PyCapsule_GetName(capsule);
    for (const char* const unused : {dlpack::kName, dlpack::kVersionedName}) {
      if (std::string_view(now) != unused) continue;
      auto* const kept = static_cast<Managed*>(PyCapsule_GetPointer(capsule, unused));
      kept->deleter(kept);
      return;
    }
  };
  PyObject* const capsule = PyCapsule_New(managed, capsule_name, drop);
  if (capsule == nullptr) {
    managed->deleter(managed);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

nb::object capsule_for(const AnyArray& array, const Destination& to, bool has_version, bool is_copied,
                       bool is_read_only) {
  if (!has_version) return capsule_of(exported<dlpack::Managed>(array, to), dlpack::kName);
  dlpack::ManagedVersioned* const managed = exported<dlpack::ManagedVersioned>(array, to);
  managed->version = dlpack::kVersion;
  managed->flags = (is_copied ? dlpack::kIsCopied : 0) | (is_read_only ? dlpack::kReadOnly : 0);
  return capsule_of(managed, dlpack::kVersionedName);
}

nb::object to_capsule(const Handle& self, bool has_version, bool is_copied, bool is_read_only) {
  if (self.array.element_count() > 0 && address_of(self.array) == nullptr)
    throw nb::buffer_error("the app does not see this array's memory");
  return capsule_for(self.array, {.data = address_of(self.array)}, has_version, is_copied, is_read_only);
}

nb::object to_gpu_capsule(const Lent& lent, int ordinal, bool has_version, bool is_copied, bool is_read_only) {
  const Destination to{
      .data = reinterpret_cast<void*>(lent.lease->address()), .device = {dlpack::kCuda, ordinal}, .lease = lent.lease};
  return capsule_for(lent.lease->array(), to, has_version, is_copied, is_read_only);
}

/// An array as NumPy alone takes it: nothing is asked and nothing is waited for.
struct Shown {
  AnyArray array;
  bool is_read_only = false;
};

/// None where the app does not see the memory, and for arrays without elements, which have none.
nb::object shown(const Handle& self) {
  if (address_of(self.array) == nullptr || self.array.element_count() == 0) return nb::none();
  bool repeats = false;
  for (int i = 0; i < self.array.rank(); ++i) repeats |= self.array.strides()[i] == 0 && self.array.shape()[i] > 1;
  return nb::cast(Shown{self.array, repeats});
}

nb::object capsule_of_shown(const Shown& self, const nb::kwargs&) {
  return capsule_for(self.array, {.data = address_of(self.array)}, true, false, self.is_read_only);
}

/// An array of somebody else's, until it is given back.
class Import {
 public:
  explicit Import(nb::handle capsule) {
    PyObject* const object = capsule.ptr();
    if (PyCapsule_IsValid(object, dlpack::kVersionedName)) {
      versioned_ = static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(object, dlpack::kVersionedName));
      if (versioned_->version.major != dlpack::kVersion.major) {
        versioned_ = nullptr;
        throw nb::buffer_error("the array comes by another version of DLPack; this is version 1");
      }
      tensor_ = &versioned_->tensor;
      PyCapsule_SetName(object, dlpack::kUsedVersionedName);
    } else if (PyCapsule_IsValid(object, dlpack::kName)) {
      older_ = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(object, dlpack::kName));
      tensor_ = &older_->tensor;
      PyCapsule_SetName(object, dlpack::kUsedName);
    } else {
      throw nb::type_error("from_dlpack needs a capsule that nobody has taken; each can be taken once");
    }
  }
  Import(Import&& other) noexcept
      : versioned_(std::exchange(other.versioned_, nullptr)),
        older_(std::exchange(other.older_, nullptr)),
        tensor_(other.tensor_) {}
  Import& operator=(Import&&) = delete;
  ~Import() {
    if (versioned_ && versioned_->deleter) versioned_->deleter(versioned_);
    if (older_ && older_->deleter) older_->deleter(older_);
  }

  nb::tuple device() const { return nb::make_tuple(tensor_->device.type, tensor_->device.id); }
  bool is_read_only() const noexcept { return versioned_ && (versioned_->flags & dlpack::kReadOnly) != 0; }
  std::uintptr_t address() const noexcept {
    return reinterpret_cast<std::uintptr_t>(tensor_->data) + static_cast<std::uintptr_t>(tensor_->byte_offset);
  }
  /// -1 for a type that Troupe has not.
  int dtype() const noexcept {
    const dlpack::TypeName given = tensor_->dtype;
    for (int i = 0; i < kDTypes; ++i) {
      const dlpack::TypeName ours = kTypeNames[static_cast<std::size_t>(i)];
      if (ours.code == given.code && ours.bits == given.bits && given.lanes == 1) return i;
    }
    return -1;
  }
  nb::tuple shape() const { return tuple_of({tensor_->shape, static_cast<std::size_t>(tensor_->rank)}); }
  /// None for a row-major array, which may say nothing of its strides.
  nb::object strides() const {
    if (tensor_->strides == nullptr) return nb::none();
    return tuple_of({tensor_->strides, static_cast<std::size_t>(tensor_->rank)});
  }

 private:
  dlpack::ManagedVersioned* versioned_ = nullptr;
  dlpack::Managed* older_ = nullptr;
  const dlpack::Tensor* tensor_ = nullptr;
};

}  // namespace

void bind_dlpack(nb::module_& module) {
  module.def("to_capsule", &to_capsule);
  module.def("to_gpu_capsule", &to_gpu_capsule);
  nb::class_<Shown>(module, "Shown").def("__dlpack__", &capsule_of_shown).def("__dlpack_device__", [](const Shown&) {
    return nb::make_tuple(dlpack::kCpu, 0);
  });
  module.def("shown", &shown);
  nb::class_<Import>(module, "Import")
      .def(nb::init<nb::handle>())
      .def_prop_ro("device", &Import::device)
      .def_prop_ro("is_read_only", &Import::is_read_only)
      .def_prop_ro("address", &Import::address)
      .def_prop_ro("dtype_number", &Import::dtype)
      .def_prop_ro("shape", &Import::shape)
      .def_prop_ro("element_strides", &Import::strides);
}

}  // namespace troupe::python

// The structs of DLPack, by which libraries exchange arrays without a copy, as its standard lays them out (version 1.0,
// and the older form without a version).
#pragma once

#include <cstdint>

namespace troupe::python::dlpack {

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
struct DeviceName {
  std::int32_t type;
  std::int32_t id;
};
struct TypeName {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  DeviceName device;
  std::int32_t rank;
  TypeName dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
/// The older form.
struct Managed {
  Tensor tensor;
  void* owner;
  void (*deleter)(Managed*);
};
struct ManagedVersioned {
  Version version;
  void* owner;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};
static_assert(sizeof(Tensor) == 48 && sizeof(Managed) == 64 && sizeof(ManagedVersioned) == 80);

inline constexpr Version kVersion{1, 0};
inline constexpr std::uint64_t kReadOnly = 1;
inline constexpr std::uint64_t kIsCopied = 2;
inline constexpr std::int32_t kCpu = 1;
inline constexpr std::int32_t kCuda = 2;

inline constexpr const char* kName = "dltensor";
inline constexpr const char* kUsedName = "used_dltensor";
inline constexpr const char* kVersionedName = "dltensor_versioned";
inline constexpr const char* kUsedVersionedName = "used_dltensor_versioned";

}  // namespace troupe::python::dlpack

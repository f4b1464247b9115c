// The kernels of the op families by name: an enum for each .cu file, in a header beside it, with the names as in the
// file, but without the "troupe_" before them and the types after them. They are spelled nowhere else on the host's
// side, a wrong name does not compile, and a kernel with its types is a small number: the index of its slot in a
// KernelTable.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "troupe/core/assert.hpp"
#include "troupe/core/shape.hpp"

namespace troupe::cuda {

/// A .cu file without its ending, and its kernels as they are written here: "scale, rotate".
struct KernelFile {
  std::string_view image;
  std::string_view kernels;
};

/// In the header beside the .cu file: TROUPE_KERNELS(BlasKernel, blas_kernels, scale, rotate).
#define TROUPE_KERNELS(Names, image, ...)          \
  enum class Names : std::uint8_t { __VA_ARGS__ }; \
  consteval KernelFile file_of(Names) { return {#image, #__VA_ARGS__}; }

template <class Names>
concept KernelNames = requires { file_of(Names{}); };

template <KernelNames Names>
inline constexpr std::size_t kKernelsIn =
    static_cast<std::size_t>(std::ranges::count(file_of(Names{}).kernels, ',')) + 1;

/// "scale".
template <KernelNames Names>
constexpr std::string_view spelling(Names kernel) noexcept {
  std::string_view rest = file_of(Names{}).kernels;
  for (auto i = static_cast<int>(kernel); i > 0; --i) rest.remove_prefix(rest.find(", ") + 2);
  return rest.substr(0, rest.find(','));
}

/// The types that a kernel is for, with which its name ends: an element's, that and an index's, the size of an element,
/// or none.
class KernelTypes {
 public:
  constexpr KernelTypes() = default;
  constexpr KernelTypes(DType dtype) noexcept  // NOLINT(google-explicit-constructor): most kernels are for one type
      : first_(static_cast<std::uint8_t>(1 + static_cast<int>(dtype))) {}
  /// Indices are i32 or i64.
  constexpr KernelTypes(DType dtype, DType index_type) noexcept : KernelTypes(dtype) {
    TROUPE_ASSERT(index_type == DType::i32 || index_type == DType::i64, "checked with the op");
    second_ = index_type == DType::i32 ? 1 : 2;
  }
  /// For all types with elements of 1, 2, 4, 8 or 16 bytes.
  static constexpr KernelTypes of_size(std::int64_t size_bytes) noexcept {
    KernelTypes types;
    types.first_ = static_cast<std::uint8_t>(kFirstSize + std::countr_zero(static_cast<std::uint64_t>(size_bytes)));
    return types;
  }

  static constexpr std::size_t kCount = std::size_t{1 + kDTypes + 5} * 3;
  /// Less than `kCount`, and different for different types.
  constexpr std::size_t index() const noexcept { return std::size_t{first_} * 3 + second_; }
  /// "", "_f32", "_f32_i64" or "_16".
  std::string text() const;

 private:
  static constexpr int kFirstSize = 1 + kDTypes;

  std::uint8_t first_ = 0;   // nothing, then the types, then the sizes
  std::uint8_t second_ = 0;  // nothing, i32, i64
};

}  // namespace troupe::cuda

// Our types, factors and addresses in the form that all of CUDA's libraries take, so that each conversion is written
// once.
#pragma once

#include <cuComplex.h>
#include <cuda.h>
#include <library_types.h>

#include <array>
#include <complex>
#include <cstring>

#include "troupe/core/shape.hpp"
#include "troupe/op/view.hpp"

namespace troupe::cuda {

constexpr cudaDataType_t data_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64: return CUDA_R_64F;
    case DType::f32: return CUDA_R_32F;
    case DType::f16: return CUDA_R_16F;
    case DType::bf16: return CUDA_R_16BF;
    case DType::f8e4m3: return CUDA_R_8F_E4M3;
    case DType::f8e5m2: return CUDA_R_8F_E5M2;
    case DType::i8: return CUDA_R_8I;
    case DType::u8: return CUDA_R_8U;
    case DType::i16: return CUDA_R_16I;
    case DType::u16: return CUDA_R_16U;
    case DType::i32: return CUDA_R_32I;
    case DType::u32: return CUDA_R_32U;
    case DType::i64: return CUDA_R_64I;
    case DType::u64: return CUDA_R_64U;
    case DType::c64: return CUDA_C_32F;
    case DType::c128: return CUDA_C_64F;
    case DType::boolean: return CUDA_R_8U;
  }
  return CUDA_R_8U;
}

/// The C type: CUDA's complex numbers are its own.
template <class T>
struct CudaTypeOf {
  using type = T;
};
template <>
struct CudaTypeOf<std::complex<float>> {
  using type = cuComplex;
};
template <>
struct CudaTypeOf<std::complex<double>> {
  using type = cuDoubleComplex;
};
template <class T>
using CudaType = typename CudaTypeOf<T>::type;

inline void* pointer(CUdeviceptr address) noexcept { return reinterpret_cast<void*>(address); }

/// A factor on the host, of the type that is computed in: that of the elements, f32 for small floats, i32 for i8.
class alignas(16) LibraryFactor {
 public:
  LibraryFactor(const op::Scalar& scalar, DType dtype) noexcept {
    switch (dtype) {
      case DType::f64: take(scalar.as<double>()); break;
      case DType::c64: take(scalar.as<std::complex<float>>()); break;
      case DType::c128: take(scalar.as<std::complex<double>>()); break;
      case DType::i8: take(scalar.as<std::int32_t>()); break;
      default: take(scalar.as<float>()); break;
    }
  }
  const void* data() const noexcept { return bytes_.data(); }

 private:
  void take(auto number) noexcept { std::memcpy(bytes_.data(), &number, sizeof number); }
  std::array<std::byte, 16> bytes_{};
};

}  // namespace troupe::cuda

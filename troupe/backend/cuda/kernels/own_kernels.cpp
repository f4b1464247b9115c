#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/kernels/own_kernels.hpp"

#include <string>

#include "troupe/backend/cuda/kernels/kernel_image.hpp"

namespace troupe::cuda {

namespace {

Result<std::unique_ptr<OwnKernels>> find_all(const Driver& driver, CUmodule module) {
  const auto find = [&](CUfunction& function, const std::string& name) {
    return TROUPE_CUDA(driver, cuModuleGetFunction, &function, module, ("troupe_" + name).c_str());
  };
  auto kernels = std::make_unique<OwnKernels>();
  for (const int size : {1, 2, 4, 8, 16}) {
    const std::size_t place = OwnKernels::by_size(size);
    TROUPE_TRY(find(kernels->fill_by_size[place], "fill_" + std::to_string(size)));
  }
  for (std::size_t i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string type(name(dtype));
    if (dtype != DType::boolean) TROUPE_TRY(find(kernels->axpy_of[i], "axpy_" + type));
    if (is_floating(dtype) || is_complex(dtype)) TROUPE_TRY(find(kernels->gemm_of[i], "gemm_" + type));
  }
  return kernels;
}

}  // namespace

Result<std::unique_ptr<OwnKernels>> OwnKernels::load(const CudaContext& context) {
  const Driver& driver = context.driver();
  CUmodule module = nullptr;  // for as long as the context lives
  TROUPE_TRY(TROUPE_CUDA(driver, cuModuleLoadData, &module, kernel_image("kernels").data()));
  Result<std::unique_ptr<OwnKernels>> kernels = find_all(driver, module);
  if (!kernels) (void)TROUPE_CUDA(driver, cuModuleUnload, module);  // the next op tries again
  return kernels;
}

}  // namespace troupe::cuda

#endif

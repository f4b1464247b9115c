#include "troupe/backend/cuda/known_libraries.hpp"

#include <string>

#include "troupe/backend/cuda/blas/cublas_library.hpp"
#include "troupe/backend/cuda/dnn/cudnn_library.hpp"
#include "troupe/backend/cuda/driver/driver_library.hpp"
#include "troupe/backend/cuda/fft/cufft_library.hpp"
#include "troupe/backend/cuda/jit/nvrtc_library.hpp"
#include "troupe/backend/cuda/matmul/cublas_lt_library.hpp"
#include "troupe/backend/cuda/solver/cusolver_library.hpp"
#include "troupe/backend/cuda/sparse/cusparse_library.hpp"
#include "troupe/backend/cuda/tensor/cutensor_library.hpp"

namespace troupe::cuda {
namespace {

// No op uses these yet.
constexpr VendorDeclaration kCurand{.name = "cuRAND",
                                    .files = {"libcurand.so.10"},
                                    .versions = {.oldest = {10, 0}, .newest_major = 10},
                                    .version_symbol = "curandGetProperty",
                                    .read_version = version_by_property,
                                    .install = "the CUDA toolkit"};
constexpr VendorDeclaration kNccl{.name = "NCCL",
                                  .files = {"libnccl.so.2"},
                                  .versions = {.oldest = {2, 0}, .newest_major = 2},
                                  .version_symbol = "ncclGetVersion",
                                  .read_version = version_by_written_number,
                                  .install = "NCCL (libnccl2)"};

constexpr std::array kKnown{&kCublas,   &kCublasLt, &kCudnn,    &kCufft, &kCurand,
                            &kCusolver, &kCusparse, &kCutensor, &kNvrtc, &kNccl};

wire::FoundLibrary find(const VendorDeclaration& declaration, const SearchPaths& paths) {
  wire::FoundLibrary found{.name = std::string(declaration.name),
                           .version = {},
                           .path = {},
                           .problem = {},
                           .source = std::string(declaration.install)};
  const Result<OpenLibrary> opened = open(declaration, paths);
  if (!opened) {
    if (!opened.error().origin().library.empty()) found.problem = opened.error().message();
    return found;
  }
  found.path = opened->library.file();
  if (opened->version) found.version = opened->version->to_string();
  return found;
}

}  // namespace

wire::FoundLibrary find_driver(const SearchPaths& paths) { return find(kDriver, paths); }

void find_libraries(const std::function<void(std::string_view name)>& looking,
                    const std::function<void(const wire::FoundLibrary&)>& found, const SearchPaths& paths) {
  for (const VendorDeclaration* const declaration : kKnown) {
    looking(declaration->name);
    found(find(*declaration, paths));
  }
}

}  // namespace troupe::cuda

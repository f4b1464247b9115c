#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/driver/driver.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "troupe/backend/cuda/driver/driver_library.hpp"

namespace troupe::cuda {
namespace {

/// The version whose functions cuda.h declares under their plain names. From 13.0 on the driver gives other functions
/// for two of these (cuCtxSynchronize and cuCtxGetDevice, which then take a context), but the header does not.
constexpr int kDeclaredVersion = std::min(CUDA_VERSION, 12080);
static_assert(std::is_same_v<decltype(&::cuCtxSynchronize), CUresult (*)()>);

}  // namespace

Result<const Driver*> Driver::load() {
  static const Result<const Driver*> kOpened = open();  // there is one driver, and it is never closed
  return kOpened;
}

Result<const Driver*> Driver::open() {
  const Result<OpenLibrary> opened = cuda::open(kDriver);
  if (!opened && opened.error().origin().library.empty())
    return fail(ErrorKind::unsupported,
                "the NVIDIA driver (libcuda.so.1) was not found: install it, or use the host device");
  if (!opened) return fail(opened.error());
  auto* const get =
      opened->library.find_function<CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*)>(
          "cuGetProcAddress_v2");
  if (!get) return fail(ErrorKind::unsupported, "the NVIDIA driver is older than 12.0: install a newer one");
  static Driver driver;
  std::string missing;
#define TROUPE_DRIVER_FUNCTION(function)                                                                       \
  if (void* found = nullptr;                                                                                   \
      get(#function, &found, kDeclaredVersion, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) == CUDA_SUCCESS && found) \
    driver.table_.function = reinterpret_cast<decltype(driver.table_.function)>(found);                        \
  else                                                                                                         \
    missing += (missing.empty() ? "" : ", ") + std::string(#function);
  TROUPE_DRIVER_FUNCTIONS(TROUPE_DRIVER_FUNCTION)
#undef TROUPE_DRIVER_FUNCTION
  if (!missing.empty())
    return fail(ErrorKind::unsupported,
                "the NVIDIA driver is older than the CUDA version this worker was built with; it lacks " + missing);
  TROUPE_TRY(TROUPE_CUDA(driver, cuInit, 0));
  TROUPE_TRY(TROUPE_CUDA(driver, cuDriverGetVersion, &driver.version_));
  return &driver;
}

}  // namespace troupe::cuda

#endif

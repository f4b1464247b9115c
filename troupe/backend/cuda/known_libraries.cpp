#include "troupe/backend/cuda/known_libraries.hpp"

#include <string>

namespace troupe::cuda {
namespace {

template <class Function>
Function* as(void* symbol) noexcept {
  return reinterpret_cast<Function*>(symbol);
}

// How a library tells its version. Each reader takes the function's address and gives the text, empty when the library
// refuses; the functions' types are those of the headers, enums and status codes being ints to a caller.

/// libraryPropertyType 0, 1, 2: major, minor, patch.
std::string by_property(void* symbol) {
  std::string text;
  for (int which = 0; which < 3; ++which) {
    int value = 0;
    if (as<int(int, int*)>(symbol)(which, &value) != 0) return {};
    text += (which == 0 ? "" : ".") + std::to_string(value);
  }
  return text;
}

/// 91300 is 9.13.0; cuDNN before 9 and NCCL before 2.9 wrote 8902 for 8.9.2.
std::string in_parts(std::size_t number) {
  const std::size_t major_unit = number < 10000 ? 1000 : 10000;
  return std::to_string(number / major_unit) + "." + std::to_string(number % major_unit / 100) + "." +
         std::to_string(number % 100);
}
std::string by_number(void* symbol) { return in_parts(as<std::size_t()>(symbol)()); }
std::string by_written_number(void* symbol) {
  int number = 0;
  return as<int(int*)>(symbol)(&number) == 0 ? in_parts(static_cast<std::size_t>(number)) : "";
}

std::string by_major_and_minor(void* symbol) {
  int major = 0;
  int minor = 0;
  if (as<int(int*, int*)>(symbol)(&major, &minor) != 0) return {};
  return std::to_string(major) + "." + std::to_string(minor);
}

/// The driver's own way: 13000 is 13.0, the newest CUDA that it can do.
std::string by_cuda_version(void* symbol) {
  int number = 0;
  if (as<int(int*)>(symbol)(&number) != 0) return {};
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

struct KnownLibrary {
  const char* name;
  std::vector<std::string_view> files;  // newest first
  std::string (*read_version)(void* symbol);
  const char* version_symbol;
  const char* source;
};

const std::vector<KnownLibrary>& known_libraries() {
  static const std::vector<KnownLibrary> kLibraries = {
      {"cuBLAS", {"libcublas.so.13", "libcublas.so.12"}, by_property, "cublasGetProperty", "the CUDA toolkit"},
      {"cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, by_number, "cublasLtGetVersion", "the CUDA toolkit"},
      {"cuDNN", {"libcudnn.so.9", "libcudnn.so.8"}, by_number, "cudnnGetVersion", "cuDNN (cudnn9 for your CUDA)"},
      {"cuFFT", {"libcufft.so.12", "libcufft.so.11"}, by_property, "cufftGetProperty", "the CUDA toolkit"},
      {"cuRAND", {"libcurand.so.10"}, by_property, "curandGetProperty", "the CUDA toolkit"},
      {"cuSOLVER", {"libcusolver.so.12", "libcusolver.so.11"}, by_property, "cusolverGetProperty", "the CUDA toolkit"},
      {"cuSPARSE", {"libcusparse.so.12"}, by_property, "cusparseGetProperty", "the CUDA toolkit"},
      {"cuTENSOR", {"libcutensor.so.2"}, by_number, "cutensorGetVersion", "cuTENSOR (libcutensor2)"},
      {"NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12"}, by_major_and_minor, "nvrtcVersion", "the CUDA toolkit"},
      {"NCCL", {"libnccl.so.2"}, by_written_number, "ncclGetVersion", "NCCL (libnccl2)"},
  };
  return kLibraries;
}

backend::FoundLibrary find(const KnownLibrary& known, const Places& places) {
  backend::FoundLibrary found{.name = known.name, .version = {}, .path = {}, .problem = {}, .source = known.source};
  const Result<Library> library = Library::open(known.files, places);
  if (!library) {
    if (!library.error().origin().library.empty()) found.problem = library.error().message();
    return found;
  }
  found.path = library->file();
  if (void* symbol = library->find(known.version_symbol)) found.version = known.read_version(symbol);
  return found;
}

}  // namespace

backend::FoundLibrary find_driver(const Places& places) {
  return find({"driver", {"libcuda.so.1"}, by_cuda_version, "cuDriverGetVersion", "the NVIDIA driver"}, places);
}

void find_libraries(const std::function<void(std::string_view name)>& looking,
                    const std::function<void(const backend::FoundLibrary&)>& found, const Places& places) {
  for (const KnownLibrary& known : known_libraries()) {
    looking(known.name);
    found(find(known, places));
  }
}

}  // namespace troupe::cuda

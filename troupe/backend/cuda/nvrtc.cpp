#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/nvrtc.hpp"

#include <nvrtc.h>

#include <filesystem>
#include <sstream>

#include "troupe/backend/cuda/library.hpp"

namespace troupe::cuda {
namespace {

#define TROUPE_NVRTC_FUNCTIONS(each)                                                                        \
  each(nvrtcCreateProgram) each(nvrtcDestroyProgram) each(nvrtcCompileProgram) each(nvrtcGetProgramLogSize) \
      each(nvrtcGetProgramLog) each(nvrtcGetCUBINSize) each(nvrtcGetCUBIN) each(nvrtcGetErrorString)

struct Table {
#define TROUPE_NVRTC_FUNCTION(function) decltype(&::function) function = nullptr;
  TROUPE_NVRTC_FUNCTIONS(TROUPE_NVRTC_FUNCTION)
#undef TROUPE_NVRTC_FUNCTION
  std::string headers;  // those of the toolkit it came with, if they are there
};

Result<Table> open_table() {
  const Result<Library> library = Library::open({"libnvrtc.so.13", "libnvrtc.so.12"});
  if (!library)
    return fail(ErrorKind::unsupported,
                "NVRTC, the compiler for kernels, was not found: install the CUDA toolkit, or "
                "the Python package nvidia-cuda-nvrtc; " +
                    std::string(library.error().message()));
  Table table;
  std::string missing;
#define TROUPE_NVRTC_FUNCTION(function)                                     \
  table.function = library->find_function<decltype(::function)>(#function); \
  if (!table.function) missing = #function;
  TROUPE_NVRTC_FUNCTIONS(TROUPE_NVRTC_FUNCTION)
#undef TROUPE_NVRTC_FUNCTION
  if (!missing.empty()) return fail(ErrorKind::unsupported, library->path() + " has no " + missing);
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::canonical(library->path(), error).parent_path();
  for (const fs::path& beside :
       {folder / ".." / "include", folder / ".." / ".." / ".." / "include", fs::path("/usr/local/cuda/include")})
    if (table.headers.empty() && fs::exists(beside / "cuda_fp16.h", error)) table.headers = beside.string();
  return table;
}

/// One program of NVRTC's, destroyed in the end.
class Compilation {
 public:
  Compilation(const Table& table, const std::string& source) : table_(table) {
    created_ = table_.nvrtcCreateProgram(&program_, source.c_str(), "kernels.cu", 0, nullptr, nullptr);
  }
  ~Compilation() {
    if (program_) (void)table_.nvrtcDestroyProgram(&program_);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  nvrtcResult run(const std::vector<std::string>& flags) {
    if (created_ != NVRTC_SUCCESS) return created_;
    std::vector<const char*> texts;
    for (const std::string& flag : flags) texts.push_back(flag.c_str());
    return table_.nvrtcCompileProgram(program_, static_cast<int>(texts.size()), texts.data());
  }
  std::string log() const { return text(table_.nvrtcGetProgramLogSize, table_.nvrtcGetProgramLog); }
  std::string image() const { return text(table_.nvrtcGetCUBINSize, table_.nvrtcGetCUBIN); }

 private:
  template <class Size, class Get>
  std::string text(Size size_of, Get get) const {
    std::size_t size = 0;
    if (!program_ || size_of(program_, &size) != NVRTC_SUCCESS) return {};
    std::string text(size, '\0');
    if (get(program_, text.data()) != NVRTC_SUCCESS) return {};
    return text;
  }
  const Table& table_;
  nvrtcProgram program_ = nullptr;
  nvrtcResult created_ = NVRTC_SUCCESS;
};

std::string without_final_null(std::string log) {
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

}  // namespace

Result<CompiledCode> compile(const std::string& source, std::string_view flags, int capability) {
  const Table table = TROUPE_TRY(open_table());
  std::vector<std::string> all{"--gpu-architecture=sm_" + std::to_string(capability)};
  if (!table.headers.empty()) all.push_back("--include-path=" + table.headers);
  std::istringstream words{std::string(flags)};
  for (std::string word; words >> word;) all.push_back(word);

  Compilation compilation(table, source);
  const nvrtcResult result = compilation.run(all);
  std::string log = without_final_null(compilation.log());
  if (result != NVRTC_SUCCESS)
    return fail(Error(result == NVRTC_ERROR_OUT_OF_MEMORY ? ErrorKind::out_of_memory : ErrorKind::invalid_argument,
                      "the kernels do not compile: " + std::string(table.nvrtcGetErrorString(result)) +
                          (log.empty() ? "" : "\n" + log),
                      ErrorOrigin{.library = "nvrtc", .native_code = static_cast<int>(result)}));
  return CompiledCode{compilation.image(), std::move(log)};
}

}  // namespace troupe::cuda

#endif

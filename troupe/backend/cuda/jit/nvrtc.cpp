#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/jit/nvrtc.hpp"

#include <filesystem>
#include <sstream>

#include "troupe/backend/cuda/jit/nvrtc_library.hpp"

namespace troupe::cuda {
namespace {

/// The headers of the toolkit that NVRTC came with; empty when they are not there.
std::string headers_beside(const std::string& library) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::path(library).parent_path();
  for (const fs::path& beside :
       {folder / ".." / "include", folder / ".." / ".." / ".." / "include", fs::path("/usr/local/cuda/include")})
    if (fs::exists(beside / "cuda_fp16.h", error)) return beside.string();
  return {};
}

/// One program of NVRTC's, destroyed in the end.
class Compilation {
 public:
  Compilation(const NvrtcTable& table, const std::string& source, std::span<const SourceHeader> headers)
      : table_(table) {
    std::vector<const char*> names, texts;
    for (const SourceHeader& header : headers) {
      names.push_back(header.name);
      texts.push_back(header.text);
    }
    created_ = table_.nvrtcCreateProgram.status(&program_, source.c_str(), "kernels.cu",
                                                static_cast<int>(headers.size()), texts.data(), names.data());
  }
  ~Compilation() {
    if (program_) (void)table_.nvrtcDestroyProgram(&program_);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  nvrtcResult run(const std::vector<std::string>& flags, std::span<const std::string> instances) {
    if (created_ != NVRTC_SUCCESS) return created_;
    for (const std::string& instance : instances) {
      const nvrtcResult added = table_.nvrtcAddNameExpression.status(program_, instance.c_str());
      if (added != NVRTC_SUCCESS) return added;
    }
    std::vector<const char*> texts;
    for (const std::string& flag : flags) texts.push_back(flag.c_str());
    return table_.nvrtcCompileProgram.status(program_, static_cast<int>(texts.size()), texts.data());
  }
  std::string log() const { return text(table_.nvrtcGetProgramLogSize, table_.nvrtcGetProgramLog); }
  /// Two lines for each.
  std::string symbols_of(std::span<const std::string> instances) const {
    std::string lines;
    for (const std::string& instance : instances) {
      const char* symbol = nullptr;
      if (table_.nvrtcGetLoweredName(program_, instance.c_str(), &symbol) && symbol)
        lines += instance + '\n' + symbol + '\n';
    }
    return lines;
  }
  std::string image() const { return text(table_.nvrtcGetCUBINSize, table_.nvrtcGetCUBIN); }

 private:
  std::string text(const auto& size_of, const auto& get) const {
    std::size_t size = 0;
    if (!program_ || !size_of(program_, &size)) return {};
    std::string text(size, '\0');
    if (!get(program_, text.data())) return {};
    return text;
  }
  const NvrtcTable& table_;
  nvrtcProgram program_ = nullptr;
  nvrtcResult created_ = NVRTC_SUCCESS;
};

/// What is between blanks, and in quotation marks, which go.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  char quote = 0;
  bool is_inside = false;
  for (const char c : text) {
    const bool is_quote = quote != 0 ? c == quote : c == '"' || c == '\'';
    const bool is_blank = quote == 0 && (c == ' ' || c == '\t');
    if (is_quote) quote = quote != 0 ? '\0' : c;
    if (!is_blank && !is_inside) words.emplace_back();
    is_inside = !is_blank;
    if (is_inside && !is_quote) words.back() += c;
  }
  return words;
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string without_final_null(std::string log) {
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

}  // namespace

Result<CompiledCode> compile(const std::string& source, std::string_view flags, int capability,
                             std::span<const SourceHeader> headers, std::string_view instances) {
  const NvrtcTable& table = *TROUPE_TRY(find_table<NvrtcTable>());
  const std::string folder = headers_beside(table.file);
  std::vector<std::string> all{"--gpu-architecture=sm_" + std::to_string(capability)};
  if (!folder.empty()) {
    all.push_back("--include-path=" + folder);
    all.push_back("--include-path=" + folder + "/cccl");  // since CUDA 13 its C++ headers, which others there include
  }
  for (std::string& word : words_of(flags)) all.push_back(std::move(word));
  const std::vector<std::string> wanted = parts_of(instances, '\t');

  Compilation compilation(table, source, headers);
  const nvrtcResult result = compilation.run(all, wanted);
  std::string log = without_final_null(compilation.log());
  if (result != NVRTC_SUCCESS)
    return fail(Error(result == NVRTC_ERROR_OUT_OF_MEMORY ? ErrorKind::out_of_memory : ErrorKind::invalid_argument,
                      "the kernels do not compile: " + std::string(table.nvrtcGetErrorString(result)) +
                          (log.empty() ? "" : "\n" + log),
                      ErrorOrigin{.library = std::string(kNvrtc.id()), .native_code = static_cast<int>(result)}));
  std::string image = compilation.image();
  if (image.empty())
    return fail(ErrorKind::invalid_argument, "these flags make no code that a GPU runs: " + std::string(flags));
  return CompiledCode{std::move(image), std::move(log), table.file, compilation.symbols_of(wanted)};
}

}  // namespace troupe::cuda

#endif

#include "troupe/worker/compile.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "troupe/backend/cuda/jit/nvrtc.hpp"
#include "troupe/backend/host/jit/checked_source.hpp"
#include "troupe/backend/host/jit/host_compiler.hpp"
#include "troupe/backend/host/jit/kernel_headers.hpp"
#include "troupe/wire/compiled_image.hpp"

namespace troupe::worker {
namespace {

using wire::CompiledImage;
using wire::kMaxSourceBytes;

Result<std::string> read_input() {
  std::string text;
  std::array<char, 65536> buffer;
  for (ssize_t size; (size = read(STDIN_FILENO, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.size() > 2 * kMaxSourceBytes) return fail(ErrorKind::invalid_argument, "the source is too long");
  }
  return text;
}

/// The source with blanks for `extern "C"` before `__global__`: so the kernels have the types of their parameters in
/// their symbols, and whoever launches them is told of a wrong one. Lines and columns stay.
std::string without_c_linkage(std::string source) {
  constexpr std::string_view kExtern = "extern", kC = "\"C\"", kGlobal = "__global__", kBlanks = " \t\r\n";
  const auto behind = [&](std::size_t at) { return std::min(source.find_first_not_of(kBlanks, at), source.size()); };
  for (std::size_t at = source.find(kExtern); at != std::string::npos; at = source.find(kExtern, at + 1)) {
    const std::size_t c = behind(at + kExtern.size());
    if (source.compare(c, kC.size(), kC) != 0) continue;
    if (source.compare(behind(c + kC.size()), kGlobal.size(), kGlobal) != 0) continue;
    source.replace(at, kExtern.size(), kExtern.size(), ' ');
    source.replace(c, kC.size(), kC.size(), ' ');
  }
  return source;
}

/// `compile(source)` for the source with typed kernels, or else as it is.
template <class Compile>
auto compile_typed(const std::string& source, const Compile& compile) {
  const std::string typed = without_c_linkage(source);
  auto code = compile(typed);
  // It may need its C names, or be wrong in any case: then the compiler speaks of what the user wrote.
  if (!code && typed != source && code.error().kind() == ErrorKind::invalid_argument) code = compile(source);
  return code;
}

/// `compile(source, is_checked)` for the source in checked mode, or else why that does not compile.
template <class Compile>
auto compile_checked(const std::string& source, const Compile& compile) -> decltype(compile(source, true)) {
  const std::string checked = TROUPE_TRY(host::checked_source(without_c_linkage(source)));
  auto code = compile(checked, true);
  if (code || code.error().kind() != ErrorKind::invalid_argument) return code;
  // When it is wrong in any case, the compiler speaks of what the user wrote.
  auto plain = compile_typed(source, [&](const std::string& text) { return compile(text, false); });
  if (!plain) return plain;
  return fail(Error(ErrorKind::invalid_argument,
                    "checked mode: the kernels compile, but not with pointers that know their arrays; docs/gpu.md says "
                    "what cannot be checked. " +
                        std::string(code.error().message()),
                    code.error().origin()));
}

template <class Compile>
auto compile_as_wanted(const std::string& source, bool is_checked, const Compile& compile) {
  if (is_checked) return compile_checked(source, compile);
  return compile_typed(source, [&](const std::string& text) { return compile(text, false); });
}

#if TROUPE_CUDA_BACKEND
/// The user's, those of the C library, and in checked mode that of the pointers.
std::vector<cuda::SourceHeader> headers_for(std::span<const wire::SourceHeader> given, bool is_checked) {
  std::vector<cuda::SourceHeader> headers;
  for (const wire::SourceHeader& header : given) headers.push_back({header.name.c_str(), header.text.c_str()});
  for (const cuda::SourceHeader& header : cuda::c_headers())
    if (std::ranges::find(given, header.name, &wire::SourceHeader::name) == given.end()) headers.push_back(header);
  for (const host::KernelHeader& header : host::kernel_headers())
    if (is_checked && header.name == host::kCheckedHeader) headers.push_back({header.name.data(), header.text.data()});
  return headers;
}
#endif

Result<CompiledImage> compile_here([[maybe_unused]] const wire::CompileRequest& request,
                                   [[maybe_unused]] int capability, [[maybe_unused]] bool is_checked) {
#if TROUPE_CUDA_BACKEND
  Result<cuda::CompiledCode> code =
      compile_as_wanted(request.source, is_checked, [&](const std::string& text, bool checked) {
        const std::string include = checked ? "--pre-include=" + std::string(host::kCheckedHeader) + " " : "";
        return cuda::compile(text, include + request.flags, capability, headers_for(request.headers, checked),
                             request.instances);
      });
  if (!code) return fail(code.error());
  return CompiledImage{.bytes = std::move(code->image),
                       .log = std::move(code->log),
                       .compiler = std::move(code->compiler),
                       .instances = std::move(code->instances)};
#else
  return fail(ErrorKind::unsupported, "this worker was built without the CUDA toolkit, so it compiles no kernels");
#endif
}

Result<CompiledImage> answer_to(std::optional<wire::CompileRequest> request, std::string_view target,
                                const char* folder, bool is_checked) {
  if (!request || request->source.empty()) return fail(ErrorKind::invalid_argument, "there is no source");
  // Those of kernels in headers are as little wanted.
  for (wire::SourceHeader& header : request->headers) header.text = without_c_linkage(std::move(header.text));
  if (target != "cpu") return compile_here(*request, std::atoi(target.data()), is_checked);
  return compile_as_wanted(request->source, is_checked, [&](const std::string& source, bool checked) {
    wire::CompileRequest as_wanted = *request;
    as_wanted.source = source;
    return host::compile_for_cpu(as_wanted, folder, checked);
  });
}

}  // namespace

int answer_compile(const char* target, const char* folder, bool is_checked) {
  // A compiler may print; standard output must have the answer alone.
  const int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const Result<std::string> input = read_input();
  const Result<CompiledImage> compiled =
      input ? answer_to(wire::decode_request(*input), target, folder, is_checked) : fail(input.error());
  const std::string answer = encode(compiled);
  for (std::size_t done = 0; done < answer.size();) {
    const ssize_t size = write(out, answer.data() + done, answer.size() - done);
    if (size <= 0) return 1;
    done += static_cast<std::size_t>(size);
  }
  return compiled ? 0 : 1;
}

}  // namespace troupe::worker

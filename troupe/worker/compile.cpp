#include "troupe/worker/compile.hpp"

#include <unistd.h>

#include <array>

#include "troupe/backend/cuda/jit/nvrtc.hpp"
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

Result<CompiledImage> compile_here([[maybe_unused]] const std::string& source, [[maybe_unused]] std::string_view flags,
                                   [[maybe_unused]] int capability) {
#if TROUPE_CUDA_BACKEND
  cuda::CompiledCode code = TROUPE_TRY(cuda::compile(source, flags, capability, cuda::c_headers()));
  return CompiledImage{
      .bytes = std::move(code.image), .log = std::move(code.log), .compiler = std::move(code.compiler)};
#else
  return fail(ErrorKind::unsupported, "this worker was built without the CUDA toolkit, so it compiles no kernels");
#endif
}

}  // namespace

int answer_compile(int capability) {
  // A compiler may print; standard output must have the answer alone.
  const int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const Result<std::string> input = read_input();
  const std::size_t end = input ? input->find('\n') : std::string::npos;
  Result<CompiledImage> compiled = !input ? Result<CompiledImage>(fail(input.error()))
                                   : end == std::string::npos
                                       ? Result<CompiledImage>(fail(ErrorKind::invalid_argument, "there is no source"))
                                       : compile_here(input->substr(end + 1), input->substr(0, end), capability);
  const std::string answer = encode(compiled);
  for (std::size_t done = 0; done < answer.size();) {
    const ssize_t size = write(out, answer.data() + done, answer.size() - done);
    if (size <= 0) return 1;
    done += static_cast<std::size_t>(size);
  }
  return compiled ? 0 : 1;
}

}  // namespace troupe::worker

// libnvrtc.so.13, the fake: an image is the source with a mark before it, in which the fake driver finds kernels and
// their parameters. A source with #error in it does not compile.
#include <string>

#include "tests/fake_cuda/stand_in.hpp"

namespace {

constexpr fake_cuda::Statuses kStatuses{.no_memory = 1, .invalid = 3, .failed = 11, .internal = 11};
constexpr int kDoesNotCompile = 6;
constexpr std::string_view kLog = "what the compiler has to say\n";

struct Program {
  std::string image;
};

int copy_out(const char* function, std::string_view text, char* to) {
  if (const int code = fake_cuda_enter(function)) return fake_cuda::status_of(code, kStatuses);
  to[text.copy(to, text.size())] = '\0';
  return 0;
}

}  // namespace

FAKE_EXPORT int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}

FAKE_EXPORT int nvrtcCreateProgram(Program** program, const char* source, const char*, int, void*, void*) {
  if (const int code = fake_cuda_enter("nvrtcCreateProgram")) return fake_cuda::status_of(code, kStatuses);
  *program = new Program{"FAKE CUBIN\n" + std::string(source)};
  return 0;
}

FAKE_EXPORT int nvrtcDestroyProgram(Program** program) {
  delete *program;
  return fake_cuda::status_of(fake_cuda_enter("nvrtcDestroyProgram"), kStatuses);
}

FAKE_EXPORT int nvrtcCompileProgram(const Program* program, int, const char* const*) {
  if (const int code = fake_cuda_enter("nvrtcCompileProgram")) return fake_cuda::status_of(code, kStatuses);
  return program->image.find("#error") == std::string::npos ? 0 : kDoesNotCompile;
}

FAKE_EXPORT int nvrtcAddNameExpression(const Program*, const char*) {
  return fake_cuda::status_of(fake_cuda_enter("nvrtcAddNameExpression"), kStatuses);
}
/// Its kernels keep their names.
FAKE_EXPORT int nvrtcGetLoweredName(const Program*, const char* name, const char** symbol) {
  *symbol = name;
  return fake_cuda::status_of(fake_cuda_enter("nvrtcGetLoweredName"), kStatuses);
}

FAKE_EXPORT int nvrtcGetProgramLogSize(const Program*, std::size_t* size) {
  *size = kLog.size() + 1;
  return fake_cuda::status_of(fake_cuda_enter("nvrtcGetProgramLogSize"), kStatuses);
}
FAKE_EXPORT int nvrtcGetProgramLog(const Program*, char* log) { return copy_out("nvrtcGetProgramLog", kLog, log); }

FAKE_EXPORT int nvrtcGetCUBINSize(const Program* program, std::size_t* size) {
  *size = program->image.size() + 1;
  return fake_cuda::status_of(fake_cuda_enter("nvrtcGetCUBINSize"), kStatuses);
}
FAKE_EXPORT int nvrtcGetCUBIN(const Program* program, char* image) {
  return copy_out("nvrtcGetCUBIN", program->image, image);
}

FAKE_EXPORT const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }

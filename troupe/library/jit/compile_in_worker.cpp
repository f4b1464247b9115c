#include "troupe/library/jit/compile_in_worker.hpp"

#include <span>

#include "troupe/wire/run_child.hpp"

namespace troupe::inline v0 {

Result<wire::CompiledImage> compile_in_worker(const ProgramKey& program, Duration limit) {
  const auto& [executable, source, flags, instances, capability] = program;
  if (source.empty() || source.size() > wire::kMaxSourceBytes)
    return fail(ErrorKind::invalid_argument, "the source has " + std::to_string(source.size()) +
                                                 " bytes; it must have 1 to " + std::to_string(wire::kMaxSourceBytes));
  if (flags.find('\n') != std::string::npos || source.find('\0') != std::string::npos)
    return fail(ErrorKind::invalid_argument, "flags must be one line, and the source must have no zero bytes");
  if (instances.find('\n') != std::string::npos) return fail(ErrorKind::invalid_argument, "instances must be one line");
  const std::string input = flags + "\n" + instances + "\n" + source;
  const wire::ChildAnswer answer = TROUPE_TRY(
      wire::run_child(executable, {"--compile", std::to_string(capability)}, std::as_bytes(std::span(input)), limit));
  if (!answer.end) return fail(ErrorKind::timeout, "the kernels did not compile within " + to_string(limit));
  if (std::optional<Result<wire::CompiledImage>> compiled = wire::decode_compiled(answer.printed))
    return std::move(*compiled);
  return fail(ErrorKind::worker_crashed, "the compiler " + answer.end->to_string());
}

}  // namespace troupe::inline v0

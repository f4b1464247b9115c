#include "troupe/wire/facts.hpp"

#include <charconv>

namespace troupe::inline v0::wire {
namespace {

using Fields = std::vector<std::string_view>;

Fields split(std::string_view text, char at) {
  Fields parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool read(const Fields& fields, FoundLibrary& library) {
  if (fields.size() != 6) return false;
  library = {.name = std::string(fields[1]),
             .version = std::string(fields[2]),
             .path = std::string(fields[3]),
             .problem = std::string(fields[4]),
             .source = std::string(fields[5])};
  return true;
}

bool read(const Fields& fields, GpuFacts& gpu) {
  if (fields.size() != 7) return false;
  gpu = {.uuid = std::string(fields[1]),
         .name = std::string(fields[2]),
         .memory_bytes = 0,
         .capability = std::string(fields[4]),
         .can_export_memory = fields[5] == "exports",
         .is_exclusive = fields[6] == "exclusive"};
  const std::string_view bytes = fields[3];
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), gpu.memory_bytes);
  return error == std::errc() && end == bytes.data() + bytes.size();
}

/// A text after its kind.
bool read(const Fields& fields, std::string& text) {
  if (fields.size() != 2) return false;
  text = fields[1];
  return true;
}

/// False for a line that cannot be read.
bool add(Facts& facts, const Fields& fields) {
  const std::string_view kind = fields[0];
  if (kind == fact::kEnd) facts.complete = true;
  if (kind == fact::kLooking) return read(fields, facts.looking_at);
  if (kind == fact::kBlas) return read(fields, facts.blas);
  if (kind == fact::kOtherBlas) return read(fields, facts.other_blas.emplace_back());
  if (kind == fact::kLapack) return read(fields, facts.lapack);
  if (kind == fact::kCpuThreads) return read(fields, facts.cpu_threads);
  if (kind == fact::kSleef) return read(fields, facts.sleef);
  if (kind == fact::kDriver) return read(fields, facts.driver);
  if (kind == fact::kBackend) return read(fields, facts.backends.emplace_back());
  if (kind == fact::kGpu) return read(fields, facts.gpus.emplace_back());
  if (kind == fact::kLibrary) return read(fields, facts.libraries.emplace_back());
  return true;
}

}  // namespace

std::string fact_line(std::string_view kind, std::initializer_list<std::string_view> fields) {
  std::string text(kind);
  for (const std::string_view field : fields) {
    text += '\t';
    for (const char c : field) text += c == '\t' || c == '\n' ? ' ' : c;
  }
  return text + '\n';
}

std::string line_of(std::string_view kind, const FoundLibrary& library) {
  return fact_line(kind, {library.name, library.version, library.path, library.problem, library.source});
}

std::string line_of(const GpuFacts& gpu) {
  return fact_line(fact::kGpu,
                   {gpu.uuid, gpu.name, std::to_string(gpu.memory_bytes), gpu.capability,
                    gpu.can_export_memory ? "exports" : "private", gpu.is_exclusive ? "exclusive" : "shared"});
}

Result<Facts> parse_facts(std::string_view text) {
  Facts facts;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off inside a line
    const std::string_view one = text.substr(0, end);
    if (!add(facts, split(one, '\t')))
      return fail(ErrorKind::invalid_argument, "the worker's line \"" + std::string(one) + "\" cannot be read");
    text.remove_prefix(end + 1);
  }
  return facts;
}

}  // namespace troupe::inline v0::wire

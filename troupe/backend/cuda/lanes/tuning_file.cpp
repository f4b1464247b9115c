#include "troupe/backend/cuda/lanes/tuning_file.hpp"

#include <charconv>
#include <fstream>

namespace troupe::cuda {
namespace {

constexpr std::size_t kHexDigits = 16;  // of each of the eight numbers

std::string to_hex(const AlgorithmBytes& algorithm) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t number : algorithm)
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(number >> shift) & 15];
  return text;
}

std::optional<AlgorithmBytes> from_hex(std::string_view text) {
  AlgorithmBytes algorithm{};
  if (text.size() != kHexDigits * algorithm.size()) return std::nullopt;
  for (std::size_t i = 0; i < algorithm.size(); ++i) {
    const std::string_view digits = text.substr(i * kHexDigits, kHexDigits);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), algorithm[i], 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  }
  return algorithm;
}

}  // namespace

TuningFile::TuningFile(std::string path, std::string_view family, std::string_view origin)
    : path_(std::move(path)), first_line_("troupe " + std::string(family) + " tuning 1, " + std::string(origin)) {
  is_ours_ = !path_.empty() && read();
}

bool TuningFile::read() {
  std::ifstream file(path_);
  std::string line;
  if (!std::getline(file, line) || line != first_line_) return false;
  while (known_.size() < kMaxEntries && std::getline(file, line)) {
    const std::size_t gap = line.rfind('\t');
    if (gap == std::string::npos) continue;  // a line that was being written when its writer died
    if (const auto algorithm = from_hex(std::string_view(line).substr(gap + 1)))
      known_.insert_or_assign(line.substr(0, gap), *algorithm);
  }
  return true;
}

std::optional<AlgorithmBytes> TuningFile::find(const std::string& problem) const {
  const auto known = known_.find(problem);
  return known == known_.end() ? std::nullopt : std::optional(known->second);
}

Result<void> TuningFile::add(const std::string& problem, const AlgorithmBytes& algorithm) {
  if (known_.size() >= kMaxEntries && !known_.contains(problem))
    return fail(ErrorKind::out_of_memory, "the tuning has " + std::to_string(kMaxEntries) + " entries already");
  known_.insert_or_assign(problem, algorithm);
  if (path_.empty()) return {};
  std::ofstream file(path_, is_ours_ ? std::ios::app : std::ios::trunc);
  std::string lines = is_ours_ ? "" : first_line_ + "\n";
  lines += problem + '\t' + to_hex(algorithm) + '\n';
  file << lines << std::flush;
  if (!file) return fail(ErrorKind::library_error, "cannot write the tuning to " + path_);
  is_ours_ = true;
  return {};
}

}  // namespace troupe::cuda

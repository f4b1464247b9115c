// What was measured to be the fastest algorithm for a product or a contraction, kept in a file so that the next worker
// need not measure again: $TROUPE_MATMUL_TUNING, $TROUPE_TENSOR_TUNING. Text, one line for each problem: what it is,
// and the algorithm's own bytes in hexadecimal. They mean something only to the version of the library and the GPU that
// they came from, which the first line names: a file of another one is begun anew. Several workers may share a file;
// what one adds the others see when they next start.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "troupe/core/result.hpp"

namespace troupe::cuda {

/// An algorithm: as cuBLASLt stores it, or as we number cuTENSOR's.
using AlgorithmBytes = std::array<std::uint64_t, 8>;

class TuningFile {
 public:
  static constexpr std::size_t kMaxEntries = 4096;

  /// Reads the file; with an empty path nothing is kept. `family` is whose ops they are, `origin` the library's version
  /// and the GPU.
  TuningFile(std::string path, std::string_view family, std::string_view origin);

  std::optional<AlgorithmBytes> find(const std::string& problem) const;
  /// Remembers the algorithm, and appends it to the file. When the file cannot be written, that is an error, but the
  /// algorithm is still remembered.
  Result<void> add(const std::string& problem, const AlgorithmBytes& algorithm);
  std::size_t size() const noexcept { return known_.size(); }

 private:
  bool read();

  const std::string path_;
  const std::string first_line_;
  bool is_ours_ = false;  // the file begins with our first line
  std::map<std::string, AlgorithmBytes> known_;
};

}  // namespace troupe::cuda

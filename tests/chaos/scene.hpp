// What all callers and culprits share: the device, the arrays that everybody reads and nobody writes, the plan, the
// ledger. It outlives them all.
#pragma once

#include <complex>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/chaos/kernels.hpp"
#include "tests/chaos/ledger.hpp"
#include "tests/chaos/plan.hpp"
#include "tests/chaos/progress.hpp"
#include "troupe/troupe.hpp"

namespace troupe::chaos {

/// How long an op may take to end, whatever happens, before its reply counts as lost.
inline constexpr Duration kPatience = std::chrono::seconds(60);

/// A big array is larger than a chunk of a vault with this limit, and there is room for a few of them.
inline constexpr std::int64_t kVaultBytes = std::int64_t{320} << 20;
inline constexpr std::int64_t kBigBytes = std::int64_t{44} << 20;

inline constexpr std::int64_t kSealedElements = 10'000;
inline constexpr float kSealedNumber = 77;

/// Two shared matrices of one size, and their products. All numbers are small integers, so every sum is exact.
struct Matrices {
  std::array<Array<float>, kShared> arrays;
  std::array<std::vector<float>, kShared> contents;
  std::vector<float> product;             // a b
  std::vector<float> transposed_product;  // a b'
  Array<float> upside_down;               // times a matrix, its rows in reverse order
  SparseMatrix sparse_upside_down;
  Array<std::int64_t> backwards;        // the numbers of rows in reverse order
  Array<std::complex<float>> spectrum;  // half of one of a matrix, in which there is frequency 0 alone
};

/// The bounds of the integers that callers draw, and what they get when they transform `Matrices::spectrum` back.
inline constexpr int kLeastDrawn = -9;
inline constexpr int kMostDrawn = 9;
inline constexpr float kOfSpectrum = 7;

class Scene {
 public:
  /// Makes the shared arrays, and compiles the kernels for a GPU. Throws `Exception`.
  Scene(Device the_device, const Plan& the_plan, Ledger& the_ledger);

  /// Of that edge length.
  const Matrices& matrices(std::uint32_t edge) const { return matrices_.at(edge); }
  /// A generator that is at one of several places of `drawn`, and the place.
  Generator generator(int number) const { return Generator(plan.seed()).at(position(number)); }
  std::span<const float> drawn_by(int number) const { return std::span(drawn).subspan(position(number)); }
  /// Reads the shared arrays once more, and the sealed one.
  void check_shared_arrays();
  /// Lets go of all that is in the device's memory.
  void drop_all() noexcept;
  /// What the callers of ops that work in place may get when others have ended their worker.
  bool is_end_of_worker(ErrorKind kind) const noexcept {
    return kind == ErrorKind::worker_crashed || (kernels && kind == ErrorKind::context_poisoned);
  }
  /// Whether a kernel does it, and not a plugin.
  bool is_done_by_kernel(FaultKind kind) const noexcept {
    return is_in_kernel(kind) || (kernels && kind == FaultKind::write_sealed);
  }

  Device device;
  const Plan& plan;
  const std::string plugin;        // its path
  bool can_solve = false;          // there is a library for it
  bool is_strict = false;          // the sandbox of the workers
  std::optional<Kernels> kernels;  // on a GPU, where a plugin cannot touch data
  Array<float> sealed;             // full of `kSealedNumber`
  std::vector<float> drawn;        // what a generator gives from position 0 on
  Ledger& ledger;
  Progress progress;

 private:
  /// No number of a caller's is below -9. Most of the places are not where a block of random bits begins.
  static std::uint64_t position(int number) noexcept { return static_cast<std::uint64_t>(number + 9) * 1001; }

  std::map<std::uint32_t, Matrices> matrices_;
};

/// Element (row, column) of the pattern that `value` stands for: integers from -100 to 100.
float pattern(int value, std::size_t index) noexcept;
std::vector<float> pattern(int value, std::uint32_t edge);

/// "expected 3 at 17 and found 5, and 4 more", or empty when they are the same.
std::string difference(std::span<const float> found, std::span<const float> expected);

}  // namespace troupe::chaos

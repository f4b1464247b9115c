// How a line of one length is transformed: its stages and their factors, made once and kept. Lengths of primes up to 31
// go through stages, of other primes by a convolution (Bluestein) of a length that does.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "troupe/backend/host/fft/fft_rows.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/core/element.hpp"

namespace troupe::host {

/// How the numbers of a plan's lines are laid out while it runs.
enum class FftForm : std::uint8_t {
  together,  // several lines, element by element side by side
  alone,     // one line: as a matrix, whose columns and then rows are lines side by side
  in_parts,  // one that no cache holds: the same, in memory, a few columns at a time
};

struct FftKey {
  std::int64_t length = 0;
  DType dtype = DType::f32;
  FftForm form = FftForm::together;
  bool is_half = false;  // of a real line of twice the length
  friend bool operator==(const FftKey&, const FftKey&) = default;
};

/// What a cache of plans knows of them.
struct AnyFftPlan {
  AnyFftPlan(const FftKey& key_) noexcept : key(key_) {}  // NOLINT(google-explicit-constructor)
  virtual ~AnyFftPlan() = default;
  AnyFftPlan(const AnyFftPlan&) = delete;
  AnyFftPlan& operator=(const AnyFftPlan&) = delete;

  const FftKey key;
  std::uint64_t size_bytes = 0;
};

/// Whether all prime factors have stages.
bool has_fft_stages(std::int64_t length) noexcept;
/// The length of the convolution for one that has not.
std::int64_t fft_convolution_length(std::int64_t length) noexcept;
/// The greatest factor of a length that is not greater than its root.
std::int64_t fft_rows_of_square(std::int64_t length) noexcept;

template <class T>
struct OwnPlanes {
  std::vector<T> re;
  std::vector<T> im;
  operator Planes<const T>() const noexcept { return {re.data(), im.data()}; }  // NOLINT(google-explicit-constructor)
  std::uint64_t size_bytes() const noexcept { return 2 * sizeof(T) * re.size(); }
};

/// The stages of a length.
template <class T>
class FftStages {
 public:
  explicit FftStages(std::int64_t length);
  /// Transforms forwards `width` lines, element by element side by side; gives the planes of the two that have the
  /// result.
  Planes<T> run(const FftRows<T>& rows, Planes<T> data, Planes<T> spare, std::int64_t width) const noexcept;
  std::uint64_t size_bytes() const noexcept;

 private:
  struct Step {
    int radix;
    std::vector<T> twiddles;
    std::vector<T> roots;
  };
  std::int64_t length_;
  std::vector<Step> steps_;
};

template <class T>
class FftPlan : public AnyFftPlan {
 public:
  /// `in_parts` needs a length that has stages and two factors.
  explicit FftPlan(const FftKey& key);

  /// Rows that the planes given to `run` must have.
  std::int64_t rows() const noexcept { return inner_ ? inner_->key.length : key.length; }
  /// Transforms `width` lines forwards (1 when they are alone); gives the planes of the two that have the result. Not
  /// for lines in parts.
  Planes<T> run(const FftRows<T>& rows, Planes<T> data, Planes<T> spare, std::int64_t width) const noexcept;

  /// Null where there is none.
  const FftPlan* inner() const noexcept { return inner_.get(); }
  /// Of a convolution: the factors of what goes in and comes out, and of what is between.
  Planes<const T> chirp() const noexcept { return chirp_; }
  Planes<const T> kernel() const noexcept { return kernel_; }
  /// Of half a line: exp(-pi i k / length), length + 1 of them.
  Planes<const T> half_roots() const noexcept { return half_roots_; }

  // Of a line that is a matrix: its rows and columns. Each column is transformed, then each number multiplied with the
  // root whose exponent is the product of its row and column, then each row is transformed.
  std::int64_t matrix_rows() const noexcept { return matrix_rows_; }
  std::int64_t matrix_columns() const noexcept { return key.length / matrix_rows_; }
  const FftStages<T>& columns() const noexcept { return first_; }
  const FftStages<T>& across() const noexcept { return *second_; }

  // Of lines in parts: the factors of rows times columns are products of two. Columns come in blocks of `kBlock`.
  static constexpr std::int64_t kBlock = 64 / sizeof(T);
  /// The factors of all rows for the first column of a block.
  Planes<const T> coarse(std::int64_t block) const noexcept {
    return {coarse_.re.data() + block * matrix_rows_, coarse_.im.data() + block * matrix_rows_};
  }
  /// [row, column of the block]; the last block takes the first of it.
  Planes<const T> fine() const noexcept { return fine_; }
  /// As many numbers as the line has.
  Planes<T> middle() const noexcept {
    T* const data = reinterpret_cast<T*>(middle_.get());
    return {data, data + key.length};
  }

 private:
  void make_convolution();
  void make_matrix();
  void make_parts();
  Planes<T> run_convolution(const FftRows<T>& rows, Planes<T> data, Planes<T> spare, std::int64_t width) const noexcept;

  std::int64_t matrix_rows_ = 1;
  FftStages<T> first_;
  std::unique_ptr<FftStages<T>> second_;  // of a matrix
  OwnPlanes<T> matrix_;                   // its factors
  OwnPlanes<T> coarse_;
  OwnPlanes<T> fine_;
  Scratch middle_;

  std::unique_ptr<FftPlan> inner_;  // of a convolution
  OwnPlanes<T> chirp_;
  OwnPlanes<T> kernel_;
  OwnPlanes<T> half_roots_;
};

extern template class FftStages<float>;
extern template class FftStages<double>;
extern template class FftPlan<float>;
extern template class FftPlan<double>;

}  // namespace troupe::host

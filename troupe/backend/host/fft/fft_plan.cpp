#include "troupe/backend/host/fft/fft_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <numbers>
#include <utility>

#include "troupe/backend/host/kernels/plane.hpp"
#include "troupe/op/fft.hpp"

namespace troupe::host {
namespace {

constexpr std::array kRadices{8, 4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};

/// Shorter lines are no matrix.
constexpr std::int64_t kLeastMatrix = 64;
constexpr std::int64_t kLeastMatrixRows = 8;

/// What roots are computed in: more digits than the numbers have.
template <class T>
using Finer = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class W>
struct Root {
  W re;
  W im;
  friend Root operator*(const Root& a, const Root& b) noexcept {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// exp(-2 pi i k / turns), 0 <= k < turns, by an angle of at most an eighth of a turn.
template <class W>
Root<W> root_of(std::int64_t k, std::int64_t turns) noexcept {
  const bool is_upper = 2 * k > turns;
  std::int64_t eighths = 8 * (is_upper ? turns - k : k);  // of turns, 0 to 4
  const bool is_left = eighths > 2 * turns;
  if (is_left) eighths = 4 * turns - eighths;
  const bool is_steep = eighths > turns;
  if (is_steep) eighths = 2 * turns - eighths;
  const W angle = std::numbers::pi_v<W> * static_cast<W>(eighths) / (W(4) * static_cast<W>(turns));
  W x = std::cos(angle), y = std::sin(angle);
  if (is_steep) std::swap(x, y);
  return {is_left ? -x : x, is_upper ? y : -y};
}

/// All roots of a number of turns: of many, as products of two.
template <class W>
class Roots {
 public:
  explicit Roots(std::int64_t turns) : turns_(turns) {
    constexpr std::int64_t kFew = 4096;
    while (turns >> shift_ > (std::int64_t{1} << shift_) || (shift_ == 0 && turns > kFew)) ++shift_;
    if (turns <= kFew) shift_ = 0;
    const std::int64_t fine = std::int64_t{1} << shift_;
    if (shift_ > 0)
      for (std::int64_t i = 0; i < fine; ++i) fine_.push_back(root_of<W>(i, turns));
    for (std::int64_t i = 0; i < turns; i += fine) coarse_.push_back(root_of<W>(i, turns));
  }
  /// Of any k that is not negative.
  Root<W> operator()(std::int64_t k) const noexcept {
    k %= turns_;
    const Root<W>& coarse = coarse_[static_cast<std::size_t>(k >> shift_)];
    if (shift_ == 0) return coarse;
    return coarse * fine_[static_cast<std::size_t>(k & ((std::int64_t{1} << shift_) - 1))];
  }

 private:
  std::int64_t turns_;
  int shift_ = 0;
  std::vector<Root<W>> fine_;
  std::vector<Root<W>> coarse_;
};

template <class T, class W>
void put(OwnPlanes<T>& planes, const Root<W>& root) {
  planes.re.push_back(static_cast<T>(root.re));
  planes.im.push_back(static_cast<T>(root.im));
}

std::vector<int> radices_of(std::int64_t length) {
  std::vector<int> radices;
  for (const int radix : kRadices)
    for (; length % radix == 0; length /= radix) radices.push_back(radix);
  std::ranges::reverse(radices);  // powers of two last, where the rows are widest
  return radices;
}

}  // namespace

bool has_fft_stages(std::int64_t length) noexcept {
  for (const int radix : kRadices)
    while (length > 1 && length % radix == 0) length /= radix;
  return length <= 1;
}

std::int64_t fft_convolution_length(std::int64_t length) noexcept { return op::quick_fft_length(2 * length - 1); }

std::int64_t fft_rows_of_square(std::int64_t length) noexcept {
  auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(length)));
  while (rows > 1 && (length % rows != 0 || rows * rows > length)) --rows;
  return std::max<std::int64_t>(rows, 1);
}

// ---- stages ----

template <class T>
FftStages<T>::FftStages(std::int64_t length) : length_(length) {
  std::int64_t left = length;
  const Roots<Finer<T>> roots(std::max<std::int64_t>(length, 1));
  for (const int radix : radices_of(std::max<std::int64_t>(length, 1))) {
    Step step{.radix = radix, .twiddles = {}, .roots = {}};
    const std::int64_t groups = left / radix, turn = length / left;
    for (std::int64_t group = 0; group < groups; ++group)
      for (int j = 1; j < radix; ++j) {
        const auto root = roots(group * j * turn);
        step.twiddles.push_back(static_cast<T>(root.re));
        step.twiddles.push_back(static_cast<T>(root.im));
      }
    if (radix % 2 == 1) {
      step.roots.resize(static_cast<std::size_t>(2 * radix));
      for (int j = 0; j < radix; ++j) {
        const auto root = root_of<Finer<T>>(j, radix);
        step.roots[static_cast<std::size_t>(j)] = static_cast<T>(root.re);
        step.roots[static_cast<std::size_t>(radix + j)] = static_cast<T>(-root.im);
      }
    }
    left = groups;
    steps_.push_back(std::move(step));
  }
}

template <class T>
Planes<T> FftStages<T>::run(const FftRows<T>& rows, Planes<T> data, Planes<T> spare,
                            std::int64_t width) const noexcept {
  std::int64_t left = length_;
  for (const Step& step : steps_) {
    left /= step.radix;
    const FftStage<T> stage{.radix = step.radix,
                            .groups = left,
                            .width = width,
                            .twiddles = step.twiddles.data(),
                            .roots = step.roots.data()};
    rows.stage[static_cast<std::size_t>(step.radix)](stage, data, spare);
    std::swap(data, spare);
    width *= step.radix;
  }
  return data;
}

template <class T>
std::uint64_t FftStages<T>::size_bytes() const noexcept {
  std::uint64_t size = 0;
  for (const Step& step : steps_) size += sizeof(T) * (step.twiddles.size() + step.roots.size());
  return size;
}

// ---- plans ----

namespace {

/// 1 for a line that is no matrix.
std::int64_t matrix_rows_of(const FftKey& key) noexcept {
  if (!has_fft_stages(key.length) || key.form == FftForm::together) return 1;
  const std::int64_t rows = fft_rows_of_square(key.length);
  const bool is_small = key.length < kLeastMatrix || rows < kLeastMatrixRows;
  return key.form == FftForm::alone && is_small ? 1 : rows;
}

/// What the first stages transform; nothing where there is a convolution instead.
std::int64_t first_length_of(const FftKey& key) noexcept {
  if (!has_fft_stages(key.length)) return 1;
  const std::int64_t rows = matrix_rows_of(key);
  return rows == 1 ? key.length : rows;
}

}  // namespace

template <class T>
FftPlan<T>::FftPlan(const FftKey& key_)
    : AnyFftPlan(key_), matrix_rows_(matrix_rows_of(key)), first_(first_length_of(key)) {
  if (!has_fft_stages(key.length))
    make_convolution();
  else if (key.form == FftForm::in_parts)
    make_parts();
  else if (matrix_rows_ > 1)
    make_matrix();
  if (key.is_half) {
    const Roots<Finer<T>> roots(2 * key.length);
    for (std::int64_t k = 0; k <= key.length; ++k) put(half_roots_, roots(k));
  }
  size_bytes = sizeof(*this) + first_.size_bytes() + (second_ ? second_->size_bytes() : 0) + matrix_.size_bytes() +
               coarse_.size_bytes() + fine_.size_bytes() + chirp_.size_bytes() + kernel_.size_bytes() +
               half_roots_.size_bytes() + (middle_ ? 2 * sizeof(T) * static_cast<std::uint64_t>(key.length) : 0) +
               (inner_ ? inner_->size_bytes : 0);
}

template <class T>
void FftPlan<T>::make_matrix() {
  const std::int64_t columns = matrix_columns();
  second_ = std::make_unique<FftStages<T>>(columns);
  const Roots<Finer<T>> roots(key.length);
  for (std::int64_t row = 0; row < matrix_rows_; ++row)
    for (std::int64_t column = 0; column < columns; ++column) put(matrix_, roots(row * column));
}

template <class T>
void FftPlan<T>::make_parts() {
  const std::int64_t columns = matrix_columns();
  second_ = std::make_unique<FftStages<T>>(columns);
  const Roots<Finer<T>> roots(key.length);
  for (std::int64_t column = 0; column < columns; column += kBlock)
    for (std::int64_t row = 0; row < matrix_rows_; ++row) put(coarse_, roots(row * column));
  for (std::int64_t row = 0; row < matrix_rows_; ++row)
    for (std::int64_t column = 0; column < kBlock; ++column) put(fine_, roots(row * column));
  Result<Scratch> middle = make_scratch(2 * key.length * static_cast<std::int64_t>(sizeof(T)));
  if (!middle) throw std::bad_alloc();
  middle_ = std::move(*middle);
}

/// With c[j] = exp(-pi i j^2 / n), what is wanted is c[k] times the convolution of x c with the conjugate of c.
template <class T>
void FftPlan<T>::make_convolution() {
  const std::int64_t n = key.length, m = fft_convolution_length(n);
  inner_ = std::make_unique<FftPlan>(FftKey{.length = m, .dtype = key.dtype, .form = key.form});
  const Roots<Finer<T>> roots(2 * n);
  for (std::int64_t j = 0; j < n; ++j) put(chirp_, roots(j * j % (2 * n)));
  const FftRows<T>& rows = fft_rows<T>();
  const FftPlan whole(FftKey{.length = m, .dtype = key.dtype, .form = FftForm::alone});
  OwnPlanes<T> data, spare;
  for (OwnPlanes<T>* planes : {&data, &spare}) {
    planes->re.assign(static_cast<std::size_t>(m), T(0));
    planes->im.assign(static_cast<std::size_t>(m), T(0));
  }
  const T part = T(1) / static_cast<T>(m);
  for (std::int64_t j = 0; j < n; ++j)
    for (const std::int64_t at : {j, (m - j) % m}) {
      data.re[static_cast<std::size_t>(at)] = chirp_.re[static_cast<std::size_t>(j)] * part;
      data.im[static_cast<std::size_t>(at)] = -chirp_.im[static_cast<std::size_t>(j)] * part;
    }
  const Planes<T> found = whole.run(rows, {data.re.data(), data.im.data()}, {spare.re.data(), spare.im.data()}, 1);
  kernel_.re.assign(found.re, found.re + m);
  kernel_.im.assign(found.im, found.im + m);
}

template <class T>
Planes<T> FftPlan<T>::run_convolution(const FftRows<T>& rows, Planes<T> data, Planes<T> spare,
                                      std::int64_t width) const noexcept {
  const std::int64_t n = key.length, m = inner_->key.length;
  rows.multiply(chirp_, data, n, width);
  std::fill_n(data.re + n * width, (m - n) * width, T(0));
  std::fill_n(data.im + n * width, (m - n) * width, T(0));
  const auto other = [&](const Planes<T>& now) { return now.re == data.re ? spare : data; };
  const Planes<T> spectrum = inner_->run(rows, data, spare, width);
  rows.multiply(kernel_, spectrum, m, width);
  // Backwards: with the planes in each other's places.
  const Planes<T> turned = spectrum.swapped(), free = other(spectrum).swapped();
  const Planes<T> back = inner_->run(rows, turned, free, width).swapped();
  rows.multiply(chirp_, back, n, width);
  return back;
}

template <class T>
Planes<T> FftPlan<T>::run(const FftRows<T>& rows, Planes<T> data, Planes<T> spare, std::int64_t width) const noexcept {
  if (inner_) return run_convolution(rows, data, spare, width);
  if (matrix_rows_ == 1) return first_.run(rows, data, spare, width);
  const std::int64_t columns = matrix_columns();
  const Planes<T> done = first_.run(rows, data, spare, columns);
  const Planes<T> turned = done.re == data.re ? spare : data;
  rows.multiply(matrix_, done, key.length, 1);
  constexpr std::int64_t kSize = sizeof(T);
  for (const auto& [from, to] : {std::pair{done.re, turned.re}, {done.im, turned.im}})
    copy_plane({.in = reinterpret_cast<const std::byte*>(from),
                .in_row = kSize,
                .in_column = columns * kSize,
                .out = reinterpret_cast<std::byte*>(to),
                .out_row = matrix_rows_ * kSize,
                .out_column = kSize,
                .rows = columns,
                .columns = matrix_rows_},
               kSize);
  return second_->run(rows, turned, done, matrix_rows_);
}

template class FftStages<float>;
template class FftStages<double>;
template class FftPlan<float>;
template class FftPlan<double>;

}  // namespace troupe::host

#include "troupe/backend/host/fft/fft_lines.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "troupe/backend/host/fft/fft_long_line.hpp"
#include "troupe/backend/host/fft/fft_move.hpp"

namespace troupe::host {
namespace {

/// From this length on a line whose numbers lie side by side is transformed alone.
constexpr std::int64_t kLeastAlone = 256;
/// Up to this length others are transformed together.
constexpr std::int64_t kMostTogether = 4096;
/// Fewer lines are not worth it.
constexpr std::int64_t kFewLines = 4;
/// Longer lines go through memory in parts.
constexpr std::int64_t kMostAlone = std::int64_t{1} << 15;

/// All lines of a pass, in an order in which neighbours lie close to each other.
class Lines {
 public:
  explicit Lines(const FftPass& pass) : in_(pass.in.data), out_(pass.out.data) {
    for (int i = 0; i < pass.out.shape.rank(); ++i) {
      if (i == pass.axis) continue;
      Loop loop{.extent = pass.out.shape[i],
                .in = pass.in.strides[i] * size_bytes(pass.in.dtype),
                .out = pass.out.strides[i] * size_bytes(pass.out.dtype)};
      count_ *= loop.extent;
      int at = rank_++;
      for (; at > 0 && std::abs(loops_[static_cast<std::size_t>(at - 1)].out) > std::abs(loop.out); --at)
        loops_[static_cast<std::size_t>(at)] = loops_[static_cast<std::size_t>(at - 1)];
      loops_[static_cast<std::size_t>(at)] = loop;
    }
  }
  std::int64_t count() const noexcept { return count_; }

  /// Calls `run(lane, in, in_step, out, out_step, number)` for lines `first` to before `first + number`, as many at
  /// once as have equal steps.
  template <class Run>
  void each(std::int64_t first, std::int64_t number, const Run& run) const noexcept {
    const Loop inner = rank_ > 0 ? loops_[0] : Loop{};
    for (std::int64_t lane = 0; lane < number;) {
      std::int64_t line = first + lane, in = 0, out = 0;
      const std::int64_t length = std::min(number - lane, inner.extent - line % inner.extent);
      for (int i = 0; i < rank_; ++i) {
        const Loop& loop = loops_[static_cast<std::size_t>(i)];
        in += line % loop.extent * loop.in;
        out += line % loop.extent * loop.out;
        line /= loop.extent;
      }
      run(lane, in_ + in, inner.in, out_ + out, inner.out, length);
      lane += length;
    }
  }

 private:
  struct Loop {
    std::int64_t extent = 1;
    std::int64_t in = 0;  // bytes from one to the next
    std::int64_t out = 0;
  };
  std::byte* in_;
  std::byte* out_;
  std::array<Loop, kMaxRank> loops_{};
  int rank_ = 0;
  std::int64_t count_ = 1;
};

/// Some lines of a pass in planes.
template <class T>
class LinesInPlanes {
 public:
  LinesInPlanes(const FftPass& pass, const FftPlan<T>& plan, const Lines& lines) noexcept
      : pass_(pass),
        plan_(plan),
        lines_(lines),
        in_step_(pass.in.strides[pass.axis] * size_bytes(pass.in.dtype)),
        out_step_(pass.out.strides[pass.axis] * size_bytes(pass.out.dtype)),
        factor_(static_cast<T>(pass.factor)) {}

  /// Numbers that two pairs of planes, and the space between them and memory, take.
  static std::int64_t numbers(const FftPass& pass, const FftPlan<T>& plan, std::int64_t width) noexcept {
    return 6 * rows(pass, plan) * width;
  }

  void run(T* memory, std::int64_t first, std::int64_t width) const noexcept {
    const std::int64_t plane = rows(pass_, plan_) * width;
    const Planes<T> one{memory, memory + plane}, two{memory + 2 * plane, memory + 3 * plane};
    T* const between = memory + 4 * plane;
    switch (pass_.line) {
      case FftLine::complex: return run_complex(first, width, one, two, between);
      case FftLine::to_half: return run_to_half(first, width, one, two, between);
      case FftLine::from_half: return run_from_half(first, width, one, two, between);
    }
  }

 private:
  static std::int64_t rows(const FftPass& pass, const FftPlan<T>& plan) noexcept {
    return std::max(plan.rows(), pass.length() / 2 + 1);
  }

  // Numbers of all lines, `rows` of each.

  void load(std::int64_t first, std::int64_t width, std::int64_t count, Planes<T> to, T* between) const noexcept {
    lines_.each(
        first, width,
        [&](std::int64_t lane, const std::byte* in, std::int64_t step, std::byte*, std::int64_t, std::int64_t number) {
          load_complex(rows_, Spread{const_cast<std::byte*>(in), in_step_, step}, count, lane, number, width, to,
                       between);
        });
    if (width > 1 && !goes_straight<T>({nullptr, in_step_, 0}))
      rows_.split(reinterpret_cast<const std::byte*>(between), to, count * width);
  }
  void give(std::int64_t first, std::int64_t width, std::int64_t count, Planes<const T> from,
            T* between) const noexcept {
    if (width > 1 && !goes_straight<T>({nullptr, out_step_, 0}))
      rows_.join(from, factor_, reinterpret_cast<std::byte*>(between), count * width);
    lines_.each(
        first, width,
        [&](std::int64_t lane, const std::byte*, std::int64_t, std::byte* out, std::int64_t step, std::int64_t number) {
          give_complex(rows_, Spread{out, out_step_, step}, count, lane, number, width, from, factor_, between);
        });
  }

  void run_complex(std::int64_t first, std::int64_t width, Planes<T> one, Planes<T> two, T* between) const noexcept {
    const std::int64_t length = plan_.key.length;
    if (pass_.is_inverse) one = one.swapped();
    load(first, width, length, one, between);
    if (pass_.is_inverse) one = one.swapped();
    Planes<T> done = plan_.run(rows_, one, two, width);
    give(first, width, length, pass_.is_inverse ? done.swapped() : done, between);
  }

  void run_to_half(std::int64_t first, std::int64_t width, Planes<T> one, Planes<T> two, T* between) const noexcept {
    const std::int64_t length = pass_.length(), half = length / 2;
    lines_.each(
        first, width,
        [&](std::int64_t lane, std::byte* in, std::int64_t step, std::byte*, std::int64_t, std::int64_t number) {
          if (plan_.key.is_half) {
            if (width == 1 && in_step_ == sizeof(T)) return rows_.split(in, one, half);
            move_rows<T>({in, 2 * in_step_, step}, half, lane, number, width, one.re);
            move_rows<T>({in + in_step_, 2 * in_step_, step}, half, lane, number, width, one.im);
          } else {
            move_rows<T>({in, in_step_, step}, length, lane, number, width, one.re);
          }
        });
    if (!plan_.key.is_half) std::fill_n(one.im, length * width, T(0));
    Planes<T> done = plan_.run(rows_, one, two, width);
    if (plan_.key.is_half) {
      const Planes<T> free = done.re == one.re ? two : one;
      rows_.to_half(done, plan_.half_roots(), free, half, width);
      done = free;
    }
    give(first, width, half + 1, done, between);
  }

  void run_from_half(std::int64_t first, std::int64_t width, Planes<T> one, Planes<T> two, T* between) const noexcept {
    const std::int64_t length = pass_.length(), half = length / 2;
    load(first, width, half + 1, one, between);
    if (plan_.key.is_half) {
      rows_.from_half(one, plan_.half_roots(), two, half, width);
      std::swap(one, two);
    } else {
      make_whole(one, length, width);
    }
    const Planes<T> done = plan_.run(rows_, one.swapped(), two.swapped(), width).swapped();
    const bool is_dense = plan_.key.is_half && width == 1 && out_step_ == sizeof(T);
    if (!is_dense && factor_ != T(1)) {
      const std::int64_t count = plan_.key.length * width;
      rows_.scale(factor_, done.re, count);
      if (plan_.key.is_half) rows_.scale(factor_, done.im, count);
    }
    lines_.each(
        first, width,
        [&](std::int64_t lane, std::byte*, std::int64_t, std::byte* out, std::int64_t step, std::int64_t number) {
          if (is_dense) return rows_.join(done, factor_, out, half);
          if (plan_.key.is_half) {
            give_rows<T>(done.re, {out, 2 * out_step_, step}, half, lane, number, width);
            give_rows<T>(done.im, {out + out_step_, 2 * out_step_, step}, half, lane, number, width);
          } else {
            give_rows<T>(done.re, {out, out_step_, step}, length, lane, number, width);
          }
        });
  }

  /// The other half of a spectrum of odd length.
  static void make_whole(Planes<T> data, std::int64_t length, std::int64_t width) noexcept {
    std::fill_n(data.im, width, T(0));
    for (std::int64_t row = length / 2 + 1; row < length; ++row)
      for (std::int64_t i = 0; i < width; ++i) {
        data.re[row * width + i] = data.re[(length - row) * width + i];
        data.im[row * width + i] = -data.im[(length - row) * width + i];
      }
  }

  const FftPass& pass_;
  const FftPlan<T>& plan_;
  const Lines& lines_;
  const std::int64_t in_step_;
  const std::int64_t out_step_;
  const T factor_;
  const FftRows<T>& rows_ = fft_rows<T>();
};

/// How the lines of a pass are transformed.
struct Way {
  FftKey key;
  std::int64_t width = 1;  // lines at once
};

Way way_of(const FftPass& pass, DType real, std::int64_t lines) noexcept {
  const std::int64_t length = pass.length();
  const bool is_half = pass.line != FftLine::complex && length % 2 == 0;
  Way way{.key = {.length = is_half ? length / 2 : length, .dtype = real, .form = FftForm::alone, .is_half = is_half}};
  const std::int64_t least = way.key.length;
  const std::int64_t rows = has_fft_stages(least) ? least : fft_convolution_length(least);
  const bool is_dense = pass.in.strides[pass.axis] == 1 && pass.out.strides[pass.axis] == 1;
  if (rows > kMostAlone && pass.line == FftLine::complex) {
    way.key.form = FftForm::in_parts;
  } else if (lines >= kFewLines && rows <= kMostTogether && !(is_dense && rows >= kLeastAlone)) {
    constexpr std::int64_t kPlaneBytes = 4096, kMostLines = 256;  // so that all planes stay in the nearest cache
    const std::int64_t vectors = 64 / size_bytes(real), numbers = kPlaneBytes / size_bytes(real);
    way.key.form = FftForm::together;
    way.width = std::min(lines, std::clamp(numbers / rows / vectors * vectors, vectors, kMostLines));
  }
  return way;
}

template <class T>
Result<void> transform(const FftPass& pass, const FftPlan<T>& plan, std::int64_t width, const Lines& lines,
                       Team& team) {
  if (plan.key.form == FftForm::in_parts) {
    for (std::int64_t line = 0; line < lines.count(); ++line) {
      Result<void> done;
      lines.each(line, 1, [&](std::int64_t, std::byte* in, std::int64_t, std::byte* out, std::int64_t, std::int64_t) {
        done = transform_long_line<T>({in, pass.in.strides[pass.axis] * size_bytes(pass.in.dtype), 0},
                                      {out, pass.out.strides[pass.axis] * size_bytes(pass.out.dtype), 0}, plan,
                                      pass.is_inverse, static_cast<T>(pass.factor), team);
      });
      TROUPE_TRY(std::move(done));
    }
    return {};
  }
  constexpr double kNsPerNumber = 2;
  const LinesInPlanes<T> planes(pass, plan, lines);
  const std::int64_t numbers = LinesInPlanes<T>::numbers(pass, plan, width);
  const std::int64_t blocks = (lines.count() + width - 1) / width;
  std::atomic<bool> has_memory{true};
  team.run(blocks, Grain::of_ns(kNsPerNumber * static_cast<double>(plan.rows() * width)),
           [&](std::int64_t begin, std::int64_t end) noexcept {
             const Result<Scratch> memory = make_scratch(numbers * static_cast<std::int64_t>(sizeof(T)));
             if (!memory) return has_memory.store(false);
             for (; begin < end; ++begin) {
               const std::int64_t first = begin * width;
               planes.run(reinterpret_cast<T*>(memory->get()), first, std::min(width, lines.count() - first));
             }
           });
  if (has_memory) return {};
  return fail(ErrorKind::out_of_memory,
              "no memory for " + std::to_string(numbers) + " numbers of scratch space of a transform");
}

}  // namespace

Result<void> transform_lines(const FftPass& pass, FftPlans& plans, Team& team) {
  const Lines lines(pass);
  if (lines.count() == 0) return {};
  const DType real = detail::real_type(pass.out.dtype);
  const Way way = way_of(pass, real, lines.count());
  const auto run = [&]<class T>(std::type_identity<T>) -> Result<void> {
    std::unique_ptr<FftPlan<T>> plan = plans.take<T>(way.key);
    TROUPE_TRY(transform<T>(pass, *plan, way.width, lines, team));
    plans.keep(std::move(plan));
    return {};
  };
  return real == DType::f64 ? run(std::type_identity<double>{}) : run(std::type_identity<float>{});
}

}  // namespace troupe::host

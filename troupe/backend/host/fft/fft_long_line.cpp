#include "troupe/backend/host/fft/fft_long_line.hpp"

#include <algorithm>
#include <atomic>
#include <string>

namespace troupe::host {
namespace {

constexpr double kNsPerNumber = 3;

/// Calls `work(memory, block)` for each of `blocks` blocks with `numbers` numbers of scratch memory.
template <class T, class Work>
Result<void> each_block(Team& team, std::int64_t blocks, std::int64_t numbers, const Work& work) {
  std::atomic<bool> has_memory{true};
  team.run(blocks, Grain::of_ns(kNsPerNumber * static_cast<double>(numbers)),
           [&](std::int64_t begin, std::int64_t end) noexcept {
             const Result<Scratch> memory = make_scratch(6 * numbers * static_cast<std::int64_t>(sizeof(T)));
             if (!memory) return has_memory.store(false);
             for (; begin < end; ++begin) work(reinterpret_cast<T*>(memory->get()), begin);
           });
  if (has_memory) return {};
  return fail(ErrorKind::out_of_memory,
              "no memory for " + std::to_string(6 * numbers) + " numbers of scratch space of a transform");
}

template <class T>
struct BlockMemory {
  BlockMemory(T* memory, std::int64_t numbers) noexcept
      : one{memory, memory + numbers}, two{memory + 2 * numbers, memory + 3 * numbers}, between(memory + 4 * numbers) {}
  Planes<T> one;
  Planes<T> two;
  T* between;
};

/// Of a line that has stages.
template <class T>
Result<void> transform_in_parts(const Spread& in, const Spread& out, const FftPlan<T>& plan, bool is_inverse, T factor,
                                Team& team) {
  constexpr std::int64_t kBlock = FftPlan<T>::kBlock;
  const FftRows<T>& loops = fft_rows<T>();
  const std::int64_t rows = plan.matrix_rows(), columns = plan.matrix_columns();
  const Planes<T> middle = plan.middle();  // [column, row]
  TROUPE_TRY(each_block<T>(team, (columns + kBlock - 1) / kBlock, rows * kBlock, [&](T* scratch, std::int64_t block) {
    BlockMemory<T> memory(scratch, rows * kBlock);
    const std::int64_t first = block * kBlock, width = std::min(kBlock, columns - first);
    const Planes<T> to = is_inverse ? memory.one.swapped() : memory.one;
    load_complex<T>(loops, {in.first + first * in.row, columns * in.row, in.row}, rows, 0, width, width, to,
                    memory.between);
    if (width > 1) loops.split(reinterpret_cast<const std::byte*>(memory.between), to, rows * width);
    const Planes<T> done = plan.columns().run(loops, memory.one, memory.two, width);
    if (width == kBlock) {
      loops.twist(plan.coarse(block), plan.fine(), done, rows, width);
    } else {
      for (std::int64_t row = 0; row < rows; ++row) {
        const Planes<const T> coarse = plan.coarse(block), fine = plan.fine();
        loops.twist({coarse.re + row, coarse.im + row}, {fine.re + row * kBlock, fine.im + row * kBlock},
                    {done.re + row * width, done.im + row * width}, 1, width);
      }
    }
    constexpr std::int64_t kSize = sizeof(T);
    give_rows<T>(done.re, {reinterpret_cast<std::byte*>(middle.re + first * rows), kSize, rows * kSize}, rows, 0, width,
                 width);
    give_rows<T>(done.im, {reinterpret_cast<std::byte*>(middle.im + first * rows), kSize, rows * kSize}, rows, 0, width,
                 width);
  }));
  return each_block<T>(team, (rows + kBlock - 1) / kBlock, columns * kBlock, [&](T* scratch, std::int64_t block) {
    BlockMemory<T> memory(scratch, columns * kBlock);
    const std::int64_t first = block * kBlock, width = std::min(kBlock, rows - first);
    constexpr std::int64_t kSize = sizeof(T);
    move_rows<T>({reinterpret_cast<std::byte*>(middle.re + first), rows * kSize, kSize}, columns, 0, width, width,
                 memory.one.re);
    move_rows<T>({reinterpret_cast<std::byte*>(middle.im + first), rows * kSize, kSize}, columns, 0, width, width,
                 memory.one.im);
    Planes<T> done = plan.across().run(loops, memory.one, memory.two, width);
    if (is_inverse) done = done.swapped();
    if (width > 1) loops.join(done, factor, reinterpret_cast<std::byte*>(memory.between), columns * width);
    give_complex<T>(loops, {out.first + first * out.row, rows * out.row, out.row}, columns, 0, width, width, done,
                    factor, memory.between);
  });
}

/// Of a line that has none: its numbers times the chirp, followed by zeros, there and back.
template <class T>
Result<void> transform_by_convolution(const Spread& in, const Spread& out, const FftPlan<T>& plan, bool is_inverse,
                                      T factor, Team& team) {
  const FftRows<T>& loops = fft_rows<T>();
  const std::int64_t n = plan.key.length, m = plan.inner()->key.length;
  constexpr std::int64_t kSize = 2 * sizeof(T);
  const Scratch memory = TROUPE_TRY(make_scratch((m + n) * kSize + m * kSize));
  std::byte* const line = memory.get();
  T* const numbers = reinterpret_cast<T*>(memory.get() + m * kSize);
  const Planes<T> planes{numbers, numbers + m};
  const Planes<T> turned = is_inverse ? planes.swapped() : planes;
  const Spread all{line, kSize, 0};
  T* const between = numbers + 2 * m;
  load_complex<T>(loops, in, n, 0, 1, 1, turned, between);
  loops.multiply(plan.chirp(), planes, n, 1);
  loops.join(planes, T(1), line, n);
  std::fill(line + n * kSize, line + m * kSize, std::byte{0});
  TROUPE_TRY(transform_in_parts<T>(all, all, *plan.inner(), false, T(1), team));
  loops.split(line, planes, m);
  loops.multiply(plan.kernel(), planes, m, 1);
  loops.join(planes, T(1), line, m);
  TROUPE_TRY(transform_in_parts<T>(all, all, *plan.inner(), true, T(1), team));
  loops.split(line, planes, n);
  loops.multiply(plan.chirp(), planes, n, 1);
  give_complex<T>(loops, out, n, 0, 1, 1, turned, factor, between);
  return {};
}

}  // namespace

template <class T>
Result<void> transform_long_line(const Spread& in, const Spread& out, const FftPlan<T>& plan, bool is_inverse, T factor,
                                 Team& team) {
  if (plan.inner()) return transform_by_convolution(in, out, plan, is_inverse, factor, team);
  return transform_in_parts(in, out, plan, is_inverse, factor, team);
}
template Result<void> transform_long_line(const Spread&, const Spread&, const FftPlan<float>&, bool, float, Team&);
template Result<void> transform_long_line(const Spread&, const Spread&, const FftPlan<double>&, bool, double, Team&);

}  // namespace troupe::host

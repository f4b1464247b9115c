// Scans. A row is cut into blocks. The total of a block is found before its elements are written, so that only the
// totals wait for each other; and in a block several pieces are scanned side by side for the same reason. Blocks and
// pieces follow from the length of the row, so every team gives the same bits.
#include <atomic>
#include <thread>

#include "troupe/backend/host/primitives/primitives_functions.hpp"
#include "troupe/backend/host/primitives/primitives_ops.hpp"
#include "troupe/backend/host/primitives/primitives_rows.hpp"
#include "troupe/backend/host/primitives/primitives_scan_rows.hpp"

namespace troupe::host {
namespace {

/// Elements of a block: some hundred kilobytes, that are still in a core's cache when they are read again.
constexpr std::int64_t kScanBlock = 32768;
/// Results that are larger than this are not read soon, wherever they are written.
constexpr std::int64_t kLongResult = std::int64_t{8} << 20;

/// Waits a short time for a thread that is at work.
class ShortWait {
 public:
  void operator()() noexcept {
    if (++turns_ % 64 == 0) std::this_thread::yield();
  }

 private:
  int turns_ = 0;
};

/// What goes through rows knows neither function nor type, so it is compiled once and not for each pair of them.
class AnyRowScan {
 public:
  /// In this thread.
  virtual void run_alone(const Row& x, const Row& y) const noexcept = 0;
  /// By the team.
  virtual void run(const Row& x, const Row& y, Team& team) const noexcept = 0;
  /// Rows that lie across each other, together. `along` and `across` are steps of x and y.
  virtual void run_across(const Pointers<2>& at, const Steps<2>& along, const Steps<2>& across, std::int64_t length,
                          std::int64_t rows) const noexcept = 0;

 protected:
  ~AnyRowScan() = default;
};

template <Combine function, class H>
class RowScan final : public AnyRowScan {
 public:
  RowScan(bool exclusive, DType in, DType out) noexcept : scan_(exclusive, in, out) {}

  void run_alone(const Row& x, const Row& y) const noexcept override {
    const bool is_long = is_long_result(x);
    H carry = primitives::neutral<function, H>();
    for (std::int64_t begin = 0; begin < x.count; begin += kScanBlock) {
      const std::int64_t end = std::min(begin + kScanBlock, x.count);
      carry = primitives::combine<function>(carry, scan_.scan(x.part(begin, end), y.part(begin, end), carry, is_long));
    }
  }
  void run(const Row& x, const Row& y, Team& team) const noexcept override {
    const std::int64_t blocks = (x.count - 1) / kScanBlock + 1;
    if (blocks < 2 || team.size() == 1) return run_alone(x, y);
    const bool is_long = is_long_result(x);
    // Blocks are begun in their order, whoever begins them, so that the one that another waits for is at work.
    std::atomic<std::int64_t> begun{0};
    alignas(64) std::atomic<std::int64_t> passed{0};
    H carry = primitives::neutral<function, H>();
    team.run(blocks, Grain::of_items(1), [&](std::int64_t first, std::int64_t last) noexcept {
      for (; first < last; ++first) {
        const std::int64_t block = begun.fetch_add(1, std::memory_order_relaxed);
        const std::int64_t begin = block * kScanBlock, end = std::min(begin + kScanBlock, x.count);
        const H total = scan_.total(x.part(begin, end));
        ShortWait wait;
        while (passed.load(std::memory_order_acquire) != block) wait();
        const H mine = carry;
        carry = primitives::combine<function>(mine, total);
        passed.store(block + 1, std::memory_order_release);
        scan_.scan(x.part(begin, end), y.part(begin, end), mine, is_long);
      }
    });
  }

  void run_across(const Pointers<2>& at, const Steps<2>& along, const Steps<2>& across, std::int64_t length,
                  std::int64_t rows) const noexcept override {
    for (std::int64_t done = 0; done < rows; done += ScanRows<function, H>::kAcross)
      scan_.scan_across({at[0] + done * across[0], along[0], length}, across[0],
                        {at[1] + done * across[1], along[1], length}, across[1],
                        std::min(ScanRows<function, H>::kAcross, rows - done));
  }

 private:
  static bool is_long_result(const Row& x) noexcept {
    return x.count >= kLongResult / static_cast<std::int64_t>(sizeof(H));
  }

  ScanRows<function, H> scan_;
};

/// The axis along which elements of both lie nearer to each other than along the rows; -1 when there is none that is
/// long enough.
int find_axis_across(const HostView& x, const HostView& y) noexcept {
  constexpr std::int64_t kLeast = 8;
  const int last = x.shape.rank() - 1;
  int found = -1;
  for (int i = 0; i < last; ++i) {
    const bool is_nearer = std::abs(x.strides[i]) < std::abs(x.strides[last]) && x.strides[i] != 0 &&
                           std::abs(y.strides[i]) < std::abs(y.strides[last]);
    if (is_nearer && x.shape[i] >= kLeast && (found < 0 || std::abs(y.strides[i]) < std::abs(y.strides[found])))
      found = i;
  }
  return found;
}

void scan_across(const HostView& x, const HostView& y, int axis, Team& team, const AnyRowScan& scan) {
  constexpr std::int64_t kStrip = 64;  // rows that a thread takes at least
  const std::int64_t x_size = size_bytes(x.dtype), y_size = size_bytes(y.dtype);
  NestOf<2> others;
  for (int i = x.shape.rank() - 2; i >= 0; --i)
    if (i != axis) others.add(x.shape[i], {x.strides[i] * x_size, y.strides[i] * y_size});
  const Steps<2> along{step_of(x), step_of(y)};
  const Steps<2> across{x.strides[axis] * x_size, y.strides[axis] * y_size};
  const std::int64_t rows = x.shape[axis];
  const std::int64_t strips = std::max<std::int64_t>(rows / kStrip, 1);
  const std::int64_t bytes = length_of(x) * (rows / strips) * (x_size + y_size);
  team.run(others.places() * strips, Grain::of_bytes(bytes), [&](std::int64_t begin, std::int64_t end) noexcept {
    while (begin < end) {
      // Neighbouring strips go together, as far as this part has them.
      const std::int64_t place = begin / strips;
      const std::int64_t last = std::min(end, (place + 1) * strips);
      const std::int64_t first_row = part_begin(rows, begin % strips, strips);
      const std::int64_t last_row = last % strips == 0 ? rows : part_begin(rows, last % strips, strips);
      others.run({x.data, y.data}, place, place + 1, [&](Pointers<2> at) {
        at[0] += first_row * across[0];
        at[1] += first_row * across[1];
        scan.run_across(at, along, across, length_of(x), last_row - first_row);
      });
      begin = last;
    }
  });
}

template <class F>
void with_scan(Combine function, DType in, DType out, bool exclusive, const F& f) {
  with_combine(function, out,
               [&]<Combine known, class Out>(std::integral_constant<Combine, known>, std::type_identity<Out>) {
                 f(RowScan<known, primitives::Held<Out>>(exclusive, in, out));
               });
}

}  // namespace

Result<void> run_op(const op::PrimitivesScan& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  if (y.data == nullptr) return {};
  Team& team = here.team();
  const int across = find_axis_across(x, y);
  const RowsOf<2> rows({&x, &y}, x.shape.rank());
  const auto row = [](const HostView& view, std::byte* at) { return Row{at, step_of(view), length_of(view)}; };
  with_scan(op.function, x.dtype, y.dtype, op.exclusive, [&](const AnyRowScan& scan) {
    if (across >= 0) return scan_across(x, y, across, team, scan);
    if (rows.number() < 2 * team.size() && length_of(x) >= 2 * kScanBlock)
      return rows.run(0, rows.number(),
                      [&](std::int64_t, const Pointers<2>& at) { scan.run(row(x, at[0]), row(y, at[1]), team); });
    const std::int64_t bytes = (size_bytes(x.dtype) + size_bytes(y.dtype)) * length_of(x);
    team.run(rows.number(), Grain::of_bytes(bytes), [&](std::int64_t begin, std::int64_t end) noexcept {
      rows.run(begin, end, [&](std::int64_t, const Pointers<2>& at) { scan.run_alone(row(x, at[0]), row(y, at[1])); });
    });
  });
  return {};
}

Result<void> run_op(const op::PrimitivesSegmentedScan& op, const HostViews& here) {
  constexpr std::int64_t kLong = 8 * kScanBlock;
  Team& team = here.team();
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  const Offsets offsets = TROUPE_TRY(Offsets::read(here(op.offsets), x.shape[0], team));
  if (!is_well(offsets.found(), op.verdict, here) || y.data == nullptr) return {};
  const Row x_row = row_of(x);
  const Row y_row = row_of(y);
  Result<void> done;
  with_scan(op.function, x.dtype, y.dtype, op.exclusive, [&](const AnyRowScan& scan) {
    done = offsets.each_part(team, Grain::of_ns(1), [&](std::int64_t begin, std::int64_t end) -> Result<void> {
      for (; begin < end; ++begin)
        if (const std::int64_t count = offsets[begin + 1] - offsets[begin]; count > 0 && count < kLong)
          scan.run_alone(x_row.part(offsets[begin], offsets[begin + 1]),
                         y_row.part(offsets[begin], offsets[begin + 1]));
      return {};
    });
    for (std::int64_t i = 0; i < offsets.segments(); ++i)
      if (offsets[i + 1] - offsets[i] >= kLong)
        scan.run(x_row.part(offsets[i], offsets[i + 1]), y_row.part(offsets[i], offsets[i + 1]), team);
  });
  return done;
}

}  // namespace troupe::host

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

/// Waits a short time for a thread that is at work.
class ShortWait {
 public:
  void operator()() noexcept {
    if (++turns_ % 64 == 0) std::this_thread::yield();
  }

 private:
  int turns_ = 0;
};

template <Combine function, class H>
class RowScan {
 public:
  RowScan(bool exclusive, DType in, DType out) noexcept : scan_(exclusive, in, out) {}

  void run_alone(const Row& x, const Row& y) const noexcept {
    H carry = primitives::neutral<function, H>();
    for (std::int64_t begin = 0; begin < x.count; begin += kScanBlock) {
      const std::int64_t end = std::min(begin + kScanBlock, x.count);
      carry = primitives::combine<function>(carry, scan_.scan(x.part(begin, end), y.part(begin, end), carry));
    }
  }
  void run(const Row& x, const Row& y, Team& team) const noexcept {
    const std::int64_t blocks = (x.count - 1) / kScanBlock + 1;
    if (blocks < 2 || team.size() == 1) return run_alone(x, y);
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
        scan_.scan(x.part(begin, end), y.part(begin, end), mine);
      }
    });
  }

 private:
  ScanRows<function, H> scan_;
};

template <class F>
void with_scan(Combine function, DType in, DType out, bool exclusive, const F& f) {
  with_combine(function, out, [&]<Combine known, class Out>(std::integral_constant<Combine, known>,
                                                            std::type_identity<Out>) {
    f(RowScan<known, primitives::Held<Out>>(exclusive, in, out));
  });
}

}  // namespace

Result<void> run_op(const op::PrimitivesScan& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  if (y.data == nullptr) return {};
  Team& team = here.team();
  const RowsOf<2> rows({&x, &y}, x.shape.rank());
  const auto row = [](const HostView& view, std::byte* at) { return Row{at, step_of(view), length_of(view)}; };
  with_scan(op.function, x.dtype, y.dtype, op.exclusive, [&](const auto& scan) {
    if (rows.number() < 2 * team.size() && length_of(x) >= 2 * kScanBlock)
      return rows.run(0, rows.number(),
                      [&](std::int64_t, const Pointers<2>& at) { scan.run(row(x, at[0]), row(y, at[1]), team); });
    const std::int64_t bytes = (size_bytes(x.dtype) + size_bytes(y.dtype)) * length_of(x);
    team.run(rows.number(), Grain::of_bytes(bytes), [&](std::int64_t begin, std::int64_t end) noexcept {
      rows.run(begin, end,
               [&](std::int64_t, const Pointers<2>& at) { scan.run_alone(row(x, at[0]), row(y, at[1])); });
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
  with_scan(op.function, x.dtype, y.dtype, op.exclusive, [&](const auto& scan) {
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

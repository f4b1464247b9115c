// Dropout: which elements are left out is drawn again wherever it is needed, from seed and position.
#include "troupe/backend/host/dnn/dnn_drops.hpp"
#include "troupe/backend/host/dnn/dnn_numbers.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/op/dnn_lookup.hpp"

namespace troupe::host {

Result<void> run_op(const op::DnnDropout& op, const HostViews& here) {
  constexpr double kNs = 2.5;  // of an element
  const std::array views{here(op.x), here(op.y)};
  const Drops drops(op.source, op.probability);
  with_numbers(op.x.dtype, [&]<class C>(std::type_identity<C>) {
    here.team().run(op::element_count(op.x), Grain::of_ns(kNs), [&](std::int64_t begin, std::int64_t end) noexcept {
      each_piece<C, 1>(views, begin, end,
                       [&](const std::array<C*, 2>& numbers, std::int64_t first, std::int64_t count) {
                         drops.apply(static_cast<std::uint64_t>(first), numbers[0], numbers[1], count);
                       });
    });
  });
  return {};
}

}  // namespace troupe::host

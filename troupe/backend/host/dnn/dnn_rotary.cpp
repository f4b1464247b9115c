// Rotary embedding: pairs of numbers turned by angles that depend on the token's place.
#include <cmath>

#include "troupe/backend/host/dnn/dnn_numbers.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/op/dnn_attention.hpp"
#include "troupe/op/training_functions.hpp"

namespace troupe::host {

Result<void> run_op(const op::DnnRotary& op, const HostViews& here) {
  const HostView x = here(op.x), y = here(op.y);
  if (y.data == nullptr) return {};
  const int rank = x.shape.rank();
  const std::int64_t width = length_of(x), pairs = width / 2, tokens = x.shape[rank - 2];
  const RowsOf<2> rows({&x, &y}, rank);
  const OrderedRows positions(op.has_positions ? here(op.positions) : x);
  const auto place_of = [&](std::int64_t row) {
    if (!op.has_positions) return op.first + row % tokens;
    const std::byte* const at = positions.piece(row, 1).at;
    return op.positions.dtype == DType::i32 ? std::int64_t{load<std::int32_t>(at)} : load<std::int64_t>(at);
  };
  return with_numbers(x.dtype, [&]<class C>(std::type_identity<C>) {
    constexpr double kNsOfPair = 20;
    const Grain grain = Grain::of_ns(kNsOfPair * static_cast<double>(pairs + 1));
    return each_part(here.team(), rows.number(), grain, [&](std::int64_t begin, std::int64_t end) -> Result<void> {
      const auto buffers = TROUPE_TRY(NumberBuffers<C>::make(2, width));
      rows.run(begin, end, [&](std::int64_t row, const Pointers<2>& at) {
        read_numbers(x.dtype, at[0], step_of(x), buffers[0], width);
        for (std::int64_t i = 0; i < pairs; ++i) {
          const auto turn = dnn::turn_of<C>(place_of(row), i, width, op.base, op.backward);
          const std::int64_t a = op.interleaved ? 2 * i : i, b = op.interleaved ? 2 * i + 1 : i + pairs;
          buffers[1][a] = buffers[0][a] * turn.cosine - buffers[0][b] * turn.sine;
          buffers[1][b] = buffers[0][b] * turn.cosine + buffers[0][a] * turn.sine;
        }
        write_numbers(y.dtype, buffers[1], at[1], step_of(y), width);
      });
      return {};
    });
  });
}

}  // namespace troupe::host

// Rows of a table by indices. Indices are looked at first, all of them, so that nothing is written when one is outside.
#include "troupe/backend/host/dnn/dnn_numbers.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/op/dnn_lookup.hpp"

namespace troupe::host {
namespace {

/// Bytes of a row of a table.
std::int64_t row_bytes(const HostView& rows) noexcept { return length_of(rows) * size_bytes(rows.dtype); }

/// Which places have which index, in their order: places[starts[i]] to before places[starts[i + 1]] have index i.
class PlacesByIndex {
 public:
  static Result<PlacesByIndex> make(const DnnIndices& indices, std::int64_t bound) {
    PlacesByIndex made;
    made.memory_ = TROUPE_TRY(make_scratch((bound + 1 + indices.count()) * std::int64_t{sizeof(std::int64_t)}));
    std::int64_t* const starts = made.data();
    std::fill_n(starts, bound + 1, 0);
    for (std::int64_t i = 0; i < indices.count(); ++i) ++starts[indices[i]];
    std::int64_t before = 0;
    for (std::int64_t i = 0; i <= bound; ++i) before += std::exchange(starts[i], before);
    made.places_ = starts + bound + 1;
    for (std::int64_t i = 0; i < indices.count(); ++i) made.places_[starts[indices[i]]++] = i;
    std::shift_right(starts, starts + bound + 1, 1);  // each start has become the next one
    starts[0] = 0;
    return made;
  }
  std::span<const std::int64_t> operator[](std::int64_t index) const noexcept {
    return {places_ + data()[index], places_ + data()[index + 1]};
  }

 private:
  std::int64_t* data() const noexcept { return reinterpret_cast<std::int64_t*>(memory_.get()); }
  Scratch memory_;
  std::int64_t* places_ = nullptr;
};

/// One row of the table's gradient: the sum of rows of dy, kept as numbers.
template <class C>
void sum_rows(const HostView& dy, const RowsOf<1>& rows, std::span<const std::int64_t> places, C* row, C* sum,
              std::int64_t width) noexcept {
  std::fill_n(sum, width, C(0));
  for (const std::int64_t place : places) {
    const C* const slopes = numbers_of(dy.dtype, rows.at(place)[0], step_of(dy), row, width);
    for (std::int64_t i = 0; i < width; ++i) sum[i] += slopes[i];
  }
}

}  // namespace

Result<void> run_op(const op::DnnEmbedding& op, const HostViews& here) {
  const HostView table = here(op.table), y = here(op.y);
  const DnnIndices indices =
      TROUPE_TRY(DnnIndices::read(here(op.indices), DnnFault::index_outside, op.table.shape[0], -1, here.team()));
  if (!is_well(indices.found(), op.verdict, here) || y.data == nullptr) return {};
  const RowsOf<1> rows({&y}, y.shape.rank());
  const std::int64_t size = size_bytes(y.dtype), width = length_of(y);
  here.team().run(indices.count(), Grain::of_bytes(2 * row_bytes(y)),
                  [&](std::int64_t begin, std::int64_t end) noexcept {
                    rows.run(begin, end, [&](std::int64_t place, const Pointers<1>& at) {
                      copy_plane({.in = table.data + indices[place] * table.strides[0] * size,
                                  .in_column = step_of(table),
                                  .out = at[0],
                                  .out_column = step_of(y),
                                  .rows = 1,
                                  .columns = width},
                                 size);
                    });
                  });
  return {};
}

Result<void> run_op(const op::DnnEmbeddingGradient& op, const HostViews& here) {
  const HostView dy = here(op.dy), dtable = here(op.dtable);
  const std::int64_t bound = op.dtable.shape[0];
  const DnnIndices indices =
      TROUPE_TRY(DnnIndices::read(here(op.indices), DnnFault::index_outside, bound, -1, here.team()));
  if (!is_well(indices.found(), op.verdict, here) || dtable.data == nullptr) return {};
  const PlacesByIndex places = TROUPE_TRY(PlacesByIndex::make(indices, bound));
  const RowsOf<1> rows({&dy}, dy.shape.rank());
  const std::int64_t width = length_of(dtable);
  const std::int64_t bytes = row_bytes(dtable) * (1 + indices.count() / bound);
  return with_numbers(dtable.dtype, [&]<class C>(std::type_identity<C>) {
    return each_part(
        here.team(), bound, Grain::of_bytes(bytes), [&](std::int64_t begin, std::int64_t end) -> Result<void> {
          const auto buffers = TROUPE_TRY(NumberBuffers<C>::make(2, width));
          for (std::int64_t i = begin; i < end; ++i) {
            const auto mine = i == op.padding ? std::span<const std::int64_t>() : places[i];
            sum_rows(dy, rows, mine, buffers[0], buffers[1], width);
            write_numbers(dtable.dtype, buffers[1], dtable.data + i * dtable.strides[0] * size_bytes(dtable.dtype),
                          step_of(dtable), width);
          }
          return {};
        });
  });
}

}  // namespace troupe::host

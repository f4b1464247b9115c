#include "troupe/backend/host/primitives/primitives_rows.hpp"

namespace troupe::host {
namespace {

PrimitivesFinding find_fall(const std::int64_t* offsets, std::int64_t begin, std::int64_t end) noexcept {
  for (std::int64_t i = std::max<std::int64_t>(begin, 1); i < end; ++i)
    if (offsets[i] < offsets[i - 1])
      return {.fault = PrimitivesFault::offset_falls, .place = i, .value = offsets[i], .bound = offsets[i - 1]};
  return {};
}

}  // namespace

Result<Offsets> Offsets::read(const HostView& view, std::int64_t elements, Team& team) {
  Offsets made;
  const Row row = row_of(view);
  made.count_ = row.count;
  made.memory_ = TROUPE_TRY(make_scratch(row.count * std::int64_t{sizeof(std::int64_t)}));
  auto* const offsets = reinterpret_cast<std::int64_t*>(made.memory_.get());
  const Grain grain = Grain::of_bytes(16);
  with_index(view.dtype, [&]<class I>(std::type_identity<I>) {
    team.run(row.count, grain, [&](std::int64_t begin, std::int64_t end) noexcept {
      for (; begin < end; ++begin) offsets[begin] = load<I>(row[begin]);
    });
  });
  if (offsets[0] != 0) {
    made.found_ = {.fault = PrimitivesFault::first_offset, .value = offsets[0]};
    return made;
  }
  made.found_ = team.reduce(
      row.count, grain, PrimitivesFinding{},
      [&](std::int64_t begin, std::int64_t end) noexcept { return find_fall(offsets, begin, end); }, earlier);
  const std::int64_t last = row.count - 1;
  if (made.found_.fault == PrimitivesFault::none && offsets[last] != elements)
    made.found_ = {.fault = PrimitivesFault::last_offset, .place = last, .value = offsets[last], .bound = elements};
  return made;
}

}  // namespace troupe::host

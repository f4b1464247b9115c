#include "troupe/op/table.hpp"

#include "troupe/op/check.hpp"
#include "troupe/op/families.hpp"
#include "troupe/wire/channel.hpp"

namespace troupe::inline v0::op {

#define TROUPE_FAMILY(name, lane) extern const FamilyOps name##_ops;
TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY

namespace {

constexpr std::array kFamilies{
#define TROUPE_FAMILY(name, lane) &name##_ops,
    TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY
};

#define TROUPE_FAMILY(name, lane) static_assert((lane) < wire::kMaxLanes);
TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY

Unexpected no_header(bool is_whole, std::uint16_t version) {
  if (!is_whole) return fail(ErrorKind::invalid_argument, "the record is too short to be an op");
  return fail(ErrorKind::invalid_argument, "the record has op version " + std::to_string(version) +
                                               "; it must have version " + std::to_string(wire::kOpVersion));
}

Unexpected writes_itself_twice(const OpInfo& info, const ViewUse& use) {
  const std::string name(use.name);
  return fail(ErrorKind::invalid_argument, std::string(info.call()) + " would write " + name + ", and elements of " +
                                               name + " overlap each other: its shape is " +
                                               use.view->shape.to_string() + ", its strides are " +
                                               use.view->strides.to_string());
}

/// Nothing is written through a view whose elements overlap each other, or that overlaps another view, unless the op
/// may work in place, the views are the same and one of them is read: then it updates that array.
Result<void> check_overlaps(const OpInfo& info, const Views& views, Toucher& toucher) {
  const std::span<const Touch> touches = toucher.touches().all();
  const auto view_of = [&](const Touch& touch) -> const ViewUse& { return views.all()[touch.view]; };
  for (std::size_t mine = 0; mine < touches.size(); ++mine) {
    const Touch& touch = touches[mine];
    if (touch.writes && !touch.whole && may_overlap_itself(*view_of(touch).view))  // a whole one has no overlaps
      return writes_itself_twice(info, view_of(touch));
    for (std::size_t before = 0; before < mine; ++before) {
      const Touch& other = touches[before];
      if ((!touch.writes && !other.writes) || !other.range.overlaps(touch.range)) [[likely]]
        continue;
      if (info.takes_in_place && (touch.reads || other.reads) && *view_of(other).view == *view_of(touch).view)
        toucher.reads_too(touch.writes ? mine : before);
      else
        TROUPE_TRY(check_apart(info.call(), {argument_name(views, other.view), *view_of(other).view},
                               {argument_name(views, touch.view), *view_of(touch).view}));
    }
  }
  return {};
}

}  // namespace

std::span<const FamilyOps* const> families() noexcept { return kFamilies; }

const OpInfo* find_op(Kind kind) noexcept {
  const std::size_t family = family_number(kind);
  if (family >= kFamilies.size()) return nullptr;
  const std::span<const OpInfo> ops = kFamilies[family]->ops;
  const std::size_t number = number_in_family(kind);
  return number < ops.size() ? &ops[number] : nullptr;
}

std::string name_of(Kind kind) {
  const OpInfo* const info = find_op(kind);
  return info ? std::string(info->name) : "kind " + std::to_string(kind);
}

Result<void> examine(const OpInfo& info, const void* op, const Views& views, Toucher& toucher) {
  if (const Result<void> good = toucher.add(views); !good) [[unlikely]]
    return fail(good.error().kind(), std::string(info.call()) + ": " + std::string(good.error().message()));
  TROUPE_TRY(info.check(op));
  return check_overlaps(info, views, toucher);
}

void encode(const OpInfo& info, const void* op, wire::Writer& out) {
  out.put(wire::kOpVersion);
  out.put(info.kind);
  info.encode(op, out);
}

Result<void> AnyOp::decode(std::span<const std::byte> bytes) {
  clear();
  wire::Reader in(bytes);
  const auto version = in.get<std::uint16_t>();
  const auto kind = in.get<Kind>();
  if (!in.ok() || version != wire::kOpVersion) [[unlikely]]
    return no_header(in.ok(), version);
  const OpInfo* const info = find_op(kind);
  if (!info) return fail(ErrorKind::invalid_argument, "the record has " + name_of(kind) + "; there is no such op");
  info->decode(place(), in);
  info_ = info;
  if (in.finished()) [[likely]]
    return {};
  clear();
  return fail(ErrorKind::invalid_argument,
              "the record of " + name_of(kind) + " is corrupt: it ends early or late, or a field has no valid value");
}

std::vector<std::byte> AnyOp::encoded() const {
  wire::Writer out;
  encode(info(), get(), out);
  return {out.bytes().begin(), out.bytes().end()};
}

}  // namespace troupe::inline v0::op

// How a family registers its ops. In the family's own file:
//
//   const FamilyOps blas_ops = register_ops("blas", BlasOps{});
//
// Everything the table knows of an op is made here, of its `describe`, its `check` and, where it has one, its `work`.
// Included by those files alone.
#pragma once

#include "troupe/op/fields.hpp"
#include "troupe/op/table.hpp"

namespace troupe::inline v0::op {

template <class Op>
constexpr OpInfo make_info() {
  static_assert(sizeof(Op) <= kMaxOpObjectBytes && alignof(Op) <= 16, "an op must fit into an AnyOp");
  static_assert(std::is_nothrow_move_constructible_v<Op>);
  return {.kind = Op::kKind,
          .name = Op::kName,
          .construct = [](void* place) { ::new (place) Op; },
          .destroy =
              std::is_trivially_destructible_v<Op> ? nullptr : +[](void* op) noexcept { static_cast<Op*>(op)->~Op(); },
          .move =
              [](void* from, void* place) noexcept {
                Op* const op = static_cast<Op*>(from);
                ::new (place) Op(std::move(*op));
                op->~Op();
              },
          .encode =
              [](const void* op, wire::Writer& out) {
                Encoder encoder(out);
                Op::describe(*static_cast<const Op*>(op), encoder);
              },
          .decode =
              [](void* place, wire::Reader& in) {
                Decoder decoder(in);
                Op::describe(*::new (place) Op, decoder);
              },
          .views =
              [](const void* op, Views& views) {
                ViewCollector collector(views);
                Op::describe(*static_cast<const Op*>(op), collector);
              },
          .work = [](const void* op, std::uint64_t elements) noexcept -> std::uint64_t {
            if constexpr (requires(const Op& o) { o.work(); })
              return static_cast<const Op*>(op)->work();
            else
              return elements;
          },
          .check = [](const void* op) -> Result<void> { return check(*static_cast<const Op*>(op)); },
          .takes_in_place = requires {Op::kTakesInPlace;
}
,
    .list =
        [](const void* op, std::vector<Field>& fields) {
          FieldLister lister(fields);
          Op::describe(*static_cast<const Op*>(op), lister);
        },
    .assign = [](void* op, FieldSource& source) -> Result<void> {
      FieldAssigner assigner(source);
      Op::describe(*static_cast<Op*>(op), assigner);
      return assigner.status();
    }
};  // namespace troupe::inline v0::op
}

template <class List>
struct InfoArray;
template <class... Ops>
struct InfoArray<OpList<Ops...>> {
  static constexpr bool in_order() {
    const std::array<Kind, sizeof...(Ops)> kinds{Ops::kKind...};
    for (std::size_t i = 0; i < kinds.size(); ++i)
      if (number_in_family(kinds[i]) != i || family_number(kinds[i]) != family_number(kinds[0])) return false;
    return true;
  }
  static_assert(in_order(), "the ops of a family stand in the order of their numbers, without gaps");
  static constexpr std::array<OpInfo, sizeof...(Ops)> kInfos{make_info<Ops>()...};
};

template <class... Ops>
constexpr FamilyOps register_ops(std::string_view name, OpList<Ops...>) {
  return {name, InfoArray<OpList<Ops...>>::kInfos};
}

}  // namespace troupe::inline v0::op

// All families of ops, in one list: the only place that changes when a family is added. And what can be done with an op
// without knowing which: encode it, decode it from bytes nobody has checked, say what it touches and what it is called.
#pragma once

#include <optional>

#include "troupe/op/blas.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/jit.hpp"
#include "troupe/op/matmul.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/plugin.hpp"
#include "troupe/op/solver.hpp"
#include "troupe/op/sparse.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::op {

/// Calls `f` with the list of each family.
template <class F>
void with_each_family(F&& f) {
  const auto call = [&]<class... Lists>(OpList<Lists...>) { (f(Lists{}), ...); };
  call(OpList<ControlOps, MemoryOps, BlasOps, PluginOps, JitOps, MatmulOps, SolverOps, SparseOps, TensorOps>{});
}

/// Calls `f.template operator()<Op>()` for every op there is.
template <class F>
void with_each_op(F&& f) {
  with_each_family([&]<class... Ops>(OpList<Ops...>) { (f.template operator()<Ops>(), ...); });
}

/// Raised whenever the meaning of an op's bytes changes. App and worker must agree.
inline constexpr std::uint16_t kOpVersion = 5;

/// What stands before an op's fields.
struct OpHeader {
  std::uint16_t version = kOpVersion;
  Kind kind = 0;
};

/// Why there is no header of ours; `version` is what stands in its place.
Error why_no_header(const wire::Reader& in, std::uint16_t version);

template <class Op>
void encode(const Op& op, wire::Writer& out) {
  out.put(kOpVersion);
  out.put(Op::kKind);
  Encoder encoder(out);
  Op::describe(op, encoder);
}

/// `invalid_argument` for a header that is cut short or of another version.
inline Result<OpHeader> decode_header(wire::Reader& in) {
  OpHeader header;
  header.version = in.get<std::uint16_t>();
  header.kind = in.get<Kind>();
  if (in.ok() && header.version == kOpVersion) [[likely]]
    return header;
  return fail(why_no_header(in, header.version));
}

/// "memory.fill", or "kind 513" for one that does not exist.
std::string name_of(Kind kind);

template <class Op>
std::uint64_t work_of(const Op& op, const Toucher& toucher) noexcept {
  if constexpr (requires { op.work(); })
    return op.work();
  else
    return toucher.elements();
}

/// Decodes one op, header and all, and calls `f(header, op)`, which gives a `Result<R>`. `invalid_argument` when the
/// bytes are no op: of another version, an unknown kind, cut short, too long, or with a field that cannot be.
template <class R, class F>
Result<R> decode(std::span<const std::byte> bytes, F&& f) {
  wire::Reader in(bytes);
  const OpHeader header = TROUPE_TRY(decode_header(in));
  std::optional<Result<R>> result;
  const auto attempt = [&]<class Op>() {
    if (Op::kKind != header.kind) return false;
    Op op;
    Decoder decoder(in);
    Op::describe(op, decoder);
    if (in.finished())
      result.emplace(f(header, op));
    else
      result.emplace(fail(ErrorKind::invalid_argument, "the record of " + name_of(header.kind) + " is corrupt"));
    return true;
  };
  // By family first: there are many ops, and each comparison is one too many.
  with_each_family([&]<class... Ops>(OpList<Ops...>) {
    constexpr std::array<std::uint8_t, sizeof...(Ops)> kFamilyOf{family_number(Ops::kKind)...};
    if (!kFamilyOf.empty() && kFamilyOf.front() == family_number(header.kind))
      (void)(attempt.template operator()<Ops>() || ...);
  });
  if (!result) return fail(ErrorKind::invalid_argument, "there is no op of " + name_of(header.kind));
  return std::move(*result);
}

}  // namespace troupe::op

// The one table of all ops: what can be done with an op without knowing which it is. A family registers its ops once,
// in its own file (op/family.hpp), and stands in op/families.hpp; its kind, name, fields, bytes, views, work and check
// come from there, and each backend has a table of the same shape that says how to run it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "troupe/core/assert.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

struct Field;
class FieldSource;

/// No op is larger in memory.
inline constexpr std::size_t kMaxOpObjectBytes = 2048;

/// One op, as a row of the table. Functions that take `void*` take an op of this kind.
struct OpInfo {
  Kind kind = 0;
  std::string_view name;  // "blas.gemm"
  void (*construct)(void* place) = nullptr;
  void (*destroy)(void* op) noexcept = nullptr;              // null where nothing has to be done
  void (*move)(void* from, void* place) noexcept = nullptr;  // `from` is destroyed
  void (*encode)(const void* op, wire::Writer& out) = nullptr;
  void (*decode)(void* place, wire::Reader& in) = nullptr;  // constructs it, whatever `in` has
  void (*views)(const void* op, Views& views) = nullptr;
  /// How much work it is, in elements or multiplications; it is told how many elements its views have.
  std::uint64_t (*work)(const void* op, std::uint64_t elements) noexcept = nullptr;
  /// Whether it can be run at all: `invalid_argument` and what does not fit, or `unsupported` and what would do. Needs
  /// views that can be (`Toucher`).
  Result<void> (*check)(const void* op) = nullptr;
  /// Whether what it writes may be one of its inputs, element by element the same.
  bool takes_in_place = false;
  /// Its fields by name, and back from somewhere else (op/fields.hpp).
  void (*list)(const void* op, std::vector<Field>& fields) = nullptr;
  Result<void> (*assign)(void* op, FieldSource& source) = nullptr;

  /// What a user calls it: "gemm" of "blas.gemm".
  constexpr std::string_view call() const noexcept { return name.substr(name.find('.') + 1); }
};

/// The ops of one family, by their numbers.
struct FamilyOps {
  std::string_view name;
  std::span<const OpInfo> ops;
};

/// All families, by their numbers.
std::span<const FamilyOps* const> families() noexcept;
/// Null for a kind that does not exist.
const OpInfo* find_op(Kind kind) noexcept;
/// The row of an op's type.
template <class Op>
const OpInfo& info_of() noexcept {
  return *find_op(Op::kKind);
}
/// "memory.fill", or "kind 513" for one that does not exist.
std::string name_of(Kind kind);

/// All that must hold of an op before it may run: its views can be, what it writes overlaps neither itself nor another
/// of its arrays, and its own check. The app asks before submission, the worker before it runs the op. Gives what it
/// touches.
Result<void> examine(const OpInfo& info, const void* op, const Views& views, Toucher& toucher);

/// Header and fields, as they go into the ring.
void encode(const OpInfo& info, const void* op, wire::Writer& out);
template <class Op>
void encode(const Op& op, wire::Writer& out) {
  encode(info_of<Op>(), &op, out);
}

/// An op of any kind, or none.
class AnyOp {
 public:
  AnyOp() noexcept = default;
  ~AnyOp() { clear(); }
  AnyOp(AnyOp&& other) noexcept { take(other); }
  AnyOp& operator=(AnyOp&& other) noexcept {
    if (this == &other) return *this;
    clear();
    take(other);
    return *this;
  }
  /// That kind of op, with its fields as they are at first.
  explicit AnyOp(const OpInfo& info) { make(info); }
  template <class Op>
    requires requires { Op::kKind; }
  explicit AnyOp(Op op) : info_(&info_of<Op>()) {
    ::new (place()) Op(std::move(op));
  }

  /// What the bytes say, header and all. `invalid_argument` when they are no op: of another version, an unknown kind,
  /// cut short, too long, or with a field that cannot be; then this is none.
  Result<void> decode(std::span<const std::byte> bytes);

  explicit operator bool() const noexcept { return info_ != nullptr; }
  const OpInfo& info() const noexcept { return *info_; }
  const void* get() const noexcept { return &bytes_; }
  void* get() noexcept { return &bytes_; }
  /// Null when it is of another kind.
  template <class Op>
  const Op* get_if() const noexcept {
    return info_ && info_->kind == Op::kKind ? static_cast<const Op*>(get()) : nullptr;
  }
  /// The bytes that it is encoded to.
  std::vector<std::byte> encoded() const;
  void clear() noexcept {
    if (info_ == nullptr) return;
    if (const OpInfo& was = *std::exchange(info_, nullptr); was.destroy) was.destroy(place());
  }

 private:
  void* place() noexcept { return &bytes_; }
  void make(const OpInfo& info) {
    info.construct(place());
    info_ = &info;
  }
  void take(AnyOp& other) noexcept {
    if (other.info_ == nullptr) return;
    other.info_->move(other.place(), place());
    info_ = std::exchange(other.info_, nullptr);
  }

  const OpInfo* info_ = nullptr;
  alignas(16) std::array<std::byte, kMaxOpObjectBytes> bytes_;
};

}  // namespace troupe::inline v0::op

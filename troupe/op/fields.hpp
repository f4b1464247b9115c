// The fields of an op as data: each with its name and its value. From them an op is written as one readable line or as
// JSON, read from JSON, and compared with another, field by field. For errors, logs and tools; the ring knows bytes
// only.
//
//   describe(op)            blas.gemm(alpha=1, beta=0, compute=standard, ..., a=f32[2, 3] at 1+0x40, ...)
//   difference(one, other)  beta: 1 against 0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "troupe/core/enum_names.hpp"
#include "troupe/op/table.hpp"

namespace troupe::inline v0::op {

/// One of several values that have names.
struct Choice {
  std::uint64_t number = 0;
  std::span<const std::string_view> names;
  friend bool operator==(const Choice& a, const Choice& b) noexcept { return a.number == b.number; }
};

using FieldValue = std::variant<bool, std::int64_t, std::uint64_t, double, Choice, View, Scalar, std::string,
                                std::vector<std::byte>, std::vector<Argument>>;

struct Field {
  std::string name;  // "beta", "matrix.offsets"
  FieldValue value;
  std::optional<Access> access = {};  // of a view
};

/// Where the values of an op's fields come from, one after another in the order in which it describes them.
class FieldSource {
 public:
  virtual ~FieldSource() = default;
  /// The value of the field of that name, of the same alternative as `now`, which it has so far.
  virtual Result<FieldValue> value_of(const std::string& name, const FieldValue& now) = 0;
};

/// Names of fields inside of a group have the group's name before them.
class FieldNames {
 public:
  void begin(std::string_view name) { prefix_ += std::string(name) + "."; }
  void end() { prefix_.erase(prefix_.rfind('.', prefix_.size() - 2) + 1); }

 protected:
  std::string full(std::string_view name) const { return prefix_ + std::string(name); }

 private:
  std::string prefix_;
};

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// A field's value as one of the alternatives.
template <class T>
FieldValue field_value(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return Choice{static_cast<std::uint64_t>(value), enum_names<T>()};
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(value);
  else if constexpr (Number<T> && std::is_signed_v<T>)
    return static_cast<std::int64_t>(value);
  else if constexpr (Number<T>)
    return static_cast<std::uint64_t>(value);
  else
    return value;
}

class FieldLister : public FieldNames {
 public:
  explicit FieldLister(std::vector<Field>& fields) noexcept : fields_(fields) {}
  void reads(std::string_view name, const View& view) { fields_.push_back({full(name), view, Access::read}); }
  void writes(std::string_view name, const View& view) { fields_.push_back({full(name), view, Access::write}); }
  void updates(std::string_view name, const View& view) { fields_.push_back({full(name), view, Access::update}); }
  void writes_part(std::string_view name, const View& view) { fields_.push_back({full(name), view, Access::part}); }
  void arguments(std::string_view name, const std::vector<Argument>& all) { fields_.push_back({full(name), all, {}}); }
  template <class T>
  void field(std::string_view name, const T& value) {
    if constexpr (PlainStruct<T>) {
      begin(name);
      T::describe(value, *this);
      end();
    } else {
      fields_.push_back({full(name), field_value(value), {}});
    }
  }

 private:
  std::vector<Field>& fields_;
};

class FieldAssigner : public FieldNames {
 public:
  explicit FieldAssigner(FieldSource& source) noexcept : source_(source) {}
  void reads(std::string_view name, View& view) { field(name, view); }
  void writes(std::string_view name, View& view) { field(name, view); }
  void updates(std::string_view name, View& view) { field(name, view); }
  void writes_part(std::string_view name, View& view) { field(name, view); }
  void arguments(std::string_view name, std::vector<Argument>& all) { field(name, all); }
  template <class T>
  void field(std::string_view name, T& value) {
    if constexpr (PlainStruct<T>) {
      begin(name);
      T::describe(value, *this);
      end();
    } else if (status_) {
      const std::string whole = full(name);
      Result<FieldValue> found = source_.value_of(whole, field_value(value));
      if (!found)
        status_ = fail(std::move(found).error());
      else if (!set(value, *found))
        status_ = fail(ErrorKind::invalid_argument, "the field \"" + whole + "\" cannot have the value that is given");
    }
  }
  const Result<void>& status() const noexcept { return status_; }

 private:
  template <class T>
  static bool set(T& value, FieldValue& found) {
    if constexpr (std::is_enum_v<T>) {
      const Choice* const choice = std::get_if<Choice>(&found);
      if (!choice || choice->number > static_cast<std::uint64_t>(T::kLast)) return false;
      value = static_cast<T>(choice->number);
      return true;
    } else if constexpr (Number<T>) {
      using Wide = std::conditional_t<std::is_floating_point_v<T>, double,
                                      std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
      const Wide* const number = std::get_if<Wide>(&found);
      if (!number) return false;
      value = static_cast<T>(*number);
      return std::is_floating_point_v<T> || static_cast<Wide>(value) == *number;
    } else {
      T* const same = std::get_if<T>(&found);
      if (same) value = std::move(*same);
      return same != nullptr;
    }
  }

  FieldSource& source_;
  Result<void> status_;
};

/// In the order in which the op describes them.
std::vector<Field> fields_of(const AnyOp& op);
/// A number for what the op does, wherever its arrays are: the same for ops that differ in addresses only.
std::uint64_t digest(const AnyOp& op);
/// The op on one line.
std::string describe(const AnyOp& op);
/// "beta: 1 against 0; c: ...", or "memory.fill against memory.copy"; empty when they are the same.
std::string difference(const AnyOp& one, const AnyOp& other);

/// {"op": "blas.gemm", "alpha": ..., ...}: everything there is, so that `from_json` gives the same op.
std::string to_json(const AnyOp& op);
/// `invalid_argument` says what is missing, unknown, or not what it should be. It is not checked further: see
/// `OpInfo::check`.
Result<AnyOp> from_json(std::string_view text);

}  // namespace troupe::inline v0::op

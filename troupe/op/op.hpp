// What an op is: a plain struct that says what to compute, on which memory. It names its kind, and describes its fields
// once, to whoever asks: the encoder, the decoder, the range collector. So ring, redo, journal and network share one
// encoding, and what an op reads and writes cannot disagree with what it sends.
//
//   struct Fill {
//     static constexpr Kind kKind = kind(Family::memory, 1);
//     static constexpr std::string_view kName = "memory.fill";
//     View out;
//     Scalar value;
//     template <class Self, class V>
//     static void describe(Self& self, V& v) {
//       v.writes(self.out);
//       v.field(self.value);
//     }
//   };
//
// To add a family: one header here with its structs and their `OpList`, one line in families.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "troupe/op/view.hpp"
#include "troupe/wire/encoding.hpp"

namespace troupe::op {

/// Numbers travel: append, never reorder.
enum class Family : std::uint8_t { control, memory, blas, plugin, jit, matmul, solver, sparse, tensor };
inline constexpr int kFamilies = 9;

/// The family's number in the high byte, the op's in the low one.
using Kind = std::uint16_t;
constexpr Kind kind(Family family, std::uint8_t number) noexcept {
  return static_cast<Kind>((static_cast<unsigned>(family) << 8) | number);
}
constexpr std::uint8_t family_number(Kind kind) noexcept { return static_cast<std::uint8_t>(kind >> 8); }

template <class... Ops>
struct OpList {};

/// Limits of one op, checked by the encoder's side and again by the decoder.
inline constexpr std::size_t kMaxViews = 192;
inline constexpr std::size_t kMaxTextBytes = 4096;
inline constexpr std::size_t kMaxParameterBytes = 4096;
inline constexpr std::size_t kMaxOpBytes = 16000;  // so that two of them fit into the smallest ring

/// An array of an op whose arrays are not known until run time.
enum class Access : std::uint8_t { read, write, update };
struct Argument {
  Access access = Access::read;
  View view;
  friend bool operator==(const Argument&, const Argument&) = default;
};

/// A few numbers that are written and read in one go: a struct of them without gaps, in which every byte may be
/// anything.
template <class T>
concept PlainStruct =
    std::is_class_v<T> && std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>;

/// What one op touches. A write that is not `whole` leaves gaps in its range as they were.
struct Touch {
  Range range;
  bool reads = false;
  bool writes = false;
  bool whole = false;
};

/// The touches of one op: the first few inline, because almost no op has more.
class Touches {
 public:
  void add(const Touch& touch) {
    if (count_ < kInline)
      inline_[count_] = touch;
    else
      add_to_more(touch);
    ++count_;
  }
  void clear() noexcept {
    count_ = 0;
    more_.clear();
  }
  std::size_t size() const noexcept { return count_; }
  std::span<const Touch> all() const noexcept { return {count_ <= kInline ? inline_.data() : more_.data(), count_}; }

 private:
  static constexpr std::size_t kInline = 6;
  void add_to_more(const Touch& touch);

  std::size_t count_ = 0;
  std::array<Touch, kInline> inline_;
  std::vector<Touch> more_;  // all of them, once there are too many
};

/// Collects what an op touches. Views without elements touch nothing.
class Toucher {
 public:
  void reads(const View& view) { add(view, Access::read); }
  void writes(const View& view) { add(view, Access::write); }
  void updates(const View& view) { add(view, Access::update); }
  void arguments(const std::vector<Argument>& arguments) {
    for (const Argument& argument : arguments) add(argument.view, argument.access);
  }
  template <class T>
  void field(const T&) noexcept {}

  /// The first view that cannot be, if there is one.
  const Result<void>& status() const noexcept { return status_; }
  const Touches& touches() const noexcept { return touches_; }
  /// Elements in all views: a first guess at how much work the op is.
  std::uint64_t elements() const noexcept { return elements_; }

 private:
  void add(const View& view, Access access);

  Result<void> status_;
  Touches touches_;
  std::uint64_t elements_ = 0;
};

class Encoder {
 public:
  explicit Encoder(wire::Writer& out) noexcept : out_(out) {}
  void reads(const View& view) { field(view); }
  void writes(const View& view) { field(view); }
  void updates(const View& view) { field(view); }
  void arguments(const std::vector<Argument>& arguments);
  void field(const View& view);
  void field(const Scalar& scalar);
  void field(const std::string& text) { out_.put_text(text); }
  void field(const std::vector<std::byte>& bytes) { out_.put_sized(bytes); }
  template <wire::Plain T>
  void field(const T& value) {
    out_.put(value);
  }
  template <PlainStruct T>
  void field(const T& numbers) {
    out_.put_bytes(std::as_bytes(std::span(&numbers, 1)));
  }

 private:
  wire::Writer& out_;
};

/// Fills an op from bytes that nobody has checked.
class Decoder {
 public:
  explicit Decoder(wire::Reader& in) noexcept : in_(in) {}
  void reads(View& view) { field(view); }
  void writes(View& view) { field(view); }
  void updates(View& view) { field(view); }
  void arguments(std::vector<Argument>& arguments);
  void field(View& view);
  void field(Scalar& scalar);
  void field(std::string& text);
  void field(std::vector<std::byte>& bytes);
  template <wire::Plain T>
    requires(!std::is_enum_v<T>)
  void field(T& value) noexcept {
    value = in_.get<T>();
  }
  template <PlainStruct T>
  void field(T& numbers) noexcept {
    const std::span<const std::byte> bytes = in_.get_bytes(sizeof numbers);
    if (in_.ok()) std::memcpy(&numbers, bytes.data(), sizeof numbers);
  }
  /// An enum says which of its values is the last.
  template <class T>
    requires std::is_enum_v<T>
  void field(T& value) noexcept {
    value = in_.get<T>();
    if (static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(T::kLast)) in_.reject();
  }

 private:
  DType dtype() noexcept;
  wire::Reader& in_;
};

}  // namespace troupe::op

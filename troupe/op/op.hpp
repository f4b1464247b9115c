// What an op is: a plain struct that says what to compute, on which memory. It names its kind, and describes its fields
// once, by name, to whoever asks: the encoder, the decoder, the collector of views, the printer. So ring, redo, journal
// and network share one encoding, and what an op reads and writes cannot disagree with what it sends.
//
//   struct Fill {
//     static constexpr Kind kKind = kind(kMemoryFamily, 0);
//     static constexpr std::string_view kName = "memory.fill";
//     View out;
//     Scalar value;
//     template <class Self, class V>
//     static void describe(Self& self, V& v) {
//       v.writes("out", self.out);
//       v.field("value", self.value);
//     }
//   };
//   Result<void> check(const Fill& op);
//
// Beside its fields an op has one `check`, which says whether it can be run at all. The app asks it before submission,
// the worker before it runs the op. A family's ops stand in one `OpList`; op/table.hpp makes the table of them.
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

namespace troupe::inline v0::op {

/// A family by its place in op/families.hpp, which has their names. Its ops' header says it once more, as
/// `kBlasFamily`, so that a new family changes nothing that the others are compiled from.
enum class Family : std::uint8_t;

/// The family's number in the high byte, the op's in the low one.
using Kind = std::uint16_t;
constexpr Kind kind(Family family, std::uint8_t number) noexcept {
  return static_cast<Kind>((static_cast<unsigned>(family) << 8) | number);
}
constexpr std::uint8_t family_number(Kind kind) noexcept { return static_cast<std::uint8_t>(kind >> 8); }
constexpr std::uint8_t number_in_family(Kind kind) noexcept { return static_cast<std::uint8_t>(kind & 0xff); }

template <class... Ops>
struct OpList {};

/// Limits of one op, checked by the encoder's side and again by the decoder.
inline constexpr std::size_t kMaxViews = 192;
inline constexpr std::size_t kMaxTextBytes = 4096;
inline constexpr std::size_t kMaxParameterBytes = 4096;
inline constexpr std::size_t kMaxOpBytes = 16000;  // so that two of them fit into the smallest ring

/// An array of an op whose arrays are not known until run time.
struct Argument {
  Access access = Access::read;
  View view;
  friend bool operator==(const Argument&, const Argument&) = default;
};

/// A few numbers that are written and read in one go: a struct of them without gaps, in which every byte may be
/// anything. It describes them, too, for those who want names.
template <class T>
concept PlainStruct =
    std::is_class_v<T> && std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>;

/// One view of an op: which, and what is done with it.
struct ViewUse {
  std::string_view name;
  const View* view = nullptr;
  Access access = Access::read;
};

/// A list whose first few items are inline, because almost no op has more. What is not used is not written either: one
/// is made for every op.
template <class T, std::size_t kInline>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ShortList() noexcept {}  // NOLINT(modernize-use-equals-default): the items are not

  void add(const T& item) {
    if (count_ < kInline)
      ::new (&inline_[count_]) T(item);
    else
      add_to_more(item);
    ++count_;
  }
  void clear() noexcept {
    count_ = 0;
    more_.clear();
  }
  std::size_t size() const noexcept { return count_; }
  std::span<const T> all() const noexcept { return {count_ <= kInline ? inline_ : more_.data(), count_}; }
  T& operator[](std::size_t i) noexcept { return count_ <= kInline ? inline_[i] : more_[i]; }

 private:
  void add_to_more(const T& item) {
    if (count_ == kInline) more_.assign(inline_, inline_ + kInline);
    more_.push_back(item);
  }

  std::size_t count_ = 0;
  std::vector<T> more_;  // all of them, once there are too many
  union {
    T inline_[kInline];
  };
};

/// The views of one op, in the order in which it describes them.
using Views = ShortList<ViewUse, 8>;
/// The name of one of them in errors: "out", or "array 2" of a list of arguments.
std::string argument_name(const Views& views, std::size_t which);

/// What one op touches. A write that is not `whole` leaves gaps in its range as they were.
struct Touch {
  Range range;
  bool reads = false;
  bool writes = false;
  bool whole = false;
  std::uint16_t view = 0;  // which of the op's views, from 0
};

using Touches = ShortList<Touch, 8>;

/// What the views of an op touch. Views without elements touch nothing.
class Toucher {
 public:
  /// `invalid_argument` for the first view that cannot be, or when there are too many.
  Result<void> add(const Views& views);

  const Touches& touches() const noexcept { return touches_; }
  /// What this one writes, it reads, too.
  void reads_too(std::size_t touch) noexcept { touches_[touch].reads = true; }
  /// Elements in all views: a first guess at how much work the op is.
  std::uint64_t elements() const noexcept { return elements_; }

 private:
  Touches touches_;
  std::uint64_t elements_ = 0;
};

// ---- who an op describes itself to ----

class ViewCollector {
 public:
  explicit ViewCollector(Views& views) noexcept : views_(views) {}
  void begin(std::string_view) noexcept {}
  void end() noexcept {}
  void reads(std::string_view name, const View& view) { views_.add({name, &view, Access::read}); }
  void writes(std::string_view name, const View& view) { views_.add({name, &view, Access::write}); }
  void updates(std::string_view name, const View& view) { views_.add({name, &view, Access::update}); }
  void writes_part(std::string_view name, const View& view) { views_.add({name, &view, Access::part}); }
  void arguments(std::string_view name, const std::vector<Argument>& arguments) {
    for (const Argument& argument : arguments) views_.add({name, &argument.view, argument.access});
  }
  template <class T>
  void field(std::string_view, const T&) noexcept {}

 private:
  Views& views_;
};

class Encoder {
 public:
  explicit Encoder(wire::Writer& out) noexcept : out_(out) {}
  void begin(std::string_view) noexcept {}
  void end() noexcept {}
  void reads(std::string_view, const View& view) { put(view); }
  void writes(std::string_view, const View& view) { put(view); }
  void updates(std::string_view, const View& view) { put(view); }
  void writes_part(std::string_view, const View& view) { put(view); }
  void arguments(std::string_view, const std::vector<Argument>& arguments);
  template <class T>
  void field(std::string_view, const T& value) {
    put(value);
  }

 private:
  void put(const View& view);
  void put(const Scalar& scalar);
  void put(const std::string& text) { out_.put_text(text); }
  void put(const std::vector<std::byte>& bytes) { out_.put_sized(bytes); }
  template <wire::Plain T>
  void put(const T& value) {
    out_.put(value);
  }
  template <PlainStruct T>
  void put(const T& numbers) {
    out_.put_bytes(std::as_bytes(std::span(&numbers, 1)));
  }

  wire::Writer& out_;
};

/// Fills an op from bytes that nobody has checked.
class Decoder {
 public:
  explicit Decoder(wire::Reader& in) noexcept : in_(in) {}
  void begin(std::string_view) noexcept {}
  void end() noexcept {}
  void reads(std::string_view, View& view) { get(view); }
  void writes(std::string_view, View& view) { get(view); }
  void updates(std::string_view, View& view) { get(view); }
  void writes_part(std::string_view, View& view) { get(view); }
  void arguments(std::string_view, std::vector<Argument>& arguments);
  template <class T>
  void field(std::string_view, T& value) {
    get(value);
  }

 private:
  void get(View& view);
  void get(Scalar& scalar);
  void get(std::string& text);
  void get(std::vector<std::byte>& bytes);
  /// A bool is 0 or 1.
  void get(bool& value) noexcept {
    const auto byte = in_.get<std::uint8_t>();
    if (byte > 1) in_.reject();
    value = byte == 1;
  }
  template <wire::Plain T>
    requires(!std::is_enum_v<T>)
  void get(T& value) noexcept {
    value = in_.get<T>();
  }
  template <PlainStruct T>
  void get(T& numbers) noexcept {
    const std::span<const std::byte> bytes = in_.get_bytes(sizeof numbers);
    if (in_.ok()) std::memcpy(&numbers, bytes.data(), sizeof numbers);
  }
  /// An enum says which of its values is the last.
  template <class T>
    requires std::is_enum_v<T>
  void get(T& value) noexcept {
    value = in_.get<T>();
    if (static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(T::kLast)) in_.reject();
  }

  DType dtype() noexcept;
  wire::Reader& in_;
};

}  // namespace troupe::inline v0::op

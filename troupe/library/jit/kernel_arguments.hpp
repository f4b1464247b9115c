// What a kernel is launched with: arrays with what is done with them, numbers, and structs whose pointers point to
// arrays. A list of them is made by `launch` from its arguments, or by the user when their number is known at run time
// only.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

template <class S>
class KernelStruct;

namespace detail {

/// What an argument of a launch is.
enum class ArgumentKind : std::uint8_t { array, integer, floating, null, other };
template <class T>
inline constexpr ArgumentKind kArgumentKind = std::is_floating_point_v<T>                  ? ArgumentKind::floating
                                              : std::is_integral_v<T> || std::is_enum_v<T> ? ArgumentKind::integer
                                              : std::is_same_v<T, std::nullptr_t>          ? ArgumentKind::null
                                                                                           : ArgumentKind::other;

/// An argument of a launch, or a parameter of a handle's signature.
struct KernelArgument {
  ArgumentKind kind = ArgumentKind::other;
  DType dtype = DType::f32;              // of an array
  op::Access access = op::Access::read;  // to it
  std::size_t size = 0;                  // of a number
  bool is_any = false;                   // a `void*`: an array of any type
};

inline constexpr std::size_t kMaxScalarBytes = 248;

template <class T>
inline constexpr bool kIsScalar =
    std::is_trivially_copyable_v<T> && sizeof(T) <= kMaxScalarBytes && !std::is_pointer_v<T>;

/// A pointer inside of a struct, and the array that it points to.
struct StructPointer {
  std::size_t offset;  // in the struct
  ArrayUse array;
  KernelArgument type;
  bool is_inside = true;  // of the array of pointers that it was declared in
};

/// What an array is for a pointer to `T`: const or not, and of its elements' type. `void*` takes all.
template <class T>
constexpr KernelArgument pointer_to() {
  using Pointee = std::remove_cv_t<T>;
  static_assert(std::is_void_v<Pointee> || Element<Pointee>,
                "a pointer points to the elements of an array (float, std::int32_t, troupe::f16 ...) or to void");
  KernelArgument argument{.kind = ArgumentKind::array,
                          .access = std::is_const_v<T> ? op::Access::read : op::Access::update,
                          .is_any = std::is_void_v<Pointee>};
  if constexpr (!std::is_void_v<Pointee>) argument.dtype = dtype_of<Pointee>;
  return argument;
}

}  // namespace detail

/// The arguments of a launch, one after another, when their number is known at run time only:
///   KernelArguments arguments;
///   for (const Array<float>& weight : weights) arguments.add(reads(weight));
///   arguments.add(0.1f);
class KernelArguments {
 public:
  /// Appends an array, and what the kernel does with it: `reads(a)`, `writes(a)`, `updates(a)`.
  void add(const ArrayUse& array) {
    order_.push_back(std::byte{0});
    kinds_.push_back(detail::ArgumentKind::array);
    arrays_.push_back(array);
  }
  /// Appends a number, or anything else of at most 248 bytes that can be copied as bytes.
  template <class T>
  void add(const T& scalar) {
    static_assert(!std::derived_from<T, AnyArray>, "say what the kernel does with it: reads(a), writes(a), updates(a)");
    static_assert(detail::kIsScalar<T>,
                  "an argument is an array, or at most 248 bytes that can be copied, and no pointer");
    add_bytes(detail::kArgumentKind<T>, std::as_bytes(std::span(&scalar, 1)));
  }
  /// Appends a struct whose pointers point to arrays.
  template <class S>
  void add(const KernelStruct<S>& with_pointers) {
    for (const detail::StructPointer& pointer : with_pointers.pointers_)
      pointers_.push_back({scalars_.size() + pointer.offset, pointer.array, pointer.type, pointer.is_inside});
    add(with_pointers.value_);
  }

 private:
  friend class Jit;
  void add_bytes(detail::ArgumentKind kind, std::span<const std::byte> bytes) {
    order_.push_back(static_cast<std::byte>(bytes.size()));
    kinds_.push_back(kind);
    scalars_.insert(scalars_.end(), bytes.begin(), bytes.end());
  }

  std::vector<ArrayUse> arrays_;
  std::vector<std::byte> order_;             // of each: its size, or 0 for an array
  std::vector<detail::ArgumentKind> kinds_;  // of each
  std::vector<std::byte> scalars_;
  std::vector<detail::StructPointer> pointers_;  // their places in `scalars_`
};

/// A struct that a kernel takes by value, with pointers in it. Each that is to point to an array is declared:
///   struct Layer { const float* weights; float* out; int n; };  // as in the kernel's source
///   KernelStruct<Layer> layer({.n = 512});
///   layer.point(&Layer::weights, reads(weights)).point(&Layer::out, writes(out));
///   gpu.jit().launch(program, "forward", grid, layer);
/// The others stay what they are, which should be null: an address of this process means nothing to a kernel.
template <class S>
class KernelStruct {
  static_assert(detail::kIsScalar<S> && std::is_class_v<S>,
                "a struct that is passed by value has at most 248 bytes that can be copied");

 public:
  explicit KernelStruct(const S& value = {}) : value_(value) {}
  KernelStruct(const KernelStruct&) = default;
  KernelStruct& operator=(const KernelStruct&) = default;
  ~KernelStruct() = default;

  /// The pointer points to the array's first element, whose elements must lie side by side and have the pointer's type;
  /// a `const` one only reads.
  template <class T>
  KernelStruct& point(T* S::* member, ArrayUse array) {
    return add<T>(&(value_.*member), std::move(array));
  }
  /// The same for one of an array of pointers. A launch refuses an `index` that is not inside of it.
  template <class T, std::size_t n>
  KernelStruct& point(T* (S::*member)[n], std::size_t index, ArrayUse array) {
    return add<T>(&(value_.*member)[index < n ? index : 0], std::move(array), index < n);
  }

 private:
  friend class KernelArguments;
  template <class T>
  KernelStruct& add(const void* pointer, ArrayUse array, bool is_inside = true) {
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - reinterpret_cast<const std::byte*>(&value_));
    pointers_.push_back({offset, std::move(array), detail::pointer_to<T>(), is_inside});
    return *this;
  }

  S value_;
  std::vector<detail::StructPointer> pointers_;
};

// What the parameters of a kernel's signature take, decided when the program that launches it is compiled: an argument
// that the kernel cannot take is a sentence of the compiler, and costs a launch nothing.

/// A kernel of a program, looked up once: `Program::kernel` makes it.
template <class Signature>
class Kernel {
  static_assert(sizeof(Signature) == 0, "a kernel's signature is void(...), as in program.kernel<void(int, float*)>");
};

namespace detail {

/// Whether every `From` is a `To`, but for signs: an int is a long long and a float, and no short.
template <class From, class To>
constexpr bool fits_into() {
  if constexpr (!std::is_arithmetic_v<From> || !std::is_arithmetic_v<To> || std::is_same_v<From, To>)
    return std::is_same_v<From, To>;
  else if constexpr (std::is_integral_v<From> && std::is_floating_point_v<To>)
    return true;
  else
    return std::is_integral_v<From> == std::is_integral_v<To> && sizeof(From) <= sizeof(To) &&
           std::is_same_v<To, bool> == std::is_same_v<From, bool>;
}

/// A parameter that is passed by value.
template <class T>
struct ParameterOf {
  using Value = std::remove_cv_t<T>;
  static_assert(kIsScalar<Value> && !std::is_reference_v<T>,
                "a kernel takes pointers, and values of at most 248 bytes that can be copied");
  static constexpr KernelArgument type() { return {.kind = kArgumentKind<Value>, .size = sizeof(Value)}; }

  template <class Given>
  static void add(KernelArguments& all, const Given& given) {
    if constexpr (std::is_same_v<Given, KernelStruct<Value>>) {
      all.add(given);
    } else {
      static_assert(fits_into<Given, Value>(),
                    "an argument has another type than the kernel's parameter, or may not fit into it: convert it");
      if constexpr (fits_into<Given, Value>()) all.add(static_cast<Value>(given));
    }
  }
};

/// A pointer.
template <class T>
struct ParameterOf<T*> {
  static constexpr KernelArgument type() { return pointer_to<T>(); }

  static void add(KernelArguments& all, std::nullptr_t) { all.add(nullptr); }
  static void add(KernelArguments& all, const ArrayUse& given) { all.add(given); }
  template <class Given>
  static void add(KernelArguments& all, const Given& given) {
    static_assert(std::derived_from<Given, AnyArray>,
                  "the kernel's parameter is a pointer: it takes an array, reads(array), writes(array), updates(array) "
                  "or nullptr");
    if constexpr (requires { typename Given::value_type; } && !std::is_void_v<T>)
      static_assert(std::is_same_v<typename Given::value_type, std::remove_cv_t<T>>,
                    "the array's elements have another type than those that the kernel's parameter points to");
    if constexpr (std::derived_from<Given, AnyArray>) all.add(ArrayUse(type().access, given));
  }
};

template <class Signature>
struct SignatureOf {
  static constexpr std::array<KernelArgument, 0> kParameters{};
};
template <class... Parameters>
struct SignatureOf<void(Parameters...)> {
  static constexpr std::array<KernelArgument, sizeof...(Parameters)> kParameters{ParameterOf<Parameters>::type()...};
};
template <class Signature>
inline constexpr std::span<const KernelArgument> kParametersOf = SignatureOf<Signature>::kParameters;

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop

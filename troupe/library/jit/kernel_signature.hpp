// What the parameters of a kernel's signature take, decided when the program that launches it is compiled: an argument
// that the kernel cannot take is a sentence of the compiler, and costs a launch nothing.
#pragma once

#include <array>
#include <concepts>
#include <type_traits>

#include "troupe/library/jit/kernel_arguments.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

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

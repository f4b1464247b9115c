// Multiplication with an epilogue on a device: `gpu.matmul()`. It computes a layer of a network in one op, with one
// pass over the result instead of three: d = scale_d activation(alpha a b + beta c + bias), rounded once.
//
//   CO_TRY(co_await gpu.matmul().multiply(x, w.transpose(), y, {.activation = Activation::gelu_tanh, .bias = b}));
//
// Arrays may have batch axes in front, which are broadcast as in NumPy: [32, 128, 512] times [512, 64] makes
// [32, 128, 64].
//
// Types of a and b, and of the result: f32, f64, f16 and bf16 into themselves, f16 and bf16 also into f32, 8-bit floats
// (both types, in any mix) into f32, f16, bf16 and f8e4m3, i8 into i32 (without an epilogue). Small types are summed in
// f32.
#pragma once

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

/// An array that an option names, or none: `.bias = b`, or `.bias = &b`. It does not keep the array alive: use it only
/// as an argument.
class OptionalArray {
 public:
  constexpr OptionalArray(std::nullptr_t = nullptr) noexcept {}                // NOLINT(google-explicit-constructor)
  constexpr OptionalArray(const AnyArray* array) noexcept : array_(array) {}   // NOLINT(google-explicit-constructor)
  constexpr OptionalArray(const AnyArray& array) noexcept : array_(&array) {}  // NOLINT(google-explicit-constructor)
  constexpr operator const AnyArray*() const noexcept { return array_; }       // NOLINT(google-explicit-constructor)
  constexpr const AnyArray* operator->() const noexcept { return array_; }

 private:
  const AnyArray* array_ = nullptr;
};

}  // namespace detail

/// What `multiply` with an epilogue can be told. Options are named in this order. The arrays need to be there only
/// during the call.
struct MatmulOptions {
  double alpha = 1;                          // multiplies the product
  double beta = 0;                           // needs c
  Activation activation = Activation::none;  // the function that each element goes through
  Compute compute = Compute::standard;       // the precision of the product
  /// Scales for 8-bit floats: an element of a stands for itself times scale_a, an element of b for itself times
  /// scale_b. The result is multiplied by scale_d before it is rounded.
  double scale_a = 1;
  double scale_b = 1;  // of b
  double scale_d = 1;  // of the result
  /// When a shape comes for the first time, its algorithms are measured, which takes some milliseconds, and the fastest
  /// is used from then on. The file that $TROUPE_MATMUL_TUNING names keeps the choice. Without autotune the library
  /// chooses.
  bool autotune = false;
  detail::OptionalArray c = {};              // of the result's shape; f32 f64 f16 bf16
  detail::OptionalArray bias = {};           // added to each row: as long as the result has columns; f32 f64 f16 bf16
  detail::OptionalArray preactivation = {};  // output: what the activation is given, for `gradient`; f32 f64 f16 bf16
};
/// What `gradient` can be told.
struct MatmulGradientOptions {
  double alpha = 1;                          // multiplies the product
  Activation activation = Activation::none;  // the one whose slope is taken
  Compute compute = Compute::standard;       // the precision of the product
  detail::OptionalArray preactivation = {};  // the input of the activation; for relu its output works as well
  detail::OptionalArray bias_gradient = {};  // output: the sums of the columns of d, of all matrices of a batch
};
static_assert(std::is_trivially_destructible_v<MatmulOptions> &&
                  std::is_trivially_destructible_v<MatmulGradientOptions>,
              "safe inside a co_await with g++ 12");

/// Products of matrices with an epilogue on a device: `gpu.matmul()`.
class Matmul {
 public:
  explicit Matmul(Device device) noexcept : device_(std::move(device)) {}

  /// d = scale_d activation(alpha scale_a scale_b a b + beta c + bias).
  Call<void> multiply(const AnyArray& a, const AnyArray& b, const AnyArray& d, MatmulOptions options = {}) const;
  /// The gradient through an activation: d = alpha a b, each element times the slope of the activation at
  /// `preactivation`: what flows back through a layer, not the gradient of its weights. f32 f64 f16 bf16.
  Call<void> gradient(const AnyArray& a, const AnyArray& b, const AnyArray& d,
                      MatmulGradientOptions options = {}) const;

 private:
  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop

// Multiplication with an epilogue on a device: `gpu.matmul()`. The layer of a network in one op, and one pass over the
// result instead of three: d = scale_d activation(alpha a b + beta c + bias), rounded once.
//
//   CO_TRY(co_await gpu.matmul().multiply(x, w.transpose(), y, {.activation = Activation::gelu, .bias = &b}));
//
// Types of a and b, and of the result: f32, f64, f16 and bf16 into themselves, f16 and bf16 also into f32, 8-bit floats
// (both of them, mixed as you like) into f32, f16, bf16 and f8e4m3, i8 into i32 (without an epilogue). Small types are
// summed in f32.
#pragma once

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What `multiply` with an epilogue can be told. The arrays in it are only looked at during the call.
struct MatmulOptions {
  double alpha = 1;
  double beta = 0;  // needs c
  Activation activation = Activation::none;
  Compute compute = Compute::standard;
  /// What numbers in 8 bits stand for: each times its scale. scale_d is applied to the result before it is rounded.
  double scale_a = 1;
  double scale_b = 1;
  double scale_d = 1;
  /// The first time a shape is seen its algorithms are measured, which takes some milliseconds, and the fastest is
  /// used from then on; it is kept in the file that $TROUPE_MATMUL_TUNING names. Otherwise the library's own guess is.
  bool autotune = false;
  const AnyArray* c = nullptr;     // of the result's shape; f32 f64 f16 bf16
  const AnyArray* bias = nullptr;  // added to each row: as long as the result has columns; f32 f64 f16 bf16
  const AnyArray* pre = nullptr;   // gets what the activation is given, for `gradient`; f32 f64 f16 bf16
};
/// What `gradient` can be told.
struct MatmulGradientOptions {
  double alpha = 1;
  Activation activation = Activation::none;
  Compute compute = Compute::standard;
  const AnyArray* pre = nullptr;            // what the activation was given; of relu, what it gave will do as well
  const AnyArray* bias_gradient = nullptr;  // gets the sums of d's columns
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
  /// The way back through an activation: d = alpha a b times the activation's slope at `pre`. f32 f64 f16 bf16.
  Call<void> gradient(const AnyArray& a, const AnyArray& b, const AnyArray& d,
                      MatmulGradientOptions options = {}) const;

 private:
  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop

#include "troupe/library/matmul/matmul.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "troupe/core/enum_names.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/matmul.hpp"

namespace troupe::inline v0 {
namespace {

/// A batch is checked with the shapes that the user gave; then it has as few axes as it needs.
template <class Op>
Call<void> make_batch_call(std::string_view call, const Device& device, Op op,
                           const std::vector<const AnyArray*>& arrays) {
  const bool is_batch = std::max({op.a.shape.rank(), op.b.shape.rank(), op.d.shape.rank()}) > 2;
  const auto prepare = [&]() -> Result<void> {
    TROUPE_TRY(op::broadcast_batch(call, op.a, op.b, op.d));
    TROUPE_TRY(op::check(op));
    op::merge_batch(op);
    return {};
  };
  // Of an array that is an empty handle, `make_call` says so.
  if (is_batch && std::ranges::all_of(arrays, [](const AnyArray* array) { return static_cast<bool>(*array); }))
    if (Result<void> prepared = prepare(); !prepared) return fail(std::move(prepared).error());
  return make_call(device, op, arrays);
}

}  // namespace

Matmul Device::matmul() const { return Matmul(*this); }

Call<void> Matmul::multiply(const AnyArray& a, const AnyArray& b, const AnyArray& d, MatmulOptions options) const {
  for (const auto& [name, scale] : {std::pair("scale_a", options.scale_a), std::pair("scale_b", options.scale_b)})
    if (Result<void> good = op::check_finite("matmul", name, scale); !good) return fail(std::move(good).error());
  if (options.beta != 0 && !options.c)
    return op::refuse(
        "matmul", "beta is " + op::number_of(op::Scalar(options.beta)) + " and there is no c; beta needs options.c");
  op::Matmul op{.alpha = options.alpha * options.scale_a * options.scale_b,
                .beta = options.beta,
                .scale_d = options.scale_d,
                .activation = options.activation,
                .compute = options.compute,
                .has_c = options.c && options.beta != 0,
                .has_bias = options.bias != nullptr,
                .keeps_pre = options.preactivation != nullptr,
                .tunes = options.autotune,
                .a = a.view(),
                .b = b.view(),
                .c = {},
                .bias = {},
                .pre = {},
                .d = d.view()};
  std::vector<const AnyArray*> arrays{&a, &b};
  const auto add = [&](bool wanted, const AnyArray* array, op::View& view) {
    if (!wanted) return;
    view = array->view();
    arrays.push_back(array);
  };
  add(op.has_c, options.c, op.c);
  add(op.has_bias, options.bias, op.bias);
  add(op.keeps_pre, options.preactivation, op.pre);
  arrays.push_back(&d);
  return make_batch_call("matmul", device_, op, arrays);
}

Call<void> Matmul::gradient(const AnyArray& a, const AnyArray& b, const AnyArray& d,
                            MatmulGradientOptions options) const {
  if (options.activation != Activation::none && !options.preactivation)
    return op::refuse("matmul gradient",
                      std::string(enum_names<Activation>()[static_cast<std::size_t>(options.activation)]) +
                          " needs options.preactivation, the array that multiply wrote with options.preactivation");
  op::MatmulGradient op{.alpha = options.alpha,
                        .activation = options.activation,
                        .compute = options.compute,
                        .has_pre = options.activation != Activation::none,
                        .sums_columns = options.bias_gradient != nullptr,
                        .a = a.view(),
                        .b = b.view(),
                        .pre = {},
                        .d = d.view(),
                        .sums = {}};
  std::vector<const AnyArray*> arrays{&a, &b};
  if (op.has_pre) {
    op.pre = options.preactivation->view();
    arrays.push_back(options.preactivation);
  }
  arrays.push_back(&d);
  if (op.sums_columns) {
    op.sums = options.bias_gradient->view();
    arrays.push_back(options.bias_gradient);
  }
  return make_batch_call("matmul gradient", device_, op, arrays);
}

}  // namespace troupe::inline v0

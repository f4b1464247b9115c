// Einsum of many operands: contractions of two, one after another, over arrays that live as long as the ops that use
// them. The ops are one call: its last op waits for the others.
#include <bit>
#include <cmath>

#include "troupe/device/make_call.hpp"
#include "troupe/library/tensor/einsum.hpp"
#include "troupe/library/tensor/einsum_order.hpp"
#include "troupe/library/tensor/tensor.hpp"
#include "troupe/op/check.hpp"

namespace troupe::inline v0 {
namespace {

constexpr std::string_view kCall = "einsum";

std::string operand(std::size_t number) { return "operand " + std::to_string(number + 1); }

Result<void> check_count(detail::Operands operands) {
  if (operands.count() >= 1 && operands.count() <= detail::Operands::kMost) return {};
  return op::refuse(kCall, "there are " + std::to_string(operands.count()) + " operands; there must be 1 to " +
                               std::to_string(detail::Operands::kMost));
}

/// What the ops check of their own arrays, in the words of the whole call.
Result<void> check_arrays(const Device& device, detail::Operands operands, const AnyArray& c) {
  const std::span<const AnyArray* const> all = operands.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    TROUPE_TRY(DeviceParts::check(device, kCall, operand(i), *all[i]));
    TROUPE_TRY(op::check_same_types(kCall, {{operand(0), all[0]->view()}, {operand(i), all[i]->view()}}));
  }
  TROUPE_TRY(DeviceParts::check(device, kCall, "c", c));
  TROUPE_TRY(op::check_same_types(kCall, {{operand(0), all[0]->view()}, {"c", c.view()}}));
  for (std::size_t i = 0; i < all.size(); ++i)
    TROUPE_TRY(op::check_apart(kCall, {operand(i), all[i]->view()}, {"c", c.view()}));
  return {};
}

/// A text with its operands, and the order in which they are multiplied.
struct Ordered {
  Einsum einsum;
  std::vector<Labelled> inputs;
  EinsumSteps order;
  Shape shape;  // of the output
};

Result<EinsumSteps> find_order(const Einsum& einsum, const std::vector<Labelled>& inputs) {
  EinsumProduct product;
  for (const Labelled& input : inputs) {
    EinsumLetters& its = product.operands.emplace_back();
    for (const char letter : input.letters) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bit_of(letter)));
      product.extents[bit] = static_cast<double>(input.extent(letter));
      its |= bit_of(letter);
    }
  }
  for (const char letter : output_letters(einsum, inputs)) product.output |= bit_of(letter);
  if (std::optional<EinsumSteps> order = order_of(product)) return std::move(*order);
  return op::refuse_unsupported(kCall, "a result in between would have more than " + std::to_string(kMaxRank) +
                                           " axes; merge axes, or make the product in several calls");
}

Result<Ordered> put_in_order(std::string_view text, detail::Operands operands) {
  Ordered ordered;
  ordered.einsum = TROUPE_TRY(parse_einsum(text, operands.count()));
  std::vector<const op::View*> views;
  for (const AnyArray* array : operands.all()) views.push_back(&array->view());
  ordered.inputs = TROUPE_TRY(label_inputs(ordered.einsum, views));
  ordered.shape = TROUPE_TRY(output_shape(ordered.einsum, views));
  if (operands.count() > 1) ordered.order = TROUPE_TRY(find_order(ordered.einsum, ordered.inputs));
  return ordered;
}

/// The result of a step, without memory: those letters of both, rows of a product of matrices before its columns.
Result<Labelled> result_of(const Labelled& a, const Labelled& b, EinsumLetters letters) {
  Labelled result;
  std::vector<std::int64_t> extents;
  const auto add = [&](const Labelled& from, bool is_in_both) {
    for (const char letter : from.letters) {
      if ((bit_of(letter) & letters) == 0 || (a.has(letter) && b.has(letter)) != is_in_both || result.has(letter))
        continue;
      result.letters += letter;
      extents.push_back(from.extent(letter));
    }
  };
  add(a, true);
  add(a, false);
  add(b, false);
  result.view.dtype = a.view.dtype;
  result.view.shape = Shape(extents);
  TROUPE_TRY(check(result.view.shape));
  return result;
}

/// The ops, each with the one before it; the last one writes c.
Result<detail::IntrusivePtr<detail::OpCall>> make_ops(const Device& device, Ordered ordered, detail::Operands operands,
                                                      const AnyArray& c, const EinsumOptions& options) {
  const Labelled output = TROUPE_TRY(label_output(ordered.einsum, ordered.inputs, c.view()));
  const std::vector<EinsumStep>& steps = ordered.order.steps;
  std::vector<Labelled> items = std::move(ordered.inputs);
  std::vector<const AnyArray*> arrays(operands.all().begin(), operands.all().end());
  std::vector<AnyArray> scratch(steps.size() - 1, AnyArray(c.dtype()));
  detail::IntrusivePtr<detail::OpCall> last;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const EinsumStep& step = steps[i];
    const bool is_last = i + 1 == steps.size();
    Labelled result = output;
    if (!is_last) {
      result = TROUPE_TRY(result_of(items[step.first], items[step.second], step.result));
      TROUPE_TRY(DeviceParts::allocate(device, scratch[i], result.view.shape));
      result.view = scratch[i].view();
    }
    arrays.push_back(is_last ? &c : &scratch[i]);
    op::Contract op = contract_of(items[step.first], items[step.second], result);
    op.alpha = op::Scalar(is_last ? options.alpha : detail::Factor(1.0));
    op.beta = op::Scalar(is_last ? options.beta : detail::Factor(0.0));
    op.engine = options.engine;
    op.tunes = options.autotune;
    TROUPE_TRY(check_engine(op, device.info().backend));
    const std::array used{arrays[step.first], arrays[step.second], arrays.back()};
    auto call = TROUPE_TRY(DeviceParts::make_op_call(device, op::info_of<op::Contract>(), &op, used));
    call->before = std::exchange(last, nullptr);
    last = std::move(call);
    items.push_back(std::move(result));
  }
  return last;
}

}  // namespace

Call<void> Tensor::einsum(std::string_view text, detail::Operands operands, const AnyArray& c,
                          EinsumOptions options) const {
  if (Result<void> good = check_count(operands); !good) return fail(std::move(good).error());
  const std::span<const AnyArray* const> all = operands.all();
  if (all.size() == 1) return einsum(text, *all[0], c, options);
  if (all.size() == 2) return einsum(text, *all[0], *all[1], c, options);
  const auto make = [&]() -> Result<detail::IntrusivePtr<detail::OpCall>> {
    TROUPE_TRY(check_arrays(device_, operands, c));
    return make_ops(device_, TROUPE_TRY(put_in_order(text, operands)), operands, c, options);
  };
  Result<detail::IntrusivePtr<detail::OpCall>> last = make();
  if (!last) return fail(std::move(last).error());
  return {DeviceParts::state(device_), std::move(*last)};
}

Result<EinsumOrder> Tensor::explain(std::string_view text, detail::Operands operands) const {
  TROUPE_TRY(check_count(operands));
  Ordered ordered = TROUPE_TRY(put_in_order(text, operands));
  EinsumOrder order;
  order.multiplications = ordered.order.multiplications;
  for (const EinsumStep& step : ordered.order.steps) {
    Labelled result = TROUPE_TRY(result_of(ordered.inputs[step.first], ordered.inputs[step.second], step.result));
    order.steps.push_back({step.first + 1, step.second + 1, result.view.shape});
    if (order.steps.size() < ordered.order.steps.size())
      order.scratch_bytes += static_cast<double>(op::element_count(result.view) * size_bytes(result.view.dtype));
    ordered.inputs.push_back(std::move(result));
  }
  if (!order.steps.empty()) order.steps.back().shape = ordered.shape;
  return order;
}

std::string EinsumOrder::to_string() const {
  std::string text;
  std::size_t result = steps.size() + 1;
  for (const Step& step : steps) {
    text += std::to_string(step.first) + " by " + std::to_string(step.second) + " gives ";
    text += &step == &steps.back() ? "the output" : std::to_string(++result) + ", " + step.shape.to_string();
    text += "; ";
  }
  return text + std::to_string(std::llround(multiplications)) + " multiplications, " +
         std::to_string(std::llround(scratch_bytes)) + " bytes of scratch memory";
}

}  // namespace troupe::inline v0

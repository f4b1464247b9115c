// The names for tensors, one by one: contractions, reductions, functions of elements. The reference shows what stands
// between `// example:` and `// end`.
#include <cmath>
#include <vector>

#include "examples/reference/expect.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;

Array<double> made(const Device& device, const Shape& shape, const std::vector<double>& numbers) {
  Array<double> array = value(device.array<double>(shape));
  value(device.write(array, numbers).get());
  return array;
}

/// The first element of an expression's value.
double first_of(const Device& device, const Expression& expression, const Shape& shape) {
  const Array<double> out = value(device.array<double>(shape));
  value(device.tensor().evaluate(expression, out).get());
  return value(device.read(out).get())[0];
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * (1 + std::abs(b)); }

void contractions(const Device& device) {
  const Array<double> a = made(device, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Array<double> b = made(device, {3, 2}, {1, 0, 0, 1, 1, 1});
  const Array<double> c = made(device, {2, 2}, {0, 0, 0, 0});

  // example: Tensor, EinsumOptions, TensorEngine
  value(device.tensor()
            .einsum("ik,kj->ij", a, b, c, EinsumOptions{.alpha = 2.0, .engine = TensorEngine::automatic})
            .get());
  expect(value(device.read(c).get())[0] == 8);
  // end

  // example: EinsumPlan
  const EinsumPlan plan = value(device.tensor().explain("ik,kj->ij", a, b, c));
  expect(plan.rows == 2 && plan.columns == 2 && plan.depth == 3);
  // end

  // example: EinsumOrder
  const EinsumOrder order = value(device.tensor().explain("ik,kj,jl->il", {a, b, c}));
  expect(order.steps.size() == 2 && order.multiplications > 0);
  // end
}

void functions(const Device& device) {
  const Array<double> x = made(device, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Array<double> y = made(device, {2, 3}, {0, 0, 0, 0, 0, 0});
  const Array<double> sums = made(device, {2}, {0, 0});

  // example: Reduction, ReduceOptions
  value(device.tensor().reduce(Reduction::sum, x, {1}, sums, ReduceOptions{.alpha = 10.0}).get());
  expect(value(device.read(sums).get())[1] == 150);
  expect(value(device.tensor().reduce(Reduction::max, x).get()) == 6);
  // end

  // example: Unary, Binary, Ternary, ElementwiseOptions
  value(device.tensor().unary(Unary::sqrt, x, y).get());
  value(device.tensor().binary(Binary::add, x, 1.0, y, ElementwiseOptions{.alpha = 2.0}).get());  // 2 x + 1
  expect(value(device.read(y).get())[5] == 13);
  value(device.tensor().ternary(Ternary::clamp, x, 2.0, 4.0, y).get());
  expect(value(device.read(y).get())[0] == 2);
  // end
}

void expressions(const Device& device) {
  const Array<double> x = made(device, {2}, {0.5, 2});
  const Array<double> y = made(device, {2}, {2, 0.5});
  const auto gives = [&](const Expression& expression) { return first_of(device, expression, {2}); };

  // example: Expression
  const Expression expression = tanh(2.0 * x + y) / 3.0;  // nothing is computed yet
  const Array<double> out = value(device.array<double>({2}));
  value(device.tensor().evaluate(expression, out).get());  // one pass over memory
  expect(near(value(device.read(out).get())[0], std::tanh(3.0) / 3));
  // end

  // example: ExpressionOf
  const ExpressionOf<double> of_doubles = 2.0 * x + y;  // as its arrays say
  expect(of_doubles.to_string() == "2 * x0 + x1");
  // end

  // example: exp, expm1, log, log1p, pow, sqrt, rsqrt, square, reciprocal
  expect(near(gives(exp(x)), std::exp(0.5)) && near(gives(expm1(x)), std::expm1(0.5)));
  expect(near(gives(log(x)), std::log(0.5)) && near(gives(log1p(x)), std::log1p(0.5)));
  expect(near(gives(pow(x, y)), 0.25) && near(gives(square(x)), 0.25) && near(gives(reciprocal(x)), 2));
  expect(near(gives(sqrt(y)), std::sqrt(2.0)) && near(gives(rsqrt(y)), 1 / std::sqrt(2.0)));
  // end

  // example: sin, cos, tan, tanh, erf
  expect(near(gives(square(sin(x)) + square(cos(x))), 1) && near(gives(tan(x)), std::tan(0.5)));
  expect(near(gives(tanh(x)), std::tanh(0.5)) && near(gives(erf(x)), std::erf(0.5)));
  // end

  // example: relu, sigmoid, silu, gelu, gelu_tanh, softplus
  expect(gives(relu(x - 1.0)) == 0 && near(gives(sigmoid(x - 0.5)), 0.5) &&
         near(gives(silu(x)), 0.5 / (1 + std::exp(-0.5))));
  expect(near(gives(gelu(x)), 0.25 * (1 + std::erf(0.5 / std::sqrt(2.0)))) && gives(gelu_tanh(x)) > 0.3);
  expect(near(gives(softplus(x)), std::log1p(std::exp(0.5))));
  // end

  // example: abs, sign, floor, ceil, round, conj
  expect(gives(abs(-x)) == 0.5 && gives(sign(-x)) == -1 && gives(conj(x)) == 0.5);
  expect(gives(floor(x)) == 0 && gives(ceil(x)) == 1 && gives(round(x)) == 0);  // ties to even
  // end

  // example: min, max, clamp, fma, select, where
  expect(gives(min(x, y)) == 0.5 && gives(max(x, y)) == 2 && gives(clamp(x, 1.0, 3.0)) == 1);
  expect(gives(fma(x, y, 1.0)) == 2 && gives(select(less(x, y), 10.0, 20.0)) == 10);
  expect(gives(where(x < y, 10.0, 20.0)) == 10);
  // end

  // example: equal, not_equal, less, less_equal, greater, greater_equal
  expect(gives(equal(x, y)) == 0 && gives(not_equal(x, y)) == 1 && gives(less(x, y)) == 1);
  expect(gives(less_equal(x, y)) == 1 && gives(greater(x, y)) == 0 && gives(greater_equal(x, x)) == 1);
  // end
}

void scopes(const Device& device) {
  // example: Scope, ScopeOptions, ReductionOptions
  Scope on(device, ScopeOptions{.deadline = std::chrono::seconds(20)});
  const auto x = on.full<double>({2, 3}, 1.0);
  const auto sums = on.sum(2.0 * x, 1, ReductionOptions{.keep_axes = true});
  expect(value(on.read(x / sums).get())[0] == 1.0 / 6.0);
  value(on.end().get());  // all ops have ended, and none has failed
  // end

  // example: Versioned
  Versioned<double> state = value(Versioned<double>::make(device, {2}));
  value(device.fill(state.now(), 1.0).get());
  Scope step(device);
  step.assign(step.next(state), 2.0 * state.now());
  value(step.commit().get());  // from here on, the next version counts; had it failed, nothing would have happened
  expect(value(device.read(state.now()).get())[1] == 2.0);
  // end

  // example: Checkpoint
  const Array<float> weights = value(device.array<float>({3}));
  value(device.fill(weights, 1.0f).get());
  Checkpoint checkpoint(device, {{"weights", weights}, {"state", state}});  // arrays and Versioned ones, with names
  value(checkpoint.keep().get());  // in the device's memory; `save` and `load` take the path of a file
  value(device.fill(weights, 5.0f).get());
  value(checkpoint.restore().get());
  expect(value(device.read(weights).get())[2] == 1.0f);
  // end

  // example: ScopedCall
  Scope another(device);
  ScopedCall<double> largest = another.give(device.tensor().reduce(Reduction::max, x));
  expect(std::move(largest).get() == 1.0);  // or the first error of the scope
  // end
}

int main() {
  System system({.log = log_nothing()});
  const Device device = value(system.device("host"));
  contractions(device);
  functions(device);
  expressions(device);
  scopes(device);
}

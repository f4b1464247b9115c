// Tensors: contractions in Einstein's notation, and what is computed around them, as a chain of ops of which only the
// last is awaited.
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

/// Softmax over the last axis: e to the power of each score, by their sum.
Task<Result<float>> attention(Device device) {
  const std::int64_t heads = 2;
  const std::int64_t positions = 4;
  const std::int64_t features = 8;
  Array<float> query = CO_TRY(device.array<float>({heads, positions, features}));
  Array<float> key = CO_TRY(device.array<float>({heads, positions, features}));
  Array<float> scores = CO_TRY(device.array<float>({heads, positions, positions}));
  Array<float> powers = CO_TRY(device.array<float>({heads, positions, positions}));
  Array<float> sums = CO_TRY(device.array<float>({heads, positions, 1}));
  Array<float> weights = CO_TRY(device.array<float>({heads, positions, positions}));
  std::vector<float> numbers(static_cast<std::size_t>(heads * positions * features));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) / 8;
  CO_TRY(co_await device.write(query, numbers));
  CO_TRY(co_await device.write(key, numbers));

  const Tensor tensor = device.tensor();
  const EinsumPlan plan = CO_TRY(tensor.explain("hqf,hkf->hqk", query, key, scores));
  std::printf("%s\n", plan.to_string().c_str());
  CO_TRY(tensor.einsum("hqf,hkf->hqk", query, key, scores).submit());
  CO_TRY(tensor.unary(Unary::exp, scores, powers, {.alpha = 0.5}).submit());
  CO_TRY(tensor.reduce(Reduction::sum, powers, {2}, sums).submit());
  CO_TRY(tensor.binary(Binary::div, powers, sums, weights).submit());
  co_return co_await tensor.reduce(Reduction::mean, weights);
}

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0));
  const float mean = value(system.run(attention(device)));
  std::printf("each row of weights sums to %g, on %s\n", static_cast<double>(mean) * 4, device.info().name.c_str());

  Array<float> square = value(device.array<float>({3, 4}));
  const Result<void> wrong = device.tensor().einsum("ii->", square, square).get();
  std::printf("%s\n", wrong.error().to_string().c_str());
  return mean * 4 > 0.999F && mean * 4 < 1.001F && wrong.error().kind() == ErrorKind::invalid_argument ? 0 : 1;
}

// Softmax, losses, steps, lookups and attention on their way to a GPU, without one: each must end well and launch what
// it is meant to. Nothing is computed there, so a verdict that says nothing is a good one.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

TEST_F(FakeGpu, softmax_and_its_gradient_are_one_launch_each) {
  Device gpu = open_gpu();
  const Array<float> x = value(gpu.array<float>({4, 6})), y = value(gpu.array<float>({4, 6}));
  value(gpu.fill(x, 1.0F).get());
  const std::uint64_t before = calls("cuLaunchKernel");
  EXPECT_TRUE(gpu.dnn().softmax(x, y).get());
  EXPECT_TRUE(gpu.dnn().log_softmax_gradient(x, y, x).get());
  EXPECT_EQ(calls("cuLaunchKernel"), before + 2);
}

TEST_F(FakeGpu, a_step_over_a_list_is_one_launch) {
  Device gpu = open_gpu();
  std::vector<Array<float>> gradients, values, first, second;
  for (int i = 0; i < 5; ++i)
    for (auto* const list : {&gradients, &values, &first, &second}) {
      list->push_back(value(gpu.array<float>({7, 3})));
      value(gpu.fill(list->back(), 0.0F).get());
    }
  const OptimizerArrays now{.values = values, .first = first, .second = second, .masters = {}};
  const std::uint64_t before = calls("cuLaunchKernel");
  const Result<void> end = gpu.dnn().adamw(gradients, now).get();
  EXPECT_TRUE(end) << end.error().to_string();
  EXPECT_EQ(calls("cuLaunchKernel"), before + 1);
}

TEST_F(FakeGpu, attention_is_one_launch_forward_and_three_backward) {
  Device gpu = open_gpu();
  const auto make = [&] {
    const Array<float> made = value(gpu.array<float>({1, 2, 5, 8}));
    value(gpu.fill(made, 1.0F).get());
    return made;
  };
  const Array<float> q = make(), k = make(), v = make(), y = make(), dy = make(), dq = make(), dk = make(), dv = make();
  const Array<float> sums = value(gpu.array<float>({1, 2, 5}));
  const std::uint64_t before = calls("cuLaunchKernel");
  EXPECT_TRUE(gpu.dnn().scaled_dot_product_attention(q, k, v, y, sums, {.causal = true}).get());
  EXPECT_EQ(calls("cuLaunchKernel"), before + 1);
  EXPECT_TRUE(
      gpu.dnn().scaled_dot_product_attention_gradient(dy, q, k, v, y, sums, dq, dk, dv, {.causal = true}).get());
  EXPECT_EQ(calls("cuLaunchKernel"), before + 4);
}

TEST_F(FakeGpu, a_recurrent_layer_is_one_launch_for_each_token_and_direction_beside_its_products) {
  Device gpu = open_gpu();
  const auto make = [&](const Shape& shape) {
    const Array<float> made = value(gpu.array<float>(shape));
    value(gpu.fill(made, 1.0F).get());
    return made;
  };
  constexpr std::int64_t kTokens = 7, kHidden = 4;
  std::vector<Array<float>> weights, dweights;
  for (auto* const list : {&weights, &dweights})
    for (int run = 0; run < 2; ++run)
      for (const Shape& shape :
           {Shape{3 * kHidden, 5}, Shape{3 * kHidden, kHidden}, Shape{3 * kHidden}, Shape{3 * kHidden}})
        list->push_back(make(shape));
  const Array<float> x = make({kTokens, 2, 5}), y = make({kTokens, 2, 2 * kHidden}), dx = make({kTokens, 2, 5});
  const Array<float> kept = value(gpu.array<float>({2, kTokens, 2, 5 * kHidden}));
  const Array<std::int32_t> lengths = value(gpu.array<std::int32_t>({2}));
  value(gpu.fill(lengths, 3).get());
  std::uint64_t before = calls("cuLaunchKernel");
  const Result<void> end =
      gpu.dnn().gru(x, weights, y, {.bidirectional = true, .lengths = &lengths, .kept = &kept}).get();
  EXPECT_TRUE(end) << end.error().to_string();
  EXPECT_EQ(calls("cuLaunchKernel"), before + 2 + 2 * kTokens);  // the look, the verdict
  before = calls("cuLaunchKernel");
  EXPECT_TRUE(gpu.dnn().gru_gradient(y, x, weights, kept, dx, {.bidirectional = true, .dweights = dweights}).get());
  EXPECT_EQ(calls("cuLaunchKernel"), before + 1 + 2 * (kTokens + 2));  // what the layer took; sums for the biases
}

TEST_F(FakeGpu, an_embedding_looks_at_its_indices_first) {
  Device gpu = open_gpu();
  const Array<float> table = value(gpu.array<float>({5, 4})), y = value(gpu.array<float>({3, 4}));
  const Array<std::int32_t> indices = value(gpu.array<std::int32_t>({3}));
  value(gpu.fill(table, 1.0F).get());
  value(gpu.fill(indices, 1).get());
  const std::uint64_t before = calls("cuLaunchKernel");
  const Result<void> end = gpu.dnn().embedding(table, indices, y).get();
  EXPECT_TRUE(end) << end.error().to_string();
  EXPECT_EQ(calls("cuLaunchKernel"), before + 3);  // the look, the verdict, the rows
}

}  // namespace
}  // namespace troupe

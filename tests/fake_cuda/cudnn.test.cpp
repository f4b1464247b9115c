// Convolutions and attention by cuDNN: when it is taken, what it is told, what is kept, and what happens when it is not
// there or fails. That numbers are right, only a GPU can show.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class FakeCudnn : public FakeGpu {
 protected:
  void TearDown() override {
    gpu.close();
    expect_all_gone();
    FakeGpu::TearDown();
  }
  template <class T = f16>
  Array<T> zeros(const Shape& shape) const {
    Array<T> made = value(gpu.array<T>(shape));
    value(gpu.fill(made, T(0)).get());
    return made;
  }
  /// [batch, channels, height, width] with the channels side by side.
  template <class T = f16>
  Array<T> image(std::int64_t batch, std::int64_t channels, std::int64_t height, std::int64_t width) const {
    return value(zeros<T>({batch, height, width, channels}).permute({0, 3, 1, 2}));
  }
  template <class T = f16>
  Result<void> convolve(const ConvolutionOptions& options = {}, std::int64_t batch = 2) const {
    ConvolutionOptions with = options;
    with.padding = 1;
    return gpu.dnn()
        .convolution(image<T>(batch, 16, 16, 16), image<T>(16, 16, 3, 3), image<T>(batch, 16, 16, 16), with)
        .get();
  }
  struct Attention {
    Array<f16> q, k, v, y, dy, dq, dk, dv;
    Array<float> sums;
  };
  Attention attention(std::int64_t batch = 2, std::int64_t queries = 128, std::int64_t keys = 128) const {
    const Shape of_queries{batch, 4, queries, 64}, of_keys{batch, 4, keys, 64};
    return {zeros(of_queries), zeros(of_keys),    zeros(of_keys),
            zeros(of_queries), zeros(of_queries), zeros(of_queries),
            zeros(of_keys),    zeros(of_keys),    zeros<float>({batch, 4, queries})};
  }
  Result<void> attend(const Attention& a, const AttentionOptions& options = {}) const {
    return gpu.dnn().scaled_dot_product_attention(a.q, a.k, a.v, a.y, a.sums, options).get();
  }
  Result<void> attend_back(const Attention& a, const AttentionOptions& options = {}) const {
    return gpu.dnn()
        .scaled_dot_product_attention_gradient(a.dy, a.q, a.k, a.v, a.y, a.sums, a.dq, a.dk, a.dv, options)
        .get();
  }
  /// How often cuDNN is run, and how many kernels of ours are launched.
  template <class Call>
  std::pair<std::uint64_t, std::uint64_t> runs_of(const Call& call) const {
    const std::uint64_t runs = calls("cudnnBackendExecute"), launches = calls("cuLaunchKernel");
    const Result<void> end = call();
    EXPECT_TRUE(end) << end.error().to_string();
    return {calls("cudnnBackendExecute") - runs, calls("cuLaunchKernel") - launches};
  }
  Device gpu = open_gpu();
};
using Runs = std::pair<std::uint64_t, std::uint64_t>;

TEST_F(FakeCudnn, does_convolutions_and_both_gradients_where_the_arrays_are) {
  const Array<f16> x = image(2, 16, 16, 16), w = image(16, 16, 3, 3), y = image(2, 16, 16, 16);
  const ConvolutionOptions padded{.padding = 1};
  EXPECT_EQ(runs_of([&] { return gpu.dnn().convolution(x, w, y, padded).get(); }), Runs(1, 0));
  EXPECT_EQ(calls("cudnn tensor [2, 16, 16, 16] by [4096, 1, 256, 16]"), 2);
  EXPECT_EQ(calls("cudnn tensor [16, 16, 3, 3] by [144, 1, 48, 16]"), 1);
  EXPECT_EQ(calls("cudnn graph of 1 nodes"), 1);
  EXPECT_EQ(runs_of([&] { return gpu.dnn().convolution_input_gradient(y, w, x, padded).get(); }), Runs(1, 0));
  EXPECT_EQ(runs_of([&] { return gpu.dnn().convolution_filter_gradient(x, y, w, padded).get(); }), Runs(1, 0));
  EXPECT_EQ(runs_of([&] { return gpu.dnn().transposed_convolution(y, w, x, padded).get(); }), Runs(1, 0));
  EXPECT_EQ(calls("cudnnBackendFinalize(plan)"), 3) << "a transposed convolution is the gradient of the input";
}

TEST_F(FakeCudnn, is_told_of_a_bias_an_addend_and_an_activation_in_one_graph) {
  const Array<f16> bias = zeros({16}), addend = image(2, 16, 16, 16);
  const ConvolutionOptions fused{.activation = DnnActivation::gelu, .bias = &bias, .addend = &addend};
  EXPECT_EQ(runs_of([&] { return convolve(fused); }), Runs(1, 0));
  EXPECT_EQ(calls("cudnn graph of 4 nodes"), 1);
  EXPECT_EQ(calls("cudnn tensor [1, 16, 1, 1] by [16, 1, 16, 16]"), 1);
  const ConvolutionOptions without{.activation = DnnActivation::mish};
  EXPECT_EQ(runs_of([&] { return convolve(without); }), Runs(0, 1)) << "it has no such function";
  EXPECT_EQ(runs_of([&] { return convolve<float>(without); }), Runs(1, 4)) << "three are packed; ours is more exact";
}

TEST_F(FakeCudnn, gets_what_lies_otherwise_packed) {
  const Array<f16> x = zeros({2, 16, 16, 16}), w = zeros({16, 16, 3, 3}), y = zeros({2, 16, 16, 16});
  EXPECT_EQ(runs_of([&] { return gpu.dnn().convolution(x, w, y, {.padding = 1}).get(); }), Runs(1, 3));
  EXPECT_EQ(calls("cudnn tensor [2, 16, 16, 16] by [4096, 1, 256, 16]"), 2);
  const Array<float> in = zeros<float>({2, 16, 16, 16}), filters = zeros<float>({16, 16, 3, 3});
  const Array<float> out = zeros<float>({2, 16, 16, 16});
  EXPECT_EQ(runs_of([&] { return gpu.dnn().convolution(in, filters, out, {.padding = 1}).get(); }), Runs(1, 0));
  EXPECT_EQ(calls("cudnn tensor [2, 16, 16, 16] by [4096, 256, 16, 1]"), 2) << "channels first";
  EXPECT_EQ(runs_of([&] { return gpu.dnn().convolution_filter_gradient(in, out, filters, {.padding = 1}).get(); }),
            Runs(0, 1))
      << "which it does not do exactly enough in f32";
  const Array<f16> line = zeros({4, 8, 4096}), taps = zeros({8, 8, 3}), sums = zeros({4, 8, 4094});
  EXPECT_EQ(runs_of([&] { return gpu.dnn().convolution(line, taps, sums).get(); }), Runs(1, 3));
  EXPECT_EQ(calls("cudnn tensor [4, 8, 1, 4096] by [32768, 1, 32768, 8]"), 1);
}

TEST_F(FakeCudnn, takes_no_engine_that_adds_in_any_order_nor_rounds_floats) {
  value(convolve<f16>());
  EXPECT_EQ(calls("cudnn engine 1"), 1);
  value(convolve<bf16>());
  EXPECT_EQ(calls("cudnn engine 1"), 2);
  value(convolve<float>());
  EXPECT_EQ(calls("cudnn engine 2"), 1) << "on tensor cores floats are rounded to tf32";
  EXPECT_EQ(calls("cudnn engine 0"), 0);
}

TEST_F(FakeCudnn, does_neither_small_ops_nor_f64) {
  EXPECT_EQ(
      runs_of([&] { return gpu.dnn().convolution(image(1, 8, 5, 5), image(8, 8, 3, 3), image(1, 8, 3, 3)).get(); }),
      Runs(0, 1));
  EXPECT_EQ(runs_of([&] { return convolve<double>(); }).first, 0);
}

TEST_F(FakeCudnn, plans_once_for_each_shape_and_keeps_256_plans) {
  for (int i = 0; i < 3; ++i) value(convolve());
  EXPECT_EQ(calls("cudnnBackendFinalize(plan)"), 1);
  const Array<f16> x = zeros({258, 8, 32, 32}), w = zeros({8, 8, 3, 3}), y = zeros({258, 8, 32, 32});
  const auto convolve_some = [&](std::int64_t count) {
    value(gpu.dnn().convolution(value(x.slice(0, 0, count)), w, value(y.slice(0, 0, count)), {.padding = 1}).get());
  };
  for (std::int64_t count = 2; count <= 257; ++count) convolve_some(count);
  EXPECT_EQ(calls("cudnnBackendFinalize(plan)"), 257);
  convolve_some(257);
  EXPECT_EQ(calls("cudnnBackendFinalize(plan)"), 257) << "the last one is there";
  value(convolve());
  EXPECT_EQ(calls("cudnnBackendFinalize(plan)"), 258) << "the first one is gone";
  EXPECT_EQ(calls("cudnnCreate"), 1);
}

TEST_F(FakeCudnn, does_attention_forward_and_backward) {
  const Attention a = attention();
  EXPECT_EQ(runs_of([&] { return attend(a); }), Runs(1, 0));
  EXPECT_EQ(calls("cudnn graph of 10 nodes"), 1);
  EXPECT_EQ(runs_of([&] { return attend(a, {.causal = true}); }), Runs(1, 0));
  EXPECT_EQ(calls("cudnn graph of 14 nodes"), 1) << "with the mask";
  EXPECT_EQ(runs_of([&] { return attend_back(a, {.causal = true}); }), Runs(1, 0));
  EXPECT_EQ(calls("cudnn engine 1"), 3);
}

TEST_F(FakeCudnn, does_attention_backward_in_parts_that_its_workspace_has_room_for) {
  const Attention a = attention(6, 4096, 4096);  // 128 MiB of slopes for each of the batch
  EXPECT_EQ(runs_of([&] { return attend_back(a); }), Runs(1, 0));
  const Attention larger = attention(4, 16384, 16384);  // 2 GiB
  EXPECT_EQ(runs_of([&] { return attend_back(larger); }).first, 0);
  const Attention parts = attention(4, 8192, 16384);  // 1 GiB
  EXPECT_EQ(runs_of([&] { return attend_back(parts); }), Runs(4, 0));
}

TEST_F(FakeCudnn, leaves_attention_to_our_kernels_that_its_graph_has_not) {
  const Attention a = attention();
  const Array<bool> mask = value(gpu.array<bool>({2, 4, 128, 128}));
  value(gpu.fill(mask, true).get());
  EXPECT_EQ(runs_of([&] { return attend(a, {.mask = &mask}); }).first, 0);
  EXPECT_EQ(runs_of([&] { return attend(a, {.causal = true, .window = 7}); }).first, 0);
  EXPECT_EQ(runs_of([&] { return attend(attention(2, 256, 128), {.causal = true, .ends_together = true}); }).first, 0)
      << "some queries see no key";
  EXPECT_EQ(runs_of([&] { return attend(attention(2, 128, 256), {.causal = true, .ends_together = true}); }).first, 1);
  Attention turned = attention();
  turned.q = value(zeros({2, 4, 64, 128}).permute({0, 1, 3, 2}));
  EXPECT_EQ(runs_of([&] { return attend(turned); }).first, 0) << "numbers of a head are not side by side";
  Attention heads_inside = attention();
  heads_inside.q = value(zeros({2, 128, 4, 64}).permute({0, 2, 1, 3}));
  EXPECT_EQ(runs_of([&] { return attend(heads_inside); }).first, 1);
}

TEST_F(FakeCudnn, that_fails_before_it_begins_leaves_the_op_to_our_kernels) {
  for (const char* const function :
       {"cudnnCreate", "cudnnBackendCreateDescriptor", "cudnnBackendFinalize", "cudnnBackendGetAttribute"}) {
    SCOPED_TRACE(function);
    fail_call(1, 2, function);
    EXPECT_EQ(runs_of([&] { return convolve(); }).first, 0);
    EXPECT_TRUE(has_failed());
    fail_nothing();
    EXPECT_EQ(runs_of([&] { return convolve(); }).first, 1) << "the next one tries again";
    gpu.close();  // the next one has no plan
    gpu = open_gpu();
  }
  value(convolve());
  fail_call(1, 2, "cuMemAllocAsync");
  EXPECT_EQ(runs_of([&] { return convolve(); }).first, 0) << "without memory for a workspace";
  EXPECT_TRUE(has_failed());
}

TEST_F(FakeCudnn, whose_engine_cannot_be_planned_takes_the_next_one) {
  fail_call(1, 999, "cudnnBackendFinalize(plan)");
  value(convolve());
  EXPECT_TRUE(has_failed());
  EXPECT_EQ(calls("cudnn engine 2"), 1);
}

TEST_F(FakeGpu, without_cudnn_our_kernels_do_convolutions) {
  for (const char* const old : {"", "old/libcudnn.so.9"}) {
    SCOPED_TRACE(old);
    if (*old == '\0')
      use_libraries({"libcuda.so.1", "libcublas.so.13"});
    else
      use_libraries({"libcuda.so.1", "libcublas.so.13", old});
    const Device gpu = open_gpu(in_process());
    const Array<float> x = filled(gpu, {2, 16, 16, 16}, 1.0f), w = filled(gpu, {16, 16, 3, 3}, 1.0f);
    const Array<float> y = filled(gpu, {2, 16, 16, 16}, 1.0f);
    const std::uint64_t launches = calls("cuLaunchKernel");
    const Result<void> end = gpu.dnn().convolution(x, w, y, {.padding = 1}).get();
    EXPECT_TRUE(end) << end.error().to_string();
    EXPECT_EQ(calls("cuLaunchKernel"), launches + 1);
    EXPECT_EQ(gpu.generation(), 1) << "no worker was lost";
  }
}

TEST_F(FakeGpu, a_sticky_error_of_cudnn_makes_the_standby_take_over) {
  const Device gpu = open_gpu(in_process(Standby::warm));
  const Array<float> kept = ramp(gpu, 5000);
  const Array<float> x = filled(gpu, {2, 16, 16, 16}, 1.0f), w = filled(gpu, {16, 16, 3, 3}, 1.0f);
  const Array<float> y = filled(gpu, {2, 16, 16, 16}, 1.0f);
  value(gpu.dnn().convolution(x, w, y, {.padding = 1}).get());
  page().fail_process = gpu.worker_pid();
  fail_call(1, 700, "cudnnBackendExecute");
  (void)gpu.dnn().convolution(x, w, y, {.padding = 1}).get();
  eventually([&] { return gpu.generation() == 2; });
  EXPECT_TRUE(is_ramp(gpu, kept));
  EXPECT_TRUE(gpu.dnn().convolution(x, w, y, {.padding = 1}).get());
}

}  // namespace
}  // namespace troupe

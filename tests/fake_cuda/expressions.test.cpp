// Expressions are compiled in the background: which kernel an op is launched with, when, and what becomes of it when
// there is no compiler, when it fails, and when there are more expressions than a worker keeps.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

constexpr const char* kCompiled = "troupe_expression";
constexpr const char* kInterpreting = "troupe_evaluate_f32";

class FakeExpressions : public FakeGpu {
 protected:
  ~FakeExpressions() override { unsetenv("TROUPE_EXPRESSIONS"); }
  void TearDown() override {
    if (gpu) gpu->close();
    expect_all_gone();
    FakeGpu::TearDown();
  }
  void open_with(const char* mode = nullptr, const DeviceOptions& options = in_thread()) {
    if (mode) setenv("TROUPE_EXPRESSIONS", mode, 1);
    gpu = open_gpu(options);
    x = filled(*gpu, {64}, 1.0f);
    y = filled(*gpu, {64}, 1.0f);
  }
  void evaluate(const Expression& expression) { value(gpu->tensor().evaluate(expression, y).get()); }
  /// Evaluates until it is launched as a kernel of its own.
  void evaluate_until_compiled(const Expression& expression) {
    const std::uint64_t before = launches(kCompiled);
    eventually([&] {
      evaluate(expression);
      return launches(kCompiled) > before;
    });
  }
  static std::uint64_t launches(std::string_view kernel) { return calls("launch " + std::string(kernel)); }
  static std::uint64_t compilations() { return calls("nvrtcCompileProgram"); }
  /// exp(exp(... x)), of so many steps.
  Expression deep(int steps) const {
    Expression made = x;
    for (int i = 0; i < steps; ++i) made = exp(made);
    return made;
  }
  /// One of many expressions, which all differ.
  Expression numbered(int number) const {
    Expression made = x;
    for (int bit = 0; bit < 10; ++bit) made = (number >> bit & 1) != 0 ? exp(made) : tanh(made);
    return made;
  }

  std::optional<Device> gpu;
  Array<float> x, y;
};

TEST_F(FakeExpressions, are_interpreted_until_they_are_compiled_and_compiled_once) {
  open_with();
  evaluate(x + 1);
  EXPECT_EQ(launches(kInterpreting), 1);
  EXPECT_EQ(compilations(), 0) << "what is used once is not worth it";
  evaluate_until_compiled(x + 1);
  EXPECT_EQ(compilations(), 1);
  const std::uint64_t interpreted = launches(kInterpreting);
  for (int i = 0; i < 5; ++i) evaluate(x + i);
  EXPECT_EQ(compilations(), 1) << "numbers are arguments";
  EXPECT_EQ(launches(kInterpreting), interpreted);
  EXPECT_EQ(launches(kCompiled), 6);
}

TEST_F(FakeExpressions, have_a_kernel_for_each_program_type_and_layout) {
  open_with("compiled");
  evaluate(x + 1);
  evaluate(x - 1);
  EXPECT_EQ(compilations(), 2) << "another program";
  const Array<double> wide = filled(*gpu, {64}, 1.0);
  evaluate(x + wide);
  evaluate(wide + 1);
  EXPECT_EQ(compilations(), 4) << "other types";
  const Array<float> every_second = value(filled(*gpu, {128}, 1.0f).slice(0, 0, 128, 2));
  evaluate(every_second + 1);
  const Array<float> one = filled(*gpu, {1}, 1.0f);
  evaluate(x + one);
  EXPECT_EQ(compilations(), 6) << "other layouts";
  const Array<float> longer = filled(*gpu, {1000}, 1.0f);
  value(gpu->tensor().evaluate(longer + 1, filled(*gpu, {1000}, 0.0f)).get());
  value(gpu->tensor().evaluate(value(longer.slice(0, 0, 128, 2)) + 1, y).get());
  EXPECT_EQ(compilations(), 6) << "shapes and strides are arguments";
  EXPECT_EQ(launches(kInterpreting), 0);
}

TEST_F(FakeExpressions, are_never_compiled_when_told_so) {
  open_with("interpreted");
  for (int i = 0; i < 5; ++i) evaluate(x + 1);
  EXPECT_EQ(launches(kInterpreting), 5);
  EXPECT_EQ(compilations(), 0);
}

TEST_F(FakeExpressions, stay_interpreted_without_a_compiler_which_is_said_once) {
  use_libraries({"libcuda.so.1", "libcublas.so.13", "libcublasLt.so.13"});
  open_with(nullptr, in_process());  // a process of its own has opened no library yet
  for (int expression = 0; expression < 3; ++expression)
    for (int i = 0; i < 3; ++i) evaluate(deep(1 + expression));
  eventually([&] { return log.has("expressions are interpreted"); });
  for (int i = 0; i < 3; ++i) evaluate(deep(9));
  EXPECT_EQ(launches(kCompiled), 0);
  const std::string all = log.all();
  const std::size_t first = all.find("expressions are interpreted");
  EXPECT_EQ(all.find("expressions are interpreted", first + 1), std::string::npos) << all;
  EXPECT_NE(all.find("NVRTC was not found"), std::string::npos) << all;
  gpu->close();
  reset_page();  // a process takes what it has with it
}

TEST_F(FakeExpressions, stay_interpreted_where_the_compiler_fails_and_others_do_not) {
  for (const char* const function :
       {"nvrtcCreateProgram", "nvrtcCompileProgram", "cuModuleLoadData", "cuModuleGetFunction"}) {
    SCOPED_TRACE(function);
    reset_page();
    open_with();
    evaluate(x + 1);
    fail_call(1, 2, function);
    evaluate(x + 1);
    eventually([&] { return has_failed(); });
    fail_nothing();
    for (int i = 0; i < 3; ++i) evaluate(x + 1);
    EXPECT_EQ(launches(kCompiled), 0);
    evaluate_until_compiled(x - 1);
    gpu->close();
    expect_all_gone();
  }
  EXPECT_TRUE(log.has("expressions are interpreted, which takes longer"));
}

TEST_F(FakeExpressions, of_which_ops_wait_fail_with_the_compiler) {
  open_with("compiled");
  fail_call(1, 2, "nvrtcCompileProgram");
  const Result<void> failed = gpu->tensor().evaluate(x + 1, y).get();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), ErrorKind::library_error);
  EXPECT_NE(failed.error().message().find("the expression was not compiled"), std::string_view::npos);
}

TEST_F(FakeExpressions, beyond_what_a_worker_keeps_the_one_that_was_not_used_for_longest_goes) {
  open_with("compiled");
  constexpr int kKept = 256;  // cuda::kMaxCompiledExpressions
  for (int i = 0; i < kKept; ++i) evaluate(numbered(i));
  evaluate(numbered(0));
  EXPECT_EQ(compilations(), kKept);
  EXPECT_EQ(calls("cuModuleUnload"), 0);
  evaluate(numbered(kKept));
  eventually([&] { return calls("cuModuleUnload") == 1; });
  evaluate(numbered(0));
  EXPECT_EQ(compilations(), kKept + 1) << "it was used just before";
  evaluate(numbered(1));
  EXPECT_EQ(compilations(), kKept + 2) << "it was the oldest";
  eventually([&] { return calls("cuModuleUnload") == 2; });
}

TEST_F(FakeExpressions, are_unloaded_only_after_what_was_launched_has_ended) {
  open_with();
  for (int i = 0; i < 256; ++i) evaluate_until_compiled(numbered(i));
  Held held;
  value(gpu->tensor().evaluate(numbered(0), y).submit());
  value(gpu->tensor().evaluate(numbered(256), y).submit());
  eventually([&] { return calls("cuCtxSynchronize") == 1; });
  EXPECT_EQ(calls("cuModuleUnload"), 0) << "streams have begun nothing";
  held.release();
  eventually([&] { return calls("cuModuleUnload") == 1; });
}

TEST_F(FakeExpressions, that_end_in_a_reduction_are_compiled_for_each_way) {
  open_with();
  const Array<float> matrix = filled(*gpu, {300, 200}, 1.0f);
  const Array<float> rows = filled(*gpu, {300}, 0.0f), columns = filled(*gpu, {200}, 0.0f);
  value(gpu->tensor().reduce(Reduction::sum, exp(matrix), {1}, rows).get());
  EXPECT_EQ(launches("troupe_interpret_rows_f32"), 1);
  EXPECT_EQ(launches("troupe_finish_reduce_f32"), 1);
  value(gpu->tensor().reduce(Reduction::sum, exp(matrix), {0}, columns).get());
  EXPECT_EQ(launches("troupe_interpret_columns_f32"), 1);
  eventually([&] {
    value(gpu->tensor().reduce(Reduction::mean, exp(matrix), {1}, rows).get());
    return launches(kCompiled) == 1;
  });
  eventually([&] {
    value(gpu->tensor().reduce(Reduction::sum, exp(matrix), {0}, columns).get());
    return launches(kCompiled) == 2;
  });
  EXPECT_EQ(compilations(), 2);
}

TEST_F(FakeExpressions, that_end_in_a_reduction_take_little_memory_for_partial_results) {
  open_with("interpreted");
  // 16 bytes for each of 2^25 outputs are 512 MiB, and a quarter of a gibibyte is the most: two rounds, and the rest.
  constexpr std::int64_t kOutputs = (std::int64_t{1} << 25) + 5;
  const Array<float> matrix = value(gpu->array<float>({2, kOutputs}));
  const Array<float> columns = value(gpu->array<float>({kOutputs}));
  value(gpu->fill(matrix, 1.0f).get());
  value(gpu->tensor().reduce(Reduction::sum, exp(matrix), {0}, columns).get());
  EXPECT_EQ(launches("troupe_interpret_columns_f32"), 3);
  EXPECT_EQ(launches("troupe_finish_reduce_f32"), 3);
}

TEST_F(FakeExpressions, begin_anew_in_a_worker_that_replaces_another) {
  open_with("compiled", in_process());
  evaluate(x + 1);
  EXPECT_EQ(compilations(), 1);
  fail_call(1, 700, "cuLaunchKernel");  // an illegal address: the end of this worker
  ASSERT_FALSE(gpu->tensor().evaluate(x - 1, y).get());
  fail_nothing();
  x = filled(*gpu, {64}, 1.0f);
  y = filled(*gpu, {64}, 1.0f);
  const std::uint64_t before = compilations();
  evaluate(x + 1);
  EXPECT_EQ(compilations(), before + 1);
  EXPECT_EQ(launches(kInterpreting), 0);
  gpu->close();
  reset_page();  // a process takes what it has with it
}

}  // namespace
}  // namespace troupe

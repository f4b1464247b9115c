// What the tensor family refuses, before anything is submitted, and in which words; and what `explain` says.
#include "troupe/library/tensor/tensor.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "troupe/library/tensor/einsum.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

class TensorTest : public ::testing::Test {
 protected:
  template <class T = float>
  Array<T> array(const Shape& shape) {
    return value(device_.array<T>(shape));
  }
  Tensor tensor() const { return device_.tensor(); }
  /// The end of a call that must not reach a worker.
  Error refused(Call<void> call) {
    const std::uint64_t before = device_.stats().submitted;
    const Result<void> result = std::move(call).get();
    EXPECT_EQ(device_.stats().submitted, before);
    return result ? Error(ErrorKind::internal, "it was not refused") : result.error();
  }
  void expect_refused(Call<void> call, ErrorKind kind, const std::string& words) {
    const Error error = refused(std::move(call));
    EXPECT_EQ(error.kind(), kind) << error.to_string();
    EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
  }

  System system_{{.log = log_nothing()}};
  Device device_ = value(system_.device("host", {.isolation = Isolation::thread, .standby = Standby::none}));
  Array<float> a_ = array({2, 3});
  Array<float> b_ = array({3, 4});
  Array<float> c_ = array({2, 4});
};

TEST_F(TensorTest, points_at_what_is_wrong_in_a_text) {
  const auto expect = [&](const char* text, const std::string& words) {
    SCOPED_TRACE(text);
    expect_refused(tensor().einsum(text, a_, b_, c_), ErrorKind::invalid_argument, words);
  };
  expect("ik,k7->ij", "'7' must be a letter, \",\" or \"->\"\n  ik,k7->ij\n      ^");
  expect("ik,kj-ij", "'-' must be a letter, \",\" or \"->\"\n  ik,kj-ij\n       ^");
  expect("ik,kj", "\"->\" and the output are missing\n  ik,kj\n       ^");
  expect("ik,kj->ij->ij", "\"->\" is there twice\n  ik,kj->ij->ij\n           ^");
  expect("ik,kj->i,j", "there must be one output\n  ik,kj->i,j\n          ^");
  expect("ik,kj->iq", "'q' is in no operand\n  ik,kj->iq\n          ^");
  expect("ik,kj->ii", "'i' is twice in the output\n  ik,kj->ii\n          ^");
  expect("ik,ij->kj", "'i' is 2 in operand 1 and 3 in operand 2; it must have one extent\n  ik,ij->kj\n     ^");
  expect("ii,ij->ij", "'i' is 2 and 3 in one operand; it must have one extent\n  ii,ij->ij\n   ^");
  expect("ikl,kj->ij", "operand 1 is [2, 3] and has 3 letters; each axis needs one\n  ikl,kj->ij\n  ^");
  expect("ik,kj->ji", "the output is [2, 4]; it must be [4, 2]\n  ik,kj->ji\n         ^");
  expect("ik->i", "the text has 1 operands, and the call has 2");
  expect("ik,kj,k->ij", "the text has 3 operands, and the call has 2");
  expect("", "\"->\" and the output are missing");
  expect("..k,kj->j", "an ellipsis must have three dots\n  ..k,kj->j\n  ^");
  expect("...k...,kj->j", "an operand has \"...\" twice\n  ...k...,kj->j\n      ^");
  expect("ik,kj->...ij", "\"...\" is in no operand\n  ik,kj->...ij\n         ^");
  expect("...ikl,kj->ij", "operand 1 is [2, 3] and has 3 letters; each axis needs one\n  ...ikl,kj->ij\n     ^");
  expect("...k,...j->kj",
         "an axis of \"...\" is 2 in operand 1 and 3 in operand 2; it must have one extent\n  ...k,...j->kj\n       ^");
  expect_refused(tensor().einsum(std::string(1000, 'i'), a_, b_, c_), ErrorKind::invalid_argument,
                 "the text has 1000 characters; it may have 256");
}

/// The op of a text for dense arrays of these shapes.
op::Contract contract(std::string_view text, const Shape& a, const Shape& b, const Shape& c) {
  const auto view = [](std::uint64_t address, const Shape& shape) {
    return op::View{.address = address, .dtype = DType::f32, .shape = shape, .strides = contiguous_strides(shape)};
  };
  return value(make_contract(value(parse_einsum(text, 2)), view(4096, a), view(8192, b), view(12288, c)));
}

TEST(EinsumEllipsis, is_the_axes_that_the_letters_leave_over) {
  EXPECT_EQ(contract("...ik,...kj->...ij", {2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}),
            contract("xyik,xykj->xyij", {2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}));
  EXPECT_EQ(contract("...k,kj->...j", {2, 3, 5}, {5, 6}, {2, 3, 6}),
            contract("xyk,kj->xyj", {2, 3, 5}, {5, 6}, {2, 3, 6}));
  EXPECT_EQ(contract("i...,...j->j...i", {4, 3}, {3, 5}, {5, 3, 4}), contract("ix,xj->jxi", {4, 3}, {3, 5}, {5, 3, 4}));
  EXPECT_EQ(contract("...ik,kj->...ij", {4, 5}, {5, 6}, {4, 6}), contract("ik,kj->ij", {4, 5}, {5, 6}, {4, 6}));
}

TEST(EinsumEllipsis, aligns_the_last_axes_and_repeats_an_extent_of_one) {
  EXPECT_EQ(contract("...ik,...kj->...ij", {2, 3, 4, 5}, {3, 5, 6}, {2, 3, 4, 6}),
            contract("xyik,ykj->xyij", {2, 3, 4, 5}, {3, 5, 6}, {2, 3, 4, 6}));
  EXPECT_EQ(contract("...ik,...kj->...ij", {2, 1, 4, 5}, {3, 5, 6}, {2, 3, 4, 6}),
            contract("xik,ykj->xyij", {2, 4, 5}, {3, 5, 6}, {2, 3, 4, 6}));
  EXPECT_EQ(contract("...i,...i->...", {1, 4}, {1, 4}, {1}), contract("xi,xi->x", {1, 4}, {1, 4}, {1}));
}

TEST(EinsumEllipsis, is_summed_over_when_the_output_has_none) {
  EXPECT_EQ(contract("...i,...j->ij", {2, 3, 4}, {2, 3, 5}, {4, 5}),
            contract("xyi,xyj->ij", {2, 3, 4}, {2, 3, 5}, {4, 5}));
}

TEST_F(TensorTest, transposes_what_the_ellipsis_leaves) {
  const auto in = array({2, 3, 4});
  const auto out = array({2, 4, 3});
  std::vector<float> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  value(device_.write(in, numbers).get());
  value(tensor().einsum("...ij->...ji", in, out).get());
  const HostArray<float> turned = value(device_.read(out).get());
  for (std::size_t x = 0; x < 2; ++x)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(turned[12 * x + 3 * j + i], numbers[12 * x + 4 * i + j]);
}

TEST_F(TensorTest, takes_spaces_and_capitals) {
  value(device_.fill(a_, 1.0F).get());
  value(device_.fill(b_, 1.0F).get());
  value(tensor().einsum(" i K , K j -> i j ", a_, b_, c_).get());
  EXPECT_EQ(value(device_.read(c_).get())[0], 3.0F);
}

TEST_F(TensorTest, refuses_what_cannot_be_contracted) {
  expect_refused(tensor().einsum("ik,kj->ij", a_, array<double>({3, 4}), c_), ErrorKind::invalid_argument,
                 "a is f32 and b is f64; they must have the same type");
  expect_refused(tensor().einsum("ik,kj->ij", a_, b_, array<double>({2, 4})), ErrorKind::invalid_argument,
                 "a is f32 and c is f64; they must have the same type");
  const auto ints = array<std::int32_t>({2, 2});
  expect_refused(tensor().einsum("ik,kj->ij", ints, ints, array<std::int32_t>({2, 2})), ErrorKind::unsupported,
                 "einsum: c is i32; it must be f32, f64, f16, bf16, c64 or c128");
  const auto square = array({3, 3});
  expect_refused(tensor().einsum("ik,kj->ij", square, array({3, 3}), square), ErrorKind::invalid_argument,
                 "overlap, and the op would write one of them");
  expect_refused(tensor().einsum("ik,kj->ij", a_, b_, c_, {.alpha = {0.0, 1.0}}), ErrorKind::invalid_argument,
                 "einsum: alpha is 0+1i; arrays of f32 need a real alpha");
  expect_refused(tensor().einsum("ik,kj->ij", a_, b_, value(array({1, 4}).broadcast({2, 4}))),
                 ErrorKind::invalid_argument, "overlap each other");
  expect_refused(tensor().einsum("ik,kj->ij", a_, b_, c_, {.engine = TensorEngine::cutensor}), ErrorKind::unsupported,
                 "the engine cutensor needs a GPU");
  expect_refused(tensor().einsum("ij->ji", a_, array({3, 2}), {.engine = TensorEngine::gemm}), ErrorKind::unsupported,
                 "options.engine is gemm; with one operand it must be automatic");
  expect_refused(tensor().einsum("ik,kj->ij", Array<float>(), b_, c_), ErrorKind::invalid_argument, "");
}

TEST_F(TensorTest, counts_axes_below_zero_from_the_end) {
  value(device_.write(a_, std::vector<float>{1, 2, 3, 4, 5, 6}).get());
  const auto rows = array({2}), columns = array({3});
  value(tensor().reduce(Reduction::sum, a_, {-1}, rows).get());
  value(tensor().reduce(Reduction::sum, a_ * a_, {-2}, columns).get());
  EXPECT_EQ(value(device_.read(rows).get())[1], 15.0F);
  EXPECT_EQ(value(device_.read(columns).get())[0], 17.0F);
  expect_refused(tensor().reduce(Reduction::sum, a_, {1, -1}, rows), ErrorKind::invalid_argument,
                 "axis 1 is given twice");
}

TEST_F(TensorTest, refuses_what_cannot_be_reduced) {
  expect_refused(tensor().reduce(Reduction::sum, a_, {2}, array({2})), ErrorKind::invalid_argument,
                 "in is [2, 3]; it has no axis 2");
  expect_refused(tensor().reduce(Reduction::sum, a_, {-3}, array({2})), ErrorKind::invalid_argument, "no axis -3");
  expect_refused(tensor().reduce(Reduction::sum, a_, {1, 1}, array({2})), ErrorKind::invalid_argument,
                 "axis 1 is given twice");
  expect_refused(tensor().reduce(Reduction::sum, a_, {1}, array({3})), ErrorKind::invalid_argument,
                 "in is [2, 3] and out is [3]; out must be [2, 1] or [2]");
  const auto complex = array<std::complex<float>>({2, 3});
  expect_refused(tensor().reduce(Reduction::max, complex, {1}, array<std::complex<float>>({2})), ErrorKind::unsupported,
                 "max: in is c64; it must be f32, f64, f16, bf16, bool, i8,");
  expect_refused(tensor().reduce(Reduction::norm, complex, {1}, array<std::complex<float>>({2})),
                 ErrorKind::invalid_argument, "norm: in is c64, so out must be f32; it is c64");
  expect_refused(tensor().reduce(Reduction::max, array({0, 2}), {0}, array({2})), ErrorKind::invalid_argument,
                 "max: in is [0, 2]; it must have at least one element");
}

TEST_F(TensorTest, refuses_what_cannot_be_done_element_by_element) {
  expect_refused(tensor().binary(Binary::add, a_, b_, c_), ErrorKind::invalid_argument,
                 "add: the operands are [2, 3] and [3, 4]; their shapes must broadcast");
  expect_refused(tensor().binary(Binary::add, a_, array({3}), array({2, 2, 3})), ErrorKind::invalid_argument,
                 "add: out is [2, 2, 3]; operands of [2, 3] and [3] make [2, 3]");
  expect_refused(tensor().binary(Binary::add, a_, array<double>({2, 3}), array({2, 3})), ErrorKind::invalid_argument,
                 "add: a is f32 and b is f64, so out must be f64; it is f32");
  const auto complex = array<std::complex<double>>({2});
  expect_refused(tensor().unary(Unary::relu, complex, array<std::complex<double>>({2})), ErrorKind::unsupported,
                 "relu: a is c128; it must be f32, f64, f16, bf16, i8,");
  expect_refused(tensor().binary(Binary::pow, complex, 2, array<std::complex<double>>({2})), ErrorKind::unsupported,
                 "pow: a is c128; it must be f32, f64, f16 or bf16");
  expect_refused(tensor().ternary(Ternary::select, a_, a_, a_, array({2, 3})), ErrorKind::invalid_argument,
                 "select: a is f32; it must be bool");
  expect_refused(tensor().ternary(Ternary::select, 1, a_, a_, array({2, 3})), ErrorKind::invalid_argument,
                 "select: a, the condition, is a number; it must be an array of bool");
  const auto row = array({4});
  expect_refused(tensor().unary(Unary::exp, value(row.slice(0, 0, 3)), value(row.slice(0, 1, 4))),
                 ErrorKind::invalid_argument, "overlap, and the op would write one of them");
  expect_refused(tensor().permute(a_, {0, 0}, a_), ErrorKind::invalid_argument, "");
  expect_refused(tensor().permute(a_, {1, 0}, array({2, 3})), ErrorKind::invalid_argument,
                 "permute: out is [2, 3]; it must be [3, 2]");
}

TEST_F(TensorTest, explains_what_would_run) {
  const EinsumPlan plain = value(tensor().explain("ik,kj->ij", array({256, 128}), array({128, 64})));
  EXPECT_EQ(plain.engine, TensorEngine::gemm);
  EXPECT_EQ(plain.rows, 256);
  EXPECT_EQ(plain.columns, 64);
  EXPECT_EQ(plain.depth, 128);
  EXPECT_EQ(plain.bytes_moved, 0);
  EXPECT_EQ(plain.to_string(), "gemm: 1 x [256 x 128] [128 x 64]; 4194304 flops, 0 bytes moved, 1 call");

  const EinsumPlan moved = value(tensor().explain("ikj,jlk->il", array({64, 64, 64}), array({64, 64, 64})));
  EXPECT_EQ(moved.engine, TensorEngine::gemm);
  EXPECT_EQ(moved.depth, 64 * 64);
  EXPECT_TRUE(moved.permutes_a != moved.permutes_b) << moved.to_string();
  EXPECT_EQ(moved.bytes_moved, 2.0 * 64 * 64 * 64 * 4);

  EXPECT_EQ(value(tensor().explain("ij,ij->ij", array({64, 64}), array({64, 64}))).engine, TensorEngine::loops);
  EXPECT_EQ(value(tensor().explain("i,i->", array({3}), array({3}))).engine, TensorEngine::loops);
  EXPECT_EQ(value(tensor().explain("ik,kj->ij", a_, b_, c_, {.engine = TensorEngine::gemm})).engine,
            TensorEngine::gemm);
  EXPECT_TRUE(value(tensor().explain("ikq,kj->ij", array({2, 3, 5}), b_)).sums_a_first);
  EXPECT_EQ(tensor().explain("ik,kj->ij", a_, b_, {.engine = TensorEngine::cutensor}).error().kind(),
            ErrorKind::unsupported);
}

}  // namespace
}  // namespace troupe

// Einsum of three and more operands: expressions at random from a seed against nested loops, on whole numbers, which
// are exact; and that it is one call.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "troupe/core/seed.test.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using Extents = std::map<char, std::int64_t>;

/// An array on the device and its numbers in row-major order.
struct Operand {
  std::string letters;
  Array<double> array;
  std::vector<double> numbers;
};

class EinsumMany : public ::testing::Test {
 protected:
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  /// Small whole numbers; sometimes in an array that is transposed.
  Operand operand(const std::string& letters, const Shape& shape) {
    Operand made{letters, {}, std::vector<double>(static_cast<std::size_t>(value(element_count(shape))))};
    for (double& element : made.numbers) element = static_cast<double>(number(-3, 3));
    if (number(0, 2) == 0) {
      std::vector<std::int64_t> turned(shape.begin(), shape.end());
      std::ranges::reverse(turned);
      made.array = value(device_.array<double>(Shape(turned))).transpose();
    } else {
      made.array = value(device_.array<double>(shape));
    }
    value(device_.write(made.array, made.numbers).get());
    return made;
  }
  Operand operand(const std::string& letters, const Extents& extents) {
    std::vector<std::int64_t> shape;
    for (const char letter : letters) shape.push_back(extents.at(letter));
    return operand(letters, Shape(shape));
  }

  /// What the letters say, one loop for each. A digit may have an extent of 1 in an operand: then it is repeated.
  static std::vector<double> by_loops(const std::vector<Operand>& operands, const std::string& output,
                                      const Extents& extents) {
    std::int64_t count = 1;
    for (const char letter : output) count *= extents.at(letter);
    std::vector<double> sums(static_cast<std::size_t>(count));
    std::map<char, std::int64_t> at;
    const auto run = [&](auto& self, auto letter) -> void {
      if (letter != extents.end()) {
        for (std::int64_t i = 0; i < letter->second; ++i) {
          at[letter->first] = i;
          self(self, std::next(letter));
        }
        return;
      }
      double product = 1;
      for (const Operand& operand : operands) {
        std::int64_t place = 0;
        for (int i = 0; i < operand.array.rank(); ++i) {
          const std::int64_t extent = operand.array.shape()[i];
          place = place * extent + (extent == 1 ? 0 : at[operand.letters[static_cast<std::size_t>(i)]]);
        }
        product *= operand.numbers[static_cast<std::size_t>(place)];
      }
      std::int64_t place = 0;
      for (const char letter_out : output) place = place * extents.at(letter_out) + at[letter_out];
      sums[static_cast<std::size_t>(place)] += product;
    };
    run(run, extents.begin());
    return sums;
  }

  static std::vector<AnyArray> arrays_of(const std::vector<Operand>& operands) {
    std::vector<AnyArray> arrays;
    for (const Operand& operand : operands) arrays.push_back(operand.array);
    return arrays;
  }

  /// `text` as it is called; `output` and the operands' letters with the ellipsis as digits.
  void expect_einsum(const std::string& text, const std::vector<Operand>& operands, const std::string& output,
                     const Extents& extents, EinsumOptions options = {}) {
    SCOPED_TRACE(text + ", seed " + std::to_string(seed_));
    const Operand c = operand(output, extents);
    const Result<void> end = tensor().einsum(text, arrays_of(operands), c.array, options).get();
    ASSERT_TRUE(end) << end.error().to_string();
    const std::vector<double> sums = by_loops(operands, output, extents);
    const HostArray<double> found = value(device_.read(c.array).get());
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(found[i], options.alpha.real * sums[i] + options.beta.real * c.numbers[i]) << "element " << i;
  }

  Tensor tensor() const { return device_.tensor(); }
  Array<float> array(const Shape& shape) { return value(device_.array<float>(shape)); }
  Array<float> ones(const Shape& shape) {
    Array<float> made = array(shape);
    value(device_.fill(made, 1.0f).get());
    return made;
  }
  void expect_refused(Call<void> call, ErrorKind kind, std::string_view words) {
    const std::uint64_t before = device_.stats().submitted;
    const Result<void> end = std::move(call).get();
    EXPECT_EQ(device_.stats().submitted, before);
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().kind(), kind);
    EXPECT_NE(end.error().message().find(words), std::string_view::npos) << end.error().to_string();
  }

  const std::uint64_t seed_ = test_seed();
  std::mt19937_64 random_{seed_};
  System system_{{.log = log_nothing()}};
  Device device_ = value(system_.device("host", {.isolation = Isolation::thread, .standby = Standby::none}));
};

TEST_F(EinsumMany, gives_what_people_expect) {
  const Extents extents{{'b', 2}, {'h', 3}, {'i', 4}, {'j', 5}, {'k', 3}, {'l', 2}};
  const auto expect = [&](const std::string& text, const std::vector<std::string>& terms, const std::string& output) {
    Extents used;
    std::vector<Operand> operands;
    for (const std::string& term : terms) {
      for (const char letter : term) used[letter] = extents.at(letter);
      operands.push_back(operand(term, extents));
    }
    for (const TensorEngine engine : {TensorEngine::automatic, TensorEngine::loops})
      expect_einsum(text, operands, output, used, {.engine = engine});
    expect_einsum(text, operands, output, used, {.alpha = 2.0, .beta = -1.0});
  };
  expect("ij,jk,kl->il", {"ij", "jk", "kl"}, "il");
  expect("i,ij,j->", {"i", "ij", "j"}, "");
  expect("ij,ij,ij->ij", {"ij", "ij", "ij"}, "ij");
  expect("bi,bj,bk->bijk", {"bi", "bj", "bk"}, "bijk");
  expect("ii,ij,jj->j", {"ii", "ij", "jj"}, "j");
  expect("i,j,k,l->lkji", {"i", "j", "k", "l"}, "lkji");
  expect("bhij,hk,ijl,,k->bl", {"bhij", "hk", "ijl", "", "k"}, "bl");
}

TEST_F(EinsumMany, repeats_along_the_ellipsis) {
  // The axes of the ellipsis, from the last one backwards, are 0 and 1.
  const std::vector<Operand> operands{operand("10ik", Shape{3, 1, 2, 4}), operand("0kj", Shape{5, 4, 2}),
                                      operand("j", Shape{2}), operand("10", Shape{1, 5})};
  const Extents extents{{'0', 5}, {'1', 3}, {'i', 2}, {'j', 2}, {'k', 4}};
  expect_einsum("...ik,...kj,j,...->...i", operands, "10i", extents);
  expect_einsum("...ik,...kj,j,...->i...j", operands, "i10j", extents);
  expect_einsum("...ik,...kj,j,...->i", operands, "i", extents);
}

TEST_F(EinsumMany, gives_what_loops_give_for_any_text) {
  for (int round = 0; round < 100; ++round) {
    Extents all;
    for (char letter = 'a'; letter <= 'g'; ++letter) all[letter] = number(0, 29) == 0 ? 0 : number(1, 3);
    Extents used;
    std::vector<Operand> operands;
    std::string text;
    const std::int64_t count = number(0, 9) == 0 ? number(9, 12) : number(3, 6);
    while (std::ssize(operands) < count) {
      std::string letters;
      for (std::int64_t axes = number(0, 3); axes > 0; --axes) letters += static_cast<char>('a' + number(0, 6));
      for (const char letter : letters) used[letter] = all.at(letter);
      text += (operands.empty() ? "" : ",") + letters;
      operands.push_back(operand(letters, all));
    }
    std::string output;
    for (const auto& [letter, extent] : used)
      if (number(0, 2) == 0) output += letter;
    std::ranges::shuffle(output, random_);
    expect_einsum(text + "->" + output, operands, output, used);
    if (HasFatalFailure()) return;
  }
}

TEST_F(EinsumMany, takes_operands_in_braces_and_one_array_many_times) {
  const Array<float> a = ones({2, 3});
  const Array<float> c = array({2, 2});
  ASSERT_TRUE(tensor().einsum("ik,jk,jl->il", {a, a, a}, array({2, 3})).get());
  ASSERT_TRUE(tensor().einsum("ik,jk->ij", {a, a}, c).get());
  EXPECT_EQ(value(device_.read(c).get())[3], 3.0f);
  const std::vector<Array<float>> one{a};
  ASSERT_TRUE(tensor().einsum("ik->k", one, array({3})).get());
}

TEST_F(EinsumMany, is_one_call_that_is_awaited_or_submitted) {
  const Array<float> a = ones({20, 20});
  const Array<float> c = array({20, 20});
  ASSERT_TRUE(tensor().einsum("ij,jk,kl,lm->im", {a, a, a, a}, c).submit());
  EXPECT_EQ(value(device_.read(c).get())[7], 8000.0f);
  const auto wait = [](Device device, Array<float> in, Array<float> out) -> Task<Result<float>> {
    CO_TRY(co_await device.tensor().einsum("ij,jk,kl->il", {in, in, in}, out));
    co_return CO_TRY(co_await device.read(out))[0];
  };
  EXPECT_EQ(value(system_.run(wait(device_, a, c))), 400.0f);
}

TEST_F(EinsumMany, leaves_no_memory_behind) {
  const Array<float> a = ones({20, 20});
  const Array<float> c = array({20, 20});
  const std::uint64_t used = device_.stats().memory.used_bytes;
  {
    const Call<void> dropped = tensor().einsum("ij,jk,kl,lm->im", {a, a, a, a}, c);
  }
  EXPECT_EQ(device_.stats().memory.used_bytes, used);
  ASSERT_TRUE(tensor().einsum("ij,jk,kl,lm->im", {a, a, a, a}, c).get());
  EXPECT_EQ(device_.stats().memory.used_bytes, used);
  ASSERT_TRUE(tensor().einsum("ij,jk,kl,lm->im", {a, a, a, a}, c).submit());
  ASSERT_TRUE(device_.read(c).get());
  EXPECT_EQ(device_.stats().memory.used_bytes, used);
}

TEST_F(EinsumMany, ends_once_when_nothing_may_begin) {
  const Array<float> a = ones({4, 4});
  const Array<float> c = ones({4, 4});
  const auto end_of = [&](Call<void> call) { return std::move(call).get().error().kind(); };
  const auto call = [&] { return tensor().einsum("ij,jk,kl->il", {a, a, a}, c); };
  EXPECT_EQ(end_of(call().deadline(Duration(0))), ErrorKind::deadline_exceeded);
  EXPECT_EQ(end_of(call().wait_at_most(Duration(0))), ErrorKind::timeout);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(end_of(call().cancel_on(stop.get_token())), ErrorKind::cancelled);
  EXPECT_EQ(value(device_.read(c).get())[0], 1.0f) << "c is as it was";
  auto late = call();
  device_.close();
  EXPECT_EQ(end_of(std::move(late)), ErrorKind::stopped);
}

TEST_F(EinsumMany, refuses_what_does_not_fit_and_names_the_operand) {
  const Array<float> a = array({2, 3}), b = array({3, 4}), d = array({4, 5}), c = array({2, 5});
  using enum ErrorKind;
  expect_refused(tensor().einsum("ij,jk,jl->il", {a, b, d}, c), invalid_argument,
                 "'j' is 3 in operand 1 and 4 in operand 3; it must have one extent\n  ij,jk,jl->il\n        ^");
  expect_refused(tensor().einsum("ij,jk,kl->il", {a, b, d}, array({2, 4})), invalid_argument,
                 "the output is [2, 4]; it must be [2, 5]");
  expect_refused(tensor().einsum("ij,jk->il", {a, b, d}, c), invalid_argument, "'l' is in no operand");
  expect_refused(tensor().einsum("ij,jk->ik", {a, b, d}, c), invalid_argument,
                 "the text has 2 operands, and the call has 3");
  expect_refused(tensor().einsum("ij,jk,klm->il", {a, b, d}, c), invalid_argument,
                 "operand 3 is [4, 5] and has 3 letters");
  expect_refused(tensor().einsum("ij,jk,kl->il", {a, b, value(device_.array<double>({4, 5}))}, c), invalid_argument,
                 "einsum: operand 1 is f32 and operand 3 is f64; they must have the same type");
  expect_refused(tensor().einsum("ij,jk,kl->il", {a, Array<float>(), d}, c), invalid_argument,
                 "einsum: operand 2 is an empty handle");
  const Device other = value(system_.device("host", {.isolation = Isolation::thread, .standby = Standby::none}));
  expect_refused(tensor().einsum("ij,jk,kl->il", {a, b, value(other.array<float>({4, 5}))}, c), invalid_argument,
                 "einsum: operand 3 belongs to another device");
  const Array<float> square = array({3, 3});
  for (const auto& [x, y, z] :
       {std::array{square, array({3, 3}), array({3, 3})}, std::array{array({3, 3}), array({3, 3}), square}})
    expect_refused(tensor().einsum("ij,jk,kl->il", {x, y, z}, square), invalid_argument,
                   "c overlap, and the op would write one of them");
  const Array<std::int32_t> whole = value(device_.array<std::int32_t>({2, 2}));
  expect_refused(tensor().einsum("ij,jk,kl->il", {whole, whole, whole}, value(device_.array<std::int32_t>({2, 2}))),
                 unsupported, "einsum: c is i32; it must be f32, f64, f16, bf16, c64 or c128");
}

TEST_F(EinsumMany, has_limits) {
  const Array<float> number = ones({});
  std::vector<AnyArray> many(32, number);
  const Array<float> c = array({});
  const std::string text = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,->";
  ASSERT_TRUE(tensor().einsum(text, many, c).get());
  EXPECT_EQ(value(device_.read(c).get())[0], 1.0f);
  many.push_back(number);
  expect_refused(tensor().einsum("," + text, many, c), ErrorKind::invalid_argument,
                 "einsum: there are 33 operands; there must be 1 to 32");
  expect_refused(tensor().einsum("->", std::vector<AnyArray>(), c), ErrorKind::invalid_argument,
                 "there are 0 operands");
  const Array<float> wide = array({2, 2, 2, 2, 2, 2, 2, 2});
  expect_refused(tensor().einsum("abpqrstu,cdpqrvwx,efstuvwx->abcdef", {wide, wide, wide}, array({2, 2, 2, 2, 2, 2})),
                 ErrorKind::unsupported, "a result in between would have more than 8 axes");
}

TEST_F(EinsumMany, explains_its_order) {
  const EinsumOrder order =
      value(tensor().explain("ij,jk,kl->li", {array({100, 10}), array({10, 10}), array({10, 2})}));
  EXPECT_EQ(order.to_string(),
            "2 by 3 gives 4, [10, 2]; 1 by 4 gives the output; 2200 multiplications, 80 bytes of scratch memory");
  EXPECT_EQ(order.steps.back().shape, (Shape{2, 100}));
}

TEST_F(EinsumMany, axes_may_be_listed_at_run_time) {
  const Array<float> in = ones({2, 3, 4});
  std::vector<std::int64_t> axes{2};
  axes.push_back(0);
  const Array<float> out = array({3});
  ASSERT_TRUE(tensor().reduce(Reduction::sum, in, axes, out).get());
  EXPECT_EQ(value(device_.read(out).get())[1], 8.0f);
  const std::vector<int> order{2, 0, 1};
  ASSERT_TRUE(tensor().permute(in, order, array({4, 2, 3})).get());
  ASSERT_TRUE(tensor().permute(in, std::span(order), array({4, 2, 3})).get());
  axes = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0};
  expect_refused(tensor().reduce(Reduction::sum, in, axes, out), ErrorKind::invalid_argument, "axis 0 is given twice");
  axes = {(std::int64_t{1} << 32) + 1};
  expect_refused(tensor().reduce(Reduction::sum, in, axes, out), ErrorKind::invalid_argument, "it has no axis");
}

}  // namespace
}  // namespace troupe

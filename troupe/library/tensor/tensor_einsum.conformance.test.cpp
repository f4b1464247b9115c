// Einsum: expressions that people write, and expressions at random from a seed, on every engine, against nested loops
// in higher precision.
#include <map>
#include <span>

#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

using SixTypes = Types<float, double, f16, bf16, std::complex<float>, std::complex<double>>;

using Extents = std::map<char, std::int64_t>;

Shape shape_for(const std::string& letters, const Extents& extents) {
  std::vector<std::int64_t> shape;
  for (const char letter : letters) shape.push_back(extents.at(letter));
  return Shape(shape);
}

/// A text taken apart, by the test itself.
struct Terms {
  std::vector<std::string> inputs;
  std::string output;

  explicit Terms(const std::string& text) {
    const std::size_t arrow = text.find("->");
    output = text.substr(arrow + 2);
    const std::string in = text.substr(0, arrow);
    const std::size_t comma = in.find(',');
    inputs.push_back(in.substr(0, comma));
    if (comma != std::string::npos) inputs.push_back(in.substr(comma + 1));
  }
};

/// How far one step along the letter goes in an array of these letters.
std::int64_t step_of(char letter, const std::string& letters, const Extents& extents) {
  std::int64_t step = 0;
  std::int64_t dense = 1;
  for (std::size_t i = letters.size(); i-- > 0;) {
    if (letters[i] == letter) step += dense;
    dense *= extents.at(letters[i]);
  }
  return step;
}

/// The products of both, without the detour for infinities.
template <class W>
W times(const W& a, const W& b) {
  if constexpr (detail::kIsComplex<W>)
    return W(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else
    return a * b;
}

/// What the letters say, one loop for each.
template <class W>
struct Reference {
  std::vector<W> sums;
  double largest = 1;  // sum of the magnitudes of an output's terms

  Reference(const Terms& terms, const Extents& extents, const std::vector<std::vector<W>>& in) {
    std::int64_t outputs = 1;
    for (const char letter : terms.output) outputs *= extents.at(letter);
    sums.assign(static_cast<std::size_t>(outputs), W(0));
    std::vector<double> sizes(sums.size(), 0);
    std::vector<std::array<std::int64_t, 4>> loops;  // the extent, and the steps in both operands and the output
    for (const auto& [letter, extent] : extents)
      loops.push_back({extent, step_of(letter, terms.inputs.front(), extents),
                       step_of(letter, terms.inputs.back(), extents), step_of(letter, terms.output, extents)});
    const auto run = [&](auto& self, std::size_t depth, std::int64_t a, std::int64_t b, std::int64_t c) -> void {
      if (depth < loops.size()) {
        const auto [extent, in_a, in_b, in_c] = loops[depth];
        for (std::int64_t i = 0; i < extent; ++i) self(self, depth + 1, a + i * in_a, b + i * in_b, c + i * in_c);
        return;
      }
      const W& first = in.front()[static_cast<std::size_t>(a)];
      const W product = in.size() == 1 ? first : times(first, in.back()[static_cast<std::size_t>(b)]);
      sums[static_cast<std::size_t>(c)] += product;
      sizes[static_cast<std::size_t>(c)] += static_cast<double>(std::abs(product));
    };
    run(run, 0, 0, 0, 0);
    for (const double size : sizes) largest = std::max(largest, size);
  }
};

template <class T>
class TensorEinsumConformance : public Conformance<T> {
 protected:
  using Number = T;

  /// Runs it with each of the options, and compares.
  void expect_einsum(const std::string& text, const Extents& all, Layout layout, std::span<const EinsumOptions> ways) {
    const Terms terms(text);
    Extents extents;
    for (const std::string& letters : terms.inputs)
      for (const char letter : letters) extents[letter] = all.at(letter);
    std::vector<Sample<Number>> in;
    std::vector<std::vector<Wide<Number>>> wide;
    for (const std::string& letters : terms.inputs) {
      in.push_back(this->random(shape_for(letters, extents), next(layout, static_cast<int>(in.size()))));
      wide.push_back(widened(in.back().values()));
    }
    const Reference<Wide<Number>> reference(terms, extents, wide);
    const Tensor tensor = this->device().tensor();
    for (const EinsumOptions& options : ways) {
      SCOPED_TRACE(text + " " + name(layout) + " " + std::string(name(options.engine)));
      const bool adds = options.beta.real != 0;
      const Shape shape = shape_for(terms.output, extents);
      Sample<Number> out = adds ? this->random(shape, next(layout, 2)) : this->poisoned(shape, next(layout, 2));
      std::vector<Wide<Number>> want = reference.sums;
      for (std::size_t i = 0; i < want.size(); ++i) {
        want[i] *= Wide<Number>(options.alpha.real);
        if (adds) want[i] += Wide<Number>(options.beta.real) * widen(out.values()[i]);
      }
      if (in.size() == 1)
        value(tensor.einsum(text, in[0].array(), out.array(), options).get());
      else
        value(tensor.einsum(text, in[0].array(), in[1].array(), out.array(), options).get());
      this->expect_close(out.read(), want, 8, reference.largest);
    }
  }
  void on_every_engine(const std::string& text, const Extents& extents, Layout layout) {
    if (is_by_cutensor_) return expect_einsum(text, extents, layout, kCutensorWays);
    constexpr std::array<EinsumOptions, 3> kWays{{{.engine = TensorEngine::automatic},
                                                  {.alpha = 0.5, .beta = 2.0, .engine = TensorEngine::gemm},
                                                  {.alpha = 0.5, .engine = TensorEngine::loops}}};
    expect_einsum(text, extents, layout, kWays);
  }
  /// From now on every engine is cuTENSOR; says why it cannot be.
  std::string use_cutensor() {
    if (this->device().info().backend == "host") return "cuTENSOR needs a GPU";
    Sample<Number> a = this->random({2, 2});
    Sample<Number> c = this->poisoned({2, 2});
    const Result<void> there =
        this->device().tensor().einsum("ik,kj->ij", a.array(), a.array(), c.array(), kCutensorWays[0]).get();
    is_by_cutensor_ = true;
    return there || there.error().kind() != ErrorKind::unsupported ? "" : "there is no cuTENSOR";
  }
  void what_people_write() {
    const Extents extents{{'b', 3}, {'h', 2}, {'i', 7}, {'j', 5}, {'k', 11}, {'l', 4}, {'q', 13}};
    for (const char* const text :
         {"ik,kj->ij",     "ki,kj->ij",       "ik,jk->ij",       "ik,kj->ji",  "bik,bkj->bij", "bik,kj->bij",
          "ik,bkj->bij",   "bhqk,bhlk->bhql", "bqhk,blhk->bhql", "i,j->ij",    "i,i->",        "ij,ij->",
          "ij,ij->ij",     "ij,ij->i",        "ij,j->i",         "i,ij->j",    "ijk,lk->ijl",  "ijk,jil->kl",
          "ijkl,kjbl->ib", "ijl,jkl->ikl",    "ij,->ij",         ",ij->ji",    ",->",          "ik,k->k",
          "ik,j->",        "ijq,jk->ik",      "ikq,jkbl->ij",    "iik,kj->ij", "iij,jjk->ik",  "iji,j->i",
          "ij,kl->likj"})
      for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced})
        on_every_engine(text, extents, layout);
  }
  void every_extent() {
    for (const std::int64_t n : {0, 1, 2, 31, 61}) {
      const Extents square{{'b', 2}, {'i', n}, {'j', n}, {'k', n}};
      on_every_engine("bik,bkj->bij", square, Layout::dense);
      on_every_engine("ikb,jkb->bji", square, Layout::offset);
      on_every_engine("bik,bkj->bij", {{'b', 3}, {'i', 5}, {'j', 4}, {'k', n}}, Layout::padded);
      on_every_engine("bik,bkj->bij", {{'b', n}, {'i', 5}, {'j', 1}, {'k', 3}}, Layout::reversed);
      on_every_engine("bis,bsj->bi", {{'b', 2}, {'i', n}, {'j', 3}, {'s', n}}, Layout::sliced);
    }
  }
  /// Operands with letters of eight at random, of which each has some twice, in any order.
  void expressions_at_random() {
    std::mt19937_64& random = this->random_numbers();
    const auto number = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
    for (int round = 0; round < 120; ++round) {
      Extents all;
      for (const char letter : std::string("abcdefgh")) all[letter] = number(1, 4);
      std::string letters;
      std::vector<std::string> inputs(2);
      for (std::string& input : inputs) {
        const int rank = number(0, 5);
        for (int i = 0; i < rank; ++i) input += static_cast<char>('a' + number(0, 7));
      }
      for (const char letter : inputs[0] + inputs[1])
        if (letters.find(letter) == std::string::npos) letters += letter;
      std::shuffle(letters.begin(), letters.end(), random);
      const std::string output =
          letters.substr(0, static_cast<std::size_t>(number(0, static_cast<int>(letters.size()))));
      if (output.size() > kMaxRank) continue;
      on_every_engine(inputs[0] + "," + inputs[1] + "->" + output, all,
                      kLayouts[static_cast<std::size_t>(number(0, static_cast<int>(kLayouts.size()) - 1))]);
    }
  }

 private:
  // The last one by the kernel that the one before it has measured to be the fastest.
  static constexpr std::array<EinsumOptions, 4> kCutensorWays{
      {{.engine = TensorEngine::cutensor},
       {.alpha = 0.5, .beta = 2.0, .engine = TensorEngine::cutensor},
       {.alpha = 0.5, .engine = TensorEngine::automatic, .autotune = true},
       {.alpha = 3.0, .engine = TensorEngine::cutensor}}};
  bool is_by_cutensor_ = false;
};
CONFORMANCE_SUITE(TensorEinsumConformance, SixTypes);

CONFORMANCE_TEST(TensorEinsumConformance, what_people_write) {
  this->covers("tensor", "einsum");
  this->what_people_write();
}

CONFORMANCE_TEST(TensorEinsumConformance, one_operand) {
  const Extents extents{{'i', 7}, {'j', 5}, {'k', 11}};
  for (const char* const text :
       {"ij->ij", "ij->ji", "ijk->kij", "ij->i", "ij->j", "ij->", "ii->i", "ii->", "iij->ji", "iji->j", "iii->", "->"})
    for (const Layout layout : kLayouts) {
      constexpr std::array<EinsumOptions, 2> kWays{{{}, {.alpha = 3.0, .beta = 0.5}}};
      this->expect_einsum(text, extents, layout, kWays);
    }
}

CONFORMANCE_TEST(TensorEinsumConformance, every_extent) { this->every_extent(); }

CONFORMANCE_TEST(TensorEinsumConformance, expressions_at_random) { this->expressions_at_random(); }

/// Which kernels are chosen depends on the extents, so that the small ones of all other tests show little.
CONFORMANCE_TEST(TensorEinsumConformance, by_cutensor) {
  if (const std::string why_not = this->use_cutensor(); !why_not.empty()) GTEST_SKIP() << why_not;
  this->what_people_write();
  this->every_extent();
  this->expressions_at_random();
  const Extents large{{'a', 24}, {'b', 20}, {'c', 33}, {'d', 16}, {'e', 25}};
  for (const char* const text : {"abcd,dbe->cae", "acd,cde->ea", "abc,bda->dc"})
    for (const Layout layout : {Layout::dense, Layout::sliced}) this->on_every_engine(text, large, layout);
}

CONFORMANCE_TEST(TensorEinsumConformance, a_chain_without_waiting) {
  const Tensor tensor = this->device().tensor();
  const std::int64_t n = 24;
  Sample<T> a = this->random({n, n});
  Sample<T> b = this->random({n, n});
  Sample<T> product = this->poisoned({n, n});
  Sample<T> scaled = this->poisoned({n, n});
  Sample<T> sums = this->poisoned({n});
  value(tensor.einsum("ik,kj->ij", a.array(), b.array(), product.array()).submit());
  value(tensor.binary(Binary::sub, product.array(), a.array(), scaled.array()).submit());
  value(tensor.reduce(Reduction::sum, scaled.array(), {1}, sums.array()).get());
  std::vector<Wide<T>> want(static_cast<std::size_t>(n), Wide<T>(0));
  const auto at = [](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * 24 + j); };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      Wide<T> sum = -widen(a.values()[at(i, j)]);
      for (std::int64_t k = 0; k < n; ++k) sum += widen(a.values()[at(i, k)]) * widen(b.values()[at(k, j)]);
      want[static_cast<std::size_t>(i)] += sum;
    }
  this->expect_close(sums.read(), want, 8, 100);
}

}  // namespace
}  // namespace troupe::conformance

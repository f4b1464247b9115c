// Attention, forward and backward, with masks of all kinds, shared heads and packed sequences; against plain loops in
// higher precision, and slopes by differences.
#include "troupe/library/dnn/dnn_training_reference.test.hpp"

namespace troupe::conformance {
namespace {

constexpr std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class T>
class DnnAttentionConformance : public Conformance<T> {};
CONFORMANCE_SUITE(DnnAttentionConformance, Types<float, double, f16, bf16>);

struct AttentionCase {
  std::int64_t batch, heads, key_heads, queries, keys, width, value_width;
  bool causal = false;
  bool ends_together = false;
  std::int64_t window = 0;
  int mask = 0;  // 1: bool, 2: added
  bool has_lengths = false;
  double dropout = 0;
  bool is_row_major = false;  // all arrays, as a library of the GPU's wants them; and there is enough to do for it
};

/// Everything of a case as numbers of high precision.
template <class W>
struct AttentionNumbers {
  std::vector<W> q, k, v, added;
  std::vector<std::int64_t> lengths;
  std::vector<bool> dropped;
};

template <class W>
std::vector<W> attention_of(const AttentionCase& of, const AttentionNumbers<W>& in) {
  std::vector<W> y(static_cast<std::size_t>(of.batch * of.heads * of.queries * of.value_width));
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t b = 0; b < of.batch; ++b)
    for (std::int64_t h = 0; h < of.heads; ++h)
      for (std::int64_t i = 0; i < of.queries; ++i) {
        const std::int64_t keys = of.has_lengths ? in.lengths[at(b)] : of.keys;
        const std::int64_t key_head = b * of.key_heads + h / (of.heads / of.key_heads);
        const std::int64_t row = (b * of.heads + h) * of.queries + i;
        const std::int64_t place = i + (of.ends_together ? keys - of.queries : 0);
        std::vector<W> weights(at(of.keys));
        W greatest = -std::numeric_limits<W>::infinity(), sum = 0;
        for (std::int64_t j = 0; j < of.keys; ++j) {
          W score = 0;
          for (std::int64_t d = 0; d < of.width; ++d)
            score += in.q[at(row * of.width + d)] * in.k[at((key_head * of.keys + j) * of.width + d)];
          score = score / std::sqrt(static_cast<W>(of.width)) + (of.mask != 0 ? in.added[at(row * of.keys + j)] : W(0));
          const bool is_seen =
              j < keys && (!of.causal || j <= place) && (of.window == 0 || std::abs(j - place) < of.window);
          weights[at(j)] = is_seen ? score : -std::numeric_limits<W>::infinity();
          greatest = std::max(greatest, weights[at(j)]);
        }
        for (W& weight : weights) sum += weight = std::isinf(weight) ? W(0) : std::exp(weight - greatest);
        for (std::int64_t j = 0; j < of.keys && sum > 0; ++j) {
          W weight = weights[at(j)] / sum;
          if (of.dropout > 0) weight *= in.dropped[at(row * of.keys + j)] ? W(0) : 1 / (1 - W(of.dropout));
          for (std::int64_t d = 0; d < of.value_width; ++d)
            y[at(row * of.value_width + d)] += weight * in.v[at((key_head * of.keys + j) * of.value_width + d)];
        }
      }
  return y;
}

const std::vector<AttentionCase> kCases{
    {2, 3, 3, 5, 7, 4, 4},
    {1, 4, 2, 40, 130, 16, 8},  // several blocks of keys and of queries
    {2, 4, 1, 9, 9, 8, 8, true},
    {1, 2, 2, 3, 70, 8, 8, true, true},
    {1, 2, 1, 80, 80, 8, 8, true, false, 20},
    {2, 2, 2, 6, 6, 4, 4, false, false, 2},
    {2, 2, 2, 5, 6, 4, 4, false, false, 0, 1},
    {2, 2, 2, 5, 6, 4, 4, true, false, 0, 2},
    {3, 2, 1, 4, 9, 4, 6, true, true, 0, 0, true},
    {1, 2, 1, 5, 66, 4, 4, false, false, 0, 0, false, 0.3},
    {2, 4, 4, 96, 160, 32, 64, false, false, 0, 0, false, 0, true},
    {2, 4, 2, 128, 128, 64, 64, true, false, 0, 0, false, 0, true},
    {1, 4, 4, 100, 200, 40, 24, true, true, 0, 0, false, 0, true},
};

/// A case on the device.
template <class T>
struct AttentionSamples {
  AttentionSamples(const Device& device, const AttentionCase& of, Layout layout, const auto& random)
      : q(random(Shape{of.batch, of.heads, of.queries, of.width}, layout)),
        k(random(Shape{of.batch, of.key_heads, of.keys, of.width}, of.is_row_major ? layout : next(layout))),
        v(random(Shape{of.batch, of.key_heads, of.keys, of.value_width}, of.is_row_major ? layout : next(layout, 2))) {
    using W = Wide<T>;
    numbers = {widened(q.values()), widened(k.values()), widened(v.values()), {}, {}, {}};
    const Shape scores{of.batch, of.heads, of.queries, of.keys};
    const auto count = static_cast<std::size_t>(of.batch * of.heads * of.queries * of.keys);
    if (of.mask == 1) {
      std::vector<bool> seen(count);
      for (std::size_t i = 0; i < count; ++i) seen[i] = i % 3 != 0 && i / static_cast<std::size_t>(of.keys) != 1;
      for (const bool is_seen : seen) numbers.added.push_back(is_seen ? W(0) : -std::numeric_limits<W>::infinity());
      bools.emplace(device, scores, next(layout, 3), seen);
      options.mask = &bools->array();
    } else if (of.mask == 2) {
      added.emplace(random(scores, next(layout, 3)));
      numbers.added = widened(added->values());
      options.mask = &added->array();
    }
    if (of.has_lengths) {
      numbers.lengths = {9, 4, 0};
      lengths.emplace(device, Shape{3}, layout, std::vector<std::int32_t>{9, 4, 0});
      options.lengths = &lengths->array();
    }
    if (of.dropout > 0) {
      Generator again(5, {.position = 77});
      Sample<bool> drops(device, scores, Layout::dense, std::vector<bool>(count));
      value(device.random().bernoulli(again, drops.array(), of.dropout).get());
      numbers.dropped = drops.read();
      options.generator = &generator;
    }
    options.causal = of.causal;
    options.ends_together = of.ends_together;
    options.window = of.window;
    options.dropout = of.dropout;
  }

  Sample<T> q, k, v;
  std::optional<Sample<T>> added;
  std::optional<Sample<bool>> bools;
  std::optional<Sample<std::int32_t>> lengths;
  Generator generator{5, {.position = 77}};
  AttentionNumbers<Wide<T>> numbers;
  AttentionOptions options;
};
template <class T>
using SumOf = std::conditional_t<std::same_as<T, double>, double, float>;

CONFORMANCE_TEST(DnnAttentionConformance, attention) {
  this->covers("dnn", "attention");
  int i = 0;
  for (const AttentionCase& of : kCases) {
    const Layout layout = of.is_row_major ? Layout::dense : kLayouts[static_cast<std::size_t>(i++) % kLayouts.size()];
    const auto other = [&](int by) { return of.is_row_major ? layout : next(layout, by); };
    AttentionSamples<T> samples(this->device(), of, layout,
                                [&](const Shape& shape, Layout how) { return this->random(shape, how); });
    Sample<T> y = this->poisoned({of.batch, of.heads, of.queries, of.value_width}, other(4));
    Sample<SumOf<T>> sums = this->template poisoned_of<SumOf<T>>({of.batch, of.heads, of.queries}, other(5));
    value(this->device()
              .dnn()
              .scaled_dot_product_attention(samples.q.array(), samples.k.array(), samples.v.array(), y.array(),
                                            sums.array(), samples.options)
              .get());
    this->expect_close(y.read(), attention_of(of, samples.numbers), std::same_as<T, float> ? 16 : 4);
  }
}

/// The gradients of attention without masks, by the formula: differences would take too long.
template <class W>
std::array<std::vector<W>, 3> gradients_of(const AttentionCase& of, const AttentionNumbers<W>& in,
                                           const std::vector<W>& dy) {
  std::array<std::vector<W>, 3> made{std::vector<W>(in.q.size()), std::vector<W>(in.k.size()),
                                     std::vector<W>(in.v.size())};
  auto& [dq, dk, dv] = made;
  const W scale = 1 / std::sqrt(static_cast<W>(of.width));
  for (std::int64_t row = 0; row < of.batch * of.heads * of.queries; ++row) {
    const std::int64_t head = row / of.queries, query = row % of.queries;
    const std::int64_t key_head = head / of.heads * of.key_heads + head % of.heads / (of.heads / of.key_heads);
    const std::int64_t place = query + (of.ends_together ? of.keys - of.queries : 0);
    const std::int64_t seen = of.causal ? std::min(of.keys, place + 1) : of.keys;
    const auto key_row = [&](std::int64_t j, std::int64_t width) { return index((key_head * of.keys + j) * width); };
    std::vector<W> weights(index(seen)), slopes(index(seen));
    W sum = 0, product = 0;
    for (std::int64_t j = 0; j < seen; ++j) {
      W score = 0, slope = 0;
      for (std::size_t d = 0; d < index(of.width); ++d)
        score += in.q[index(row * of.width) + d] * in.k[key_row(j, of.width) + d];
      for (std::size_t d = 0; d < index(of.value_width); ++d)
        slope += dy[index(row * of.value_width) + d] * in.v[key_row(j, of.value_width) + d];
      sum += weights[index(j)] = std::exp(score * scale);  // scores of small numbers are small
      slopes[index(j)] = slope;
    }
    for (std::int64_t j = 0; j < seen; ++j) product += (weights[index(j)] /= sum) * slopes[index(j)];
    for (std::int64_t j = 0; j < seen; ++j) {
      const W slope = weights[index(j)] * (slopes[index(j)] - product) * scale;
      for (std::size_t d = 0; d < index(of.width); ++d) {
        dq[index(row * of.width) + d] += slope * in.k[key_row(j, of.width) + d];
        dk[key_row(j, of.width) + d] += slope * in.q[index(row * of.width) + d];
      }
      for (std::size_t d = 0; d < index(of.value_width); ++d)
        dv[key_row(j, of.value_width) + d] += weights[index(j)] * dy[index(row * of.value_width) + d];
    }
  }
  return made;
}

CONFORMANCE_TEST(DnnAttentionConformance, attention_gradient_of_much) {
  using W = Wide<T>;
  this->covers("dnn", "attention_gradient");
  for (const AttentionCase& of : kCases) {
    if (!of.is_row_major) continue;
    AttentionSamples<T> samples(this->device(), of, Layout::dense,
                                [&](const Shape& shape, Layout how) { return this->random(shape, how); });
    const Shape result{of.batch, of.heads, of.queries, of.value_width};
    Sample<T> y = this->poisoned(result), dy = this->random(result);
    Sample<SumOf<T>> sums = this->template poisoned_of<SumOf<T>>({of.batch, of.heads, of.queries});
    const Dnn dnn = this->device().dnn();
    const Array<T>&q = samples.q.array(), &k = samples.k.array(), &v = samples.v.array();
    value(dnn.scaled_dot_product_attention(q, k, v, y.array(), sums.array(), samples.options).get());
    const std::array<std::vector<W>, 3> want = gradients_of(of, samples.numbers, widened(dy.values()));
    for (const Layout layout : {Layout::dense, Layout::padded}) {  // with either way's sums of the other's weights
      Sample<T> dq = this->poisoned(q.shape(), layout), dk = this->poisoned(k.shape(), layout);
      Sample<T> dv = this->poisoned(v.shape(), layout);
      value(dnn.scaled_dot_product_attention_gradient(dy.array(), q, k, v, y.array(), sums.array(), dq.array(),
                                                      dk.array(), dv.array(), samples.options)
                .get());
      const double roundings = sizeof(T) == 2 ? 10 : 40;
      this->expect_close(dq.read(), want[0], roundings);
      this->expect_close(dk.read(), want[1], roundings);
      this->expect_close(dv.read(), want[2], roundings);
    }
  }
}

CONFORMANCE_TEST(DnnAttentionConformance, attention_gradient) {
  using W = Wide<T>;
  this->covers("dnn", "attention_gradient");
  const std::vector<AttentionCase> cases{{1, 2, 1, 3, 4, 4, 2, true, true},
                                         {1, 1, 1, 34, 66, 2, 2},
                                         {2, 2, 2, 3, 3, 2, 2, false, false, 2, 2},
                                         {1, 2, 1, 3, 4, 2, 2, false, false, 0, 1},
                                         {3, 1, 1, 2, 9, 2, 2, false, true, 0, 0, true},
                                         {1, 2, 2, 3, 5, 2, 2, false, false, 0, 0, false, 0.4}};
  for (const AttentionCase& of : cases) {
    AttentionSamples<T> samples(this->device(), of, Layout::sliced,
                                [&](const Shape& shape, Layout how) { return this->random(shape, how); });
    const Shape result{of.batch, of.heads, of.queries, of.value_width};
    Sample<T> y = this->poisoned(result), dy = this->random(result, Layout::transposed);
    Sample<SumOf<T>> sums = this->template poisoned_of<SumOf<T>>({of.batch, of.heads, of.queries}, Layout::padded);
    Sample<T> dq = this->poisoned(samples.q.array().shape(), Layout::padded);
    Sample<T> dk = this->poisoned(samples.k.array().shape(), Layout::transposed);
    Sample<T> dv = this->poisoned(samples.v.array().shape(), Layout::offset);
    const Dnn dnn = this->device().dnn();
    value(dnn.scaled_dot_product_attention(samples.q.array(), samples.k.array(), samples.v.array(), y.array(),
                                           sums.array(), samples.options)
              .get());
    samples.generator = Generator(5, {.position = 77});
    value(dnn.scaled_dot_product_attention_gradient(dy.array(), samples.q.array(), samples.k.array(), samples.v.array(),
                                                    y.array(), sums.array(), dq.array(), dk.array(), dv.array(),
                                                    samples.options)
              .get());
    const std::vector<W> slopes = widened(dy.values());
    AttentionNumbers<W> numbers = samples.numbers;
    const auto slopes_by = [&](std::vector<W> AttentionNumbers<W>::* which) {
      return slopes_of<W>(samples.numbers.*which, [&](const std::vector<W>& changed) {
        numbers = samples.numbers;
        numbers.*which = changed;
        return dot(attention_of(of, numbers), slopes);
      });
    };
    const double roundings = (sizeof(T) == 2 ? 10 : 40) + off_by_difference<T>();
    this->expect_close(dq.read(), slopes_by(&AttentionNumbers<W>::q), roundings);
    this->expect_close(dk.read(), slopes_by(&AttentionNumbers<W>::k), roundings);
    this->expect_close(dv.read(), slopes_by(&AttentionNumbers<W>::v), roundings);
  }
}

CONFORMANCE_TEST(DnnAttentionConformance, attention_of_packed_sequences_is_that_of_each) {
  const std::vector<std::int64_t> begins{0, 5, 5, 75};
  const Sample<T> q = this->random({1, 2, 75, 8}), k = this->random({1, 1, 75, 8}), v = this->random({1, 1, 75, 8});
  const Sample<std::int64_t> offsets(this->device(), {4}, Layout::sliced, begins);
  Sample<T> y = this->poisoned({1, 2, 75, 8});
  Sample<SumOf<T>> sums = this->template poisoned_of<SumOf<T>>({1, 2, 75});
  const Dnn dnn = this->device().dnn();
  const AttentionOptions options{.causal = true, .query_offsets = &offsets.array(), .key_offsets = &offsets.array()};
  value(dnn.scaled_dot_product_attention(q.array(), k.array(), v.array(), y.array(), sums.array(), options).get());
  for (std::size_t s = 0; s < 3; ++s) {
    const auto part = [&](const Array<T>& whole) { return value(whole.slice(2, begins[s], begins[s + 1])); };
    const std::int64_t length = begins[s + 1] - begins[s];
    if (length == 0) continue;
    Sample<T> alone = this->poisoned({1, 2, length, 8});
    Sample<SumOf<T>> own = this->template poisoned_of<SumOf<T>>({1, 2, length});
    value(dnn.scaled_dot_product_attention(part(q.array()), part(k.array()), part(v.array()), alone.array(),
                                           own.array(), {.causal = true})
              .get());
    Sample<T> copied = this->poisoned({1, 2, length, 8});
    value(this->device().copy(part(y.array()), copied.array()).get());
    this->expect_equal(copied.read(), alone.read());
  }
  const Sample<std::int64_t> wrong(this->device(), {4}, Layout::dense, {0, 9, 5, 75});
  EXPECT_EQ(text_of(dnn.scaled_dot_product_attention(q.array(), k.array(), v.array(), y.array(), sums.array(),
                                                     {.query_offsets = &wrong.array(), .key_offsets = &offsets.array()})
                        .get()),
            "attention: offset 2 is 5, after 9; offsets must not fall");
}

CONFORMANCE_TEST(DnnAttentionConformance, paged_attention) {
  this->covers("dnn", "paged_attention");
  const Dnn dnn = this->device().dnn();
  // Two sequences of 70 and 5 tokens, in blocks of 16 that lie anywhere in the cache.
  Sample<T> keys = this->random({9, 16, 2, 8}, Layout::padded), values = this->random({9, 16, 2, 8});
  const Sample<std::int32_t> table(this->device(), {2, 5}, Layout::transposed, {7, 0, 3, 8, 1, 5, -1, 99, -1, -1});
  const Sample<std::int32_t> lengths(this->device(), {2}, Layout::dense, {70, 5});
  const Sample<T> q = this->random({2, 4, 3, 8}, Layout::sliced);
  Sample<T> y = this->poisoned({2, 4, 3, 8}, Layout::transposed);
  value(dnn.paged_attention(q.array(), keys.array(), values.array(), table.array(), lengths.array(), y.array()).get());
  AttentionCase of{2, 4, 2, 3, 80, 8, 8, true, true, 0, 0, true};
  AttentionNumbers<Wide<T>> numbers{widened(q.values()), {}, {}, {}, {70, 5}, {}};
  const auto gather = [&](const Sample<T>& cache, std::vector<Wide<T>>& to) {
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t h = 0; h < 2; ++h)
        for (std::size_t t = 0; t < 80; ++t) {
          const std::int32_t block = table.values()[b * 5 + t / 16];
          for (std::size_t d = 0; d < 8; ++d)
            to.push_back(
                block < 0 || block > 8
                    ? 0
                    : widen(cache.values()[((static_cast<std::size_t>(block) * 16 + t % 16) * 2 + h) * 8 + d]));
        }
  };
  gather(keys, numbers.k);
  gather(values, numbers.v);
  this->expect_close(y.read(), attention_of(of, numbers), std::same_as<T, float> ? 16 : 4);
  const Sample<std::int32_t> longer(this->device(), {2}, Layout::dense, {70, 20});
  EXPECT_EQ(
      text_of(
          dnn.paged_attention(q.array(), keys.array(), values.array(), table.array(), longer.array(), y.array()).get()),
      "paged_attention: block 6 of the table is -1; it must be from 0 to before 9");
  const Sample<std::int32_t> longest(this->device(), {2}, Layout::dense, {70, 81});
  EXPECT_EQ(
      text_of(dnn.paged_attention(q.array(), keys.array(), values.array(), table.array(), longest.array(), y.array())
                  .get()),
      "paged_attention: length 1 is 81; it must be from 0 to 80");
}

CONFORMANCE_TEST(DnnAttentionConformance, cache_append) {
  this->covers("dnn", "cache_append");
  Sample<T> keys = this->random({4, 3, 2, 5}), values = this->random({4, 3, 2, 5}, Layout::padded);
  std::vector<T> want = keys.values();
  const Sample<std::int64_t> table(this->device(), {2, 3}, Layout::dense, {2, 0, -7, 1, 3, -7});
  const Sample<std::int64_t> lengths(this->device(), {2}, Layout::dense, {2, 0});
  const Sample<T> k = this->random({2, 2, 4, 5}, Layout::transposed), v = this->random({2, 2, 4, 5});
  value(this->device()
            .dnn()
            .cache_append(k.array(), v.array(), table.array(), lengths.array(), keys.array(), values.array())
            .get());
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < 4; ++t)
      for (std::size_t h = 0; h < 2; ++h)
        for (std::size_t d = 0; d < 5; ++d) {
          const std::size_t place = t + static_cast<std::size_t>(lengths.values()[b]);
          const auto block = static_cast<std::size_t>(table.values()[b * 3 + place / 3]);
          want[((block * 3 + place % 3) * 2 + h) * 5 + d] = k.values()[((b * 2 + h) * 4 + t) * 5 + d];
        }
  this->expect_equal(keys.read(), want);
  const Sample<std::int64_t> full(this->device(), {2}, Layout::dense, {6, 0});
  EXPECT_EQ(text_of(this->device()
                        .dnn()
                        .cache_append(k.array(), v.array(), table.array(), full.array(), keys.array(), values.array())
                        .get()),
            "cache_append: length 0 is 6; it must be from 0 to 5");
}

CONFORMANCE_TEST(DnnAttentionConformance, rotary) {
  using W = Wide<T>;
  this->covers("dnn", "rotary");
  for (const bool interleaved : {false, true})
    for (const bool has_positions : {false, true}) {
      const Sample<T> x = this->random({2, 3, 5, 8}, Layout::transposed);
      const std::vector<std::int64_t> places{3, 1, 4, 1, 500};
      const Sample<std::int64_t> positions(this->device(), {5}, Layout::dense, places);
      Sample<T> y = this->poisoned({2, 3, 5, 8}, Layout::sliced), back = this->poisoned({2, 3, 5, 8});
      const RotaryOptions options{
          .interleaved = interleaved, .first = 2, .positions = has_positions ? &positions.array() : nullptr};
      value(this->device().dnn().rotary(x.array(), y.array(), options).get());
      std::vector<W> want(x.values().size());
      for (std::size_t row = 0; row < 30; ++row)
        for (std::size_t i = 0; i < 4; ++i) {
          const auto place = static_cast<W>(has_positions ? places[row % 5] : 2 + static_cast<std::int64_t>(row % 5));
          const W angle = place * std::pow(W(10000), -W(2 * i) / 8);
          const std::size_t a = row * 8 + (interleaved ? 2 * i : i), b = row * 8 + (interleaved ? 2 * i + 1 : i + 4);
          want[a] = widen(x.values()[a]) * std::cos(angle) - widen(x.values()[b]) * std::sin(angle);
          want[b] = widen(x.values()[b]) * std::cos(angle) + widen(x.values()[a]) * std::sin(angle);
        }
      this->expect_close(y.read(), want, std::same_as<T, double> ? 1000 : 4);  // angles are computed in f64
      value(this->device().dnn().rotary_gradient(y.array(), back.array(), options).get());
      this->expect_close(back.read(), widened(x.values()), 4);
    }
}

}  // namespace
}  // namespace troupe::conformance

// Embedding with its gradient and what is said of an index outside; dropout, whose elements depend on seed and position
// alone.
#include "troupe/library/dnn/dnn_training_reference.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class DnnLookupConformance : public Conformance<T> {};
CONFORMANCE_SUITE(DnnLookupConformance, Types<float, double, f16, bf16>);

std::vector<std::int64_t> some_indices(std::size_t count, std::int64_t bound) {
  std::vector<std::int64_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::int64_t>(i * i) % bound;
  return all;
}
std::vector<std::int32_t> narrowed(const std::vector<std::int64_t>& wide) { return {wide.begin(), wide.end()}; }

CONFORMANCE_TEST(DnnLookupConformance, embedding) {
  this->covers("dnn", "embedding");
  for (const std::int64_t width : {1, 3, 16, 40})
    for (const Layout layout : kLayouts) {
      const Sample<T> table = this->random({11, width}, layout);
      const std::vector<std::int64_t> chosen = some_indices(12, 11);
      const Sample<std::int64_t> indices(this->device(), {3, 4}, next(layout), chosen);
      Sample<T> y = this->poisoned({3, 4, width}, next(layout, 2));
      value(this->device().dnn().embedding(table.array(), indices.array(), y.array()).get());
      std::vector<T> want;
      for (const std::int64_t index : chosen)
        for (std::int64_t i = 0; i < width; ++i)
          want.push_back(table.values()[static_cast<std::size_t>(index * width + i)]);
      this->expect_equal(y.read(), want);
    }
}

CONFORMANCE_TEST(DnnLookupConformance, embedding_gradient) {
  using W = Wide<T>;
  this->covers("dnn", "embedding_gradient");
  for (const std::int64_t padding : {-1, 4})
    for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced}) {
      constexpr std::int64_t kWidth = 6;
      const std::vector<std::int64_t> chosen = some_indices(600, 9);
      const Sample<std::int32_t> indices(this->device(), {600}, layout, narrowed(chosen));
      const Sample<T> dy = this->random({600, kWidth}, next(layout));
      Sample<T> dtable = this->poisoned({9, kWidth}, next(layout, 2));
      value(this->device()
                .dnn()
                .embedding_gradient(dy.array(), indices.array(), dtable.array(), {.padding = padding})
                .get());
      std::vector<W> want(9 * kWidth);
      for (std::size_t i = 0; i < 600; ++i)
        for (std::size_t j = 0; j < kWidth && chosen[i] != padding; ++j)
          want[static_cast<std::size_t>(chosen[i]) * kWidth + j] += widen(dy.values()[i * kWidth + j]);
      this->expect_close(dtable.read(), want, 20, 2);
    }
}

CONFORMANCE_TEST(DnnLookupConformance, embedding_says_which_index_is_outside) {
  const Sample<T> table = this->random({5, 2});
  const Sample<std::int32_t> indices(this->device(), {2, 3}, Layout::transposed, {0, 4, 1, 5, -2, 0});
  Sample<T> y = this->poisoned({2, 3, 2}), dtable = this->poisoned({5, 2});
  const Dnn dnn = this->device().dnn();
  EXPECT_EQ(text_of(dnn.embedding(table.array(), indices.array(), y.array()).get()),
            "embedding: index 3 is 5; it must be from 0 to before 5");
  const Sample<T> dy = this->random({2, 3, 2});
  EXPECT_EQ(text_of(dnn.embedding_gradient(dy.array(), indices.array(), dtable.array()).get()),
            "embedding_gradient: index 3 is 5; it must be from 0 to before 5");
  value(this->device().fill(y.array(), 1).get());  // written whole, it can be used again
  EXPECT_EQ(static_cast<float>(y.read()[0]), 1);
}

CONFORMANCE_TEST(DnnLookupConformance, dropout) {
  this->covers("dnn", "dropout");
  for (const Layout layout : kLayouts)
    for (const std::uint64_t position : {0, 3, 1000003}) {
      const Sample<T> x(this->device(), {37, 41}, layout, std::vector<T>(37 * 41, T(3.0F)));
      Sample<T> y = this->poisoned({37, 41}, next(layout));
      Generator generator(42, {.stream = 2, .position = position});
      value(this->device().dnn().dropout(generator, x.array(), y.array(), 0.25).get());
      EXPECT_EQ(generator.position(), position + 37 * 41);
      // The same bits as a bernoulli distribution at the same positions.
      Generator again(42, {.stream = 2, .position = position});
      Sample<bool> drops(this->device(), {37, 41}, Layout::dense, std::vector<bool>(37 * 41));
      value(this->device().random().bernoulli(again, drops.array(), 0.25).get());
      std::vector<Wide<T>> want;
      for (const bool is_out : drops.read()) want.push_back(is_out ? 0 : 4);
      this->expect_close(y.read(), want, 1);
    }
}

CONFORMANCE_TEST(DnnLookupConformance, dropout_of_parts_is_that_of_the_whole) {
  const Sample<T> x = this->random({900});
  Sample<T> whole = this->poisoned({900}), parts = this->poisoned({900});
  const Dnn dnn = this->device().dnn();
  Generator one(7), other(7);
  value(dnn.dropout(one, x.array(), whole.array(), 0.5).get());
  for (const auto& [begin, end] : {std::pair{0, 301}, std::pair{301, 302}, std::pair{302, 900}})
    value(dnn.dropout(other, value(x.array().slice(0, begin, end)), value(parts.array().slice(0, begin, end)), 0.5)
              .get());
  this->expect_equal(parts.read(), whole.read());
  EXPECT_EQ(one, other);
}

}  // namespace
}  // namespace troupe::conformance

// What is beside the results of primitives: what is refused before there is an op, what the elements are refused for
// and what is left untouched then, results on the device, and that a generation outlives a mistake.
#include "troupe/library/primitives/primitives.hpp"

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

using I = std::int64_t;

class PrimitivesCalls : public DeviceTest {
 protected:
  template <Element T>
  Array<T> vector(const std::vector<T>& elements) {
    Array<T> made = value(device.array<T>({static_cast<I>(elements.size())}));
    if (!elements.empty()) value(device.write(made, std::span<const T>(elements)).get());
    return made;
  }
  template <Element T>
  std::vector<T> elements(const Array<T>& array) {
    const HostArray<T> read = value(device.read(array).get());
    return {read.begin(), read.end()};
  }
  template <class Call>
  static std::string text(Call&& call) {
    const auto end = std::forward<Call>(call).get();
    return end ? "" : std::string(end.error().message());
  }
  template <class Call>
  static ErrorKind kind(Call&& call) {
    const auto end = std::forward<Call>(call).get();
    return end ? ErrorKind::internal : end.error().kind();
  }

  Device device = open();
  Primitives primitives = device.primitives();
};

TEST_F(PrimitivesCalls, refuse_an_axis_that_is_not_there) {
  const Array<float> x = value(device.array<float>({2, 3}));
  EXPECT_EQ(text(primitives.sort(x, x, {.axis = 2})), "sort: keys is [2, 3]; it has no axis 2");
  EXPECT_EQ(text(primitives.scan(Combine::sum, x, x, {.axis = -3})), "scan: x is [2, 3]; it has no axis -3");
  const Array<float> point = value(device.array<float>({}));
  EXPECT_EQ(text(primitives.sort(point, point)), "sort: keys has no axis; it must have one at least");
}

TEST_F(PrimitivesCalls, refuse_empty_handles_by_their_names) {
  const Array<float> x = vector<float>({1, 2});
  EXPECT_NE(text(primitives.sort(x, Array<float>())).find("sorted is an empty handle"), std::string::npos);
  EXPECT_NE(text(primitives.gather(x, Array<I>(), x)).find("indices is an empty handle"), std::string::npos);
  EXPECT_NE(text(primitives.select(x, Array<bool>(), x)).find("flags is an empty handle"), std::string::npos);
}

TEST_F(PrimitivesCalls, refuse_to_write_what_they_read_elsewhere) {
  const Array<float> x = vector<float>({1, 2, 3});
  const Array<I> indices = vector<I>({0, 1, 2});
  EXPECT_EQ(kind(primitives.argsort(indices, indices)), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(primitives.gather(x, indices, x)), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(primitives.sort(value(x.slice(0, 0, 2)), value(x.slice(0, 1, 3)))), ErrorKind::invalid_argument);
}

TEST_F(PrimitivesCalls, refuse_vectors_of_indices_that_do_not_fit) {
  const Array<float> x = value(device.array<float>({4, 3})), y = value(device.array<float>({2, 3}));
  EXPECT_EQ(text(primitives.gather(x, vector<I>({0, 1, 2}), y)),
            "gather: indices is [3]; along the axis there must be 2 of them");
}

TEST_F(PrimitivesCalls, name_the_first_index_that_is_outside_and_stay_in_their_generation) {
  const std::int64_t generation = device.generation();
  const Array<float> x = vector<float>({1, 2, 3}), y = vector<float>({0, 0, 0, 0});
  EXPECT_EQ(text(primitives.gather(x, vector<I>({0, 3, -1, 2}), y)),
            "gather: index 1 is 3; it must be from 0 to before 3");
  EXPECT_EQ(text(primitives.gather(x, vector<I>({0, 2, std::numeric_limits<I>::min(), 2}), y)),
            "gather: index 2 is -9223372036854775808; it must be from 0 to before 3");
  EXPECT_EQ(text(primitives.gather(vector<float>({}), vector<I>({0, 0, 0, 0}), y)),
            "gather: index 0 is 0; it must be from 0 to before 0");
  EXPECT_EQ(device.generation(), generation);
}

TEST_F(PrimitivesCalls, scatter_nothing_when_an_index_is_outside) {
  for (const Duplicates rule : {Duplicates::last, Duplicates::add, Duplicates::min, Duplicates::max}) {
    const Array<std::int32_t> y = vector<std::int32_t>({7, 8, 9});
    const Array<std::int32_t> x = vector<std::int32_t>({1, 2, 3});
    EXPECT_EQ(text(primitives.scatter(x, vector<std::int32_t>({0, 1, 3}), y, {.duplicates = rule})),
              "scatter: index 2 is 3; it must be from 0 to before 3");
  }
}

TEST_F(PrimitivesCalls, say_which_offset_is_wrong) {
  const Array<float> x = vector<float>({1, 2, 3, 4, 5, 6, 7}), y = value(device.array<float>({7}));
  const Array<float> sums = value(device.array<float>({3}));
  const auto refusal = [&](const std::vector<I>& offsets) {
    const std::string scan = text(primitives.segmented_scan(Combine::sum, vector<I>(offsets), x, y));
    EXPECT_EQ(text(primitives.segmented_sort(vector<I>(offsets), x, y)).substr(16), scan.substr(16));
    EXPECT_EQ(text(primitives.segmented_reduce(Combine::sum, vector<I>(offsets), x, sums)).substr(18), scan.substr(16));
    return scan;
  };
  EXPECT_EQ(refusal({0, 5, 2, 7}), "segmented_scan: offset 2 is 2, after 5; offsets must not fall");
  EXPECT_EQ(refusal({1, 2, 3, 7}), "segmented_scan: the first offset is 1; it must be 0");
  EXPECT_EQ(refusal({0, 2, 3, 6}), "segmented_scan: the last offset is 6; it must be 7, the number of elements");
  EXPECT_EQ(refusal({0, 2, 3, 8}), "segmented_scan: the last offset is 8; it must be 7, the number of elements");
  EXPECT_EQ(refusal({0, 9, 3, 7}), "segmented_scan: offset 2 is 3, after 9; offsets must not fall");
  EXPECT_EQ(text(primitives.segmented_scan(Combine::sum, vector<I>({0, 2, 2, 7}), x, y)), "");
}

TEST_F(PrimitivesCalls, say_which_bound_is_wrong) {
  const Array<float> x = vector<float>({1, 2, 3});
  const Array<I> counts = value(device.array<I>({3}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(text(primitives.histogram(x, vector<float>({0, 2, 1, 3}), counts)),
            "histogram: bound 2 is less than the one before it; bounds must ascend");
  EXPECT_EQ(text(primitives.histogram(x, vector<float>({0, 1, nan, 3}), counts)), "histogram: bound 2 is NaN");
  EXPECT_EQ(text(primitives.histogram(x, vector<float>({0, 1, 1, 3}), counts)), "");
}

TEST_F(PrimitivesCalls, say_which_set_does_not_ascend) {
  const Array<float> good = vector<float>({1, 2, 2, 5}), bad = vector<float>({1, 3, 2, 5});
  const Array<float> y = value(device.array<float>({8}));
  EXPECT_EQ(text(primitives.sets(SetOperation::unite, bad, good, y)),
            "unite: element 2 of a is less than the one before it; a must ascend: sort it first");
  EXPECT_EQ(text(primitives.sets(SetOperation::intersect, good, bad, y)),
            "intersect: element 2 of b is less than the one before it; b must ascend: sort it first");
}

TEST_F(PrimitivesCalls, leave_counts_on_the_device_for_those_who_do_not_wait) {
  const Array<std::int32_t> x = vector<std::int32_t>({5, 5, 7, 7, 7, 1});
  const Array<std::int32_t> y = value(device.array<std::int32_t>({6}));
  const Array<I> lengths = value(device.array<I>({6})), count = value(device.array<I>({1}));
  value(device.fill(y, 0).get());
  value(device.fill(lengths, I{0}).get());
  value(primitives.run_lengths(x, y, lengths, count).submit());
  EXPECT_EQ(elements(count), std::vector<I>{3});
  EXPECT_EQ(elements(y), (std::vector<std::int32_t>{5, 7, 1, 0, 0, 0}));
  EXPECT_EQ(elements(lengths), (std::vector<I>{2, 3, 1, 0, 0, 0}));
}

TEST_F(PrimitivesCalls, do_nothing_for_no_elements) {
  const Array<float> none = vector<float>({});
  const Array<bool> flags = value(device.array<bool>({0}));
  value(primitives.sort(none, none).get());
  EXPECT_EQ(value(primitives.select(none, flags, none).get()), 0);
  EXPECT_EQ(value(primitives.unique(none, none).get()), 0);
  EXPECT_EQ(value(primitives.sets(SetOperation::unite, none, none, none).get()), 0);
  const Array<float> sum = value(device.array<float>({}));
  value(primitives.reduce(Combine::min, none, sum).get());
  EXPECT_EQ(elements(sum), std::vector<float>{std::numeric_limits<float>::infinity()});
  value(primitives.segmented_sort(vector<I>({0}), none, none).get());
}

TEST_F(PrimitivesCalls, sort_a_million_pairs_twice_to_the_same) {
  constexpr I kCount = 1'000'000;
  const Array<float> keys = value(device.array<float>({kCount})), sorted = value(device.array<float>({kCount}));
  const Array<I> places = value(device.array<I>({kCount}));
  Generator generator(5);
  value(device.random().normal(generator, keys).get());
  value(primitives.sort(keys, sorted).get());
  value(primitives.argsort(keys, places).get());
  const std::vector<float> of = elements(keys), got = elements(sorted);
  const std::vector<I> order = elements(places);
  EXPECT_TRUE(std::ranges::is_sorted(got));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], of[static_cast<std::size_t>(order[i])]) << i;
}

}  // namespace
}  // namespace troupe

// The ops of the primitives family on their way to a GPU, without one: each must end well and launch what it is meant
// to.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class FakePrimitives : public FakeGpu {
 protected:
  /// The op ends well and launches these kernels, without "troupe_", and no others.
  template <class Run>
  void expect_launches(const std::vector<std::string>& kernels, const Run& run) {
    std::map<std::string, std::uint64_t> want;
    for (const std::string& kernel : kernels) {
      const std::string name = "launch troupe_" + kernel;
      if (!want.contains(name)) want[name] = calls(name);
      ++want[name];
    }
    const std::uint64_t before = calls("cuLaunchKernel");
    const auto end = run().get();
    EXPECT_TRUE(end) << end.error().to_string();
    EXPECT_EQ(calls("cuLaunchKernel"), before + kernels.size());
    for (const auto& [name, count] : want) EXPECT_EQ(calls(name), count) << name;
  }
  template <Element T>
  Array<T> array(const Shape& shape) {
    const Array<T> made = value(gpu.array<T>(shape));
    value(gpu.fill(made, T{}).get());
    return made;
  }
  template <Element T>
  Array<T> vector(std::int64_t count) {
    return array<T>({count});
  }

  Device gpu = open_gpu();
  Primitives primitives = gpu.primitives();
};

TEST_F(FakePrimitives, scans_are_one_launch) {
  const Array<float> x = array<float>({3, 9'000});
  const Array<std::int32_t> bits = vector<std::int32_t>(100);
  const Array<std::int64_t> wide = vector<std::int64_t>(100);
  expect_launches({"scan_sum_f32"}, [&] { return primitives.scan(Combine::sum, x, x); });
  expect_launches({"scan_bit_or_4"}, [&] { return primitives.scan(Combine::bit_or, bits, bits); });
  expect_launches({"scan_min_i32"}, [&] { return primitives.scan(Combine::min, bits, bits); });
  expect_launches({"to_i64_i32", "scan_sum_8"}, [&] { return primitives.scan(Combine::sum, bits, wide); });
}

TEST_F(FakePrimitives, rows_that_have_gaps_are_packed_and_unpacked) {
  const Array<float> x = array<float>({40, 50});
  expect_launches({"permute_words_4", "scan_sum_f32", "permute_words_4"},
                  [&] { return primitives.scan(Combine::sum, x, x, {.axis = 0}); });
}

TEST_F(FakePrimitives, reductions_are_one_launch) {
  const Array<float> x = array<float>({3, 90'000});
  const Array<float> y = vector<float>(3);
  const Array<std::int32_t> places = vector<std::int32_t>(3);
  expect_launches({"reduce_max_f32"}, [&] { return primitives.reduce(Combine::max, x, y); });
  expect_launches({"arg_reduce_4"}, [&] { return primitives.argmin(x, places); });
}

TEST_F(FakePrimitives, sorts_are_a_count_and_a_pass_for_each_byte) {
  const Array<float> keys = vector<float>(90'000);
  const Array<double> values = vector<double>(90'000);
  const std::string with_8 = "sort_with_8_bytes_4";
  expect_launches({"count_digits_4", "sort_keys_4", "sort_keys_4", "sort_keys_4", "sort_keys_4"},
                  [&] { return primitives.sort(keys, keys); });
  expect_launches({"count_digits_4", with_8, with_8, with_8, with_8},
                  [&] { return primitives.sort(keys, values, keys, values); });
}

TEST_F(FakePrimitives, positions_have_4_bytes_until_the_last_pass) {
  const Array<float> keys = vector<float>(90'000);
  const Array<std::int64_t> places = vector<std::int64_t>(90'000);
  const std::string pass = "sort_with_4_bytes_4";
  expect_launches({"count_digits_4", pass, pass, pass, pass}, [&] { return primitives.argsort(keys, places); });
}

TEST_F(FakePrimitives, short_rows_are_sorted_by_one_launch) {
  const Array<float> keys = array<float>({30, 4'096});
  const Array<std::int64_t> places = array<std::int64_t>({30, 4'096});
  expect_launches({"sort_short_4"}, [&] { return primitives.sort(keys, keys); });
  expect_launches({"sort_short_4"}, [&] { return primitives.sort(keys, places, keys, places); });
  expect_launches({"sort_short_4"}, [&] { return primitives.argsort(keys, places); });
}

TEST_F(FakePrimitives, sorts_move_values_of_other_sizes_by_positions) {
  const Array<std::int8_t> keys = vector<std::int8_t>(100);
  const Array<std::complex<double>> values = vector<std::complex<double>>(100);
  expect_launches({"sort_short_1", "arrange_16", "arrange_16"},
                  [&] { return primitives.sort(keys, values, keys, values); });
}

TEST_F(FakePrimitives, a_few_best_are_found_by_one_launch) {
  const Array<float> keys = array<float>({70, 9'000});
  const Array<float> best = array<float>({70, 64});
  const Array<std::int32_t> places = array<std::int32_t>({70, 64});
  expect_launches({"find_best_4"}, [&] { return primitives.top_k(keys, best, places); });
}

TEST_F(FakePrimitives, the_best_of_a_long_row_are_found_in_parts) {
  const Array<float> keys = vector<float>(1'000'000);
  const Array<float> best = vector<float>(64);
  const Array<std::int32_t> places = vector<std::int32_t>(64);
  expect_launches({"find_best_4", "find_best_4"}, [&] { return primitives.top_k(keys, best, places); });
}

TEST_F(FakePrimitives, many_best_are_collected_and_sorted) {
  const Array<float> keys = array<float>({3, 9'000});
  const Array<float> best = array<float>({3, 2'000});
  const Array<std::int32_t> places = array<std::int32_t>({3, 2'000});
  expect_launches({"collect_best_4", "sort_short_4"}, [&] { return primitives.top_k(keys, best, places); });
}

TEST_F(FakePrimitives, segments_are_checked_first) {
  const Array<std::int32_t> offsets = vector<std::int32_t>(11);
  const Array<std::int16_t> x = vector<std::int16_t>(100);
  const Array<std::int16_t> y = vector<std::int16_t>(10);
  const std::string check = "check_offsets", tell = "tell_finding";
  expect_launches({check, tell, "mark_segments", "scan_segments_sum_2"},
                  [&] { return primitives.segmented_scan(Combine::sum, offsets, x, x); });
  expect_launches({check, tell, "reduce_product_2"},
                  [&] { return primitives.segmented_reduce(Combine::product, offsets, x, y); });
  expect_launches({check, tell, "sort_short_2", "find_segments", "sort_short_4", "arrange_2", "arrange_2"},
                  [&] { return primitives.segmented_sort(offsets, x, x); });
}

TEST_F(FakePrimitives, histograms_count_and_store) {
  const Array<double> x = array<double>({30, 40});
  const Array<double> bounds = vector<double>(11);
  const Array<std::int32_t> counts = vector<std::int32_t>(10);
  expect_launches({"histogram_f64", "store_counts"}, [&] { return primitives.histogram(x, 0, 1, counts); });
  expect_launches({"check_bounds_f64", "tell_finding", "histogram_bounds_f64", "store_counts"},
                  [&] { return primitives.histogram(x, bounds, counts); });
}

TEST_F(FakePrimitives, selections_are_one_pass) {
  const Array<bool> flags = vector<bool>(9'000);
  const Array<float> x = vector<float>(9'000);
  const Array<float> y = vector<float>(9'000);
  const Array<std::int32_t> places = vector<std::int32_t>(9'000);
  const Array<std::int64_t> count = vector<std::int64_t>(1);
  expect_launches({"select_4"}, [&] { return primitives.select(x, flags, y, count); });
  expect_launches({"select_4", "append_rest_4"}, [&] { return primitives.partition(x, flags, y, count); });
  expect_launches({"select_1"}, [&] { return primitives.positions(flags, places, count); });
  expect_launches({"mark_runs_4", "select_4"}, [&] { return primitives.unique(x, y, count); });
  expect_launches({"mark_runs_4", "select_4", "run_lengths"},
                  [&] { return primitives.run_lengths(x, y, places, count); });
}

TEST_F(FakePrimitives, searches_and_sets) {
  const Array<float> a = vector<float>(500);
  const Array<float> b = vector<float>(700);
  const Array<float> y = vector<float>(1'200);
  const Array<std::int32_t> places = vector<std::int32_t>(700);
  const Array<std::int64_t> count = vector<std::int64_t>(1);
  expect_launches({"search_4"}, [&] { return primitives.lower_bound(a, b, places); });
  expect_launches({"check_keys_4", "check_keys_4", "tell_finding", "mark_set_4", "scan_sum_8", "place_set_4"},
                  [&] { return primitives.sets(SetOperation::unite, a, b, y, count); });
}

TEST_F(FakePrimitives, indices_are_checked) {
  const Array<float> x = vector<float>(500);
  const Array<f16> small = vector<f16>(500);
  const Array<f16> few = vector<f16>(300);
  const Array<float> y = vector<float>(300);
  const Array<std::int64_t> indices = vector<std::int64_t>(300);
  const std::string check = "check_indices", tell = "tell_finding";
  expect_launches({"gather_4", tell}, [&] { return primitives.gather(x, indices, y); });
  expect_launches({check, tell, "find_winners", "scatter_4"}, [&] { return primitives.scatter(y, indices, x); });
  expect_launches({check, tell, "scatter_add_f32"},
                  [&] { return primitives.scatter(y, indices, x, {.duplicates = Duplicates::add}); });
  expect_launches({"arrange_2", check, tell, "scatter_max_f16"},
                  [&] { return primitives.scatter(few, indices, small, {.duplicates = Duplicates::max}); });
}

}  // namespace
}  // namespace troupe

// Good interpolations, and where the elements lie that are interpolated between.
#include "troupe/op/dnn_interpolate.hpp"

#include <gtest/gtest.h>

#include "troupe/op/dnn.test.hpp"
#include "troupe/op/dnn_interpolate_functions.hpp"

namespace troupe::op {

void add_dnn_interpolate_samples(Samples& add) {
  add(DnnInterpolate{.way = DnnInterpolation::cubic,
                     .aligns_corners = true,
                     .x = add.view({1, 2, 3, 4}),
                     .y = add.view({1, 2, 5, 2})});
  add(DnnInterpolateGradient{.way = DnnInterpolation::linear,
                             .aligns_corners = false,
                             .dy = add.view({1, 2, 5, 2}),
                             .dx = add.view({1, 2, 3, 4})});
}

namespace {

TEST(DnnInterpolateFunctions, give_weights_of_elements_that_are_there_and_sum_up_to_one) {
  for (int way = 0; way <= static_cast<int>(DnnInterpolation::kLast); ++way)
    for (const bool aligns : {false, true})
      for (long long in = 1; in <= 7; ++in)
        for (long long out = 1; out <= 15; ++out)
          for (long long place = 0; place < out; ++place) {
            const auto taps = dnn::taps_of<double>(static_cast<DnnInterpolation>(way), aligns, in, out, place);
            double sum = 0;
            for (int i = 0; i < taps.count; ++i) {
              EXPECT_GE(taps.at[i], 0);
              EXPECT_LT(taps.at[i], in);
              sum += taps.weight[i];
            }
            EXPECT_NEAR(sum, 1, 1e-12);
          }
}

TEST(DnnInterpolateFunctions, places_around_an_element_are_all_that_see_it) {
  for (int way = 0; way <= static_cast<int>(DnnInterpolation::kLast); ++way)
    for (const bool aligns : {false, true})
      for (const long long in : {1, 2, 5, 9, 40})
        for (const long long out : {1, 2, 3, 9, 31, 90})
          for (long long place = 0; place < out; ++place) {
            const auto taps = dnn::taps_of<double>(static_cast<DnnInterpolation>(way), aligns, in, out, place);
            for (int i = 0; i < taps.count; ++i) {
              EXPECT_GE(place, dnn::first_place_around(aligns, in, out, taps.at[i]));
              EXPECT_LT(place, dnn::after_places_around(aligns, in, out, taps.at[i]));
            }
          }
}

}  // namespace
}  // namespace troupe::op

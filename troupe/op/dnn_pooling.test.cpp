// One good pool of each kind, and which elements the windows of pools see.
#include "troupe/op/dnn_pooling.hpp"

#include <gtest/gtest.h>

#include "troupe/op/dnn.test.hpp"
#include "troupe/op/dnn_pool_functions.hpp"

namespace troupe::op {

void add_dnn_pooling_samples(Samples& add) {
  DnnPool pool;
  pool.window.stride = {2, 1, 1};
  pool.window.before = {1, 0, 0};
  pool.extent = {3, 2, 1};
  add(DnnMaxPool{.pool = pool,
                 .has_indices = true,
                 .x = add.view({1, 2, 6, 4}),
                 .y = add.view({1, 2, 3, 3}),
                 .indices = add.view({1, 2, 3, 3}, DType::i64)});
  add(DnnMaxPoolGradient{.pool = pool,
                         .dy = add.view({1, 2, 3, 3}),
                         .indices = add.view({1, 2, 3, 3}, DType::i32),
                         .dx = add.view({1, 2, 6, 4})});
  add(DnnAveragePool{.pool = pool, .counts_padding = true, .x = add.view({1, 2, 6, 4}), .y = add.view({1, 2, 3, 3})});
  DnnPool adaptive;
  adaptive.adaptive = 1;
  add(DnnAveragePoolGradient{
      .pool = adaptive, .counts_padding = true, .dy = add.view({1, 2, 3, 3}), .dx = add.view({1, 2, 6, 4})});
}

namespace {

TEST(DnnPoolFunctions, windows_around_an_element_are_all_that_see_it) {
  for (const int adaptive : {0, 1})
    for (long long in = 1; in <= 9; ++in)
      for (long long extent = 1; extent <= 4; ++extent)
        for (long long stride = 1; stride <= 3; ++stride)
          for (long long dilation = 1; dilation <= 2; ++dilation) {
            const long long before = extent - 1, reach = (extent - 1) * dilation + 1;
            const long long out = adaptive                  ? stride + extent
                                  : in + 2 * before < reach ? 0
                                                            : (in + 2 * before - reach) / stride + 1;
            const dnn::PoolAxis axis{in, out, extent, stride, before, dilation, adaptive};
            for (long long element = 0; element < in; ++element) {
              const dnn::Seen around = dnn::windows_around(axis, element);
              for (long long place = 0; place < out; ++place) {
                const bool is_around = place >= around.begin && place < around.end;
                EXPECT_TRUE(is_around || !dnn::sees(dnn::seen_by(axis, place), element))
                    << in << " " << out << " " << extent << " " << stride << " " << dilation << ": " << element
                    << " in " << place;
              }
            }
          }
}

TEST(DnnPoolFunctions, an_adaptive_pool_sees_all_elements_and_no_window_is_empty) {
  for (long long in = 1; in <= 12; ++in)
    for (long long out = 1; out <= 12; ++out) {
      const dnn::PoolAxis axis{in, out, 1, 1, 0, 1, 1};
      long long end = 0;
      for (long long place = 0; place < out; ++place) {
        const dnn::Seen seen = dnn::seen_by(axis, place);
        EXPECT_GT(dnn::count_of(seen), 0);
        EXPECT_LE(seen.begin, end);
        end = seen.end;
      }
      EXPECT_EQ(end, in);
    }
}

}  // namespace
}  // namespace troupe::op

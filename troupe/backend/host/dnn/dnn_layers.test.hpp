// The layers of the dnn family as the tests of the host's backend run them: good ops of each kind, over arrays that are
// filled with random numbers.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "troupe/backend/host/dnn/dnn_ops.hpp"
#include "troupe/backend/host/kernels/op_memory.test.hpp"

namespace troupe::host {

/// Arrays of one type, f32 or f64, in memory of their own.
class LayerMemory {
 public:
  explicit LayerMemory(DType dtype) noexcept : dtype_(dtype) {}

  op::View empty(const Shape& shape) { return memory_.place(dtype_, shape, contiguous_strides(shape)); }
  op::View indices(const Shape& shape) { return memory_.place(DType::i64, shape, contiguous_strides(shape)); }
  op::View random(const Shape& shape) {
    const op::View view = empty(shape);
    std::uniform_real_distribution<double> numbers(-1, 1);
    for (std::int64_t i = 0; i < op::element_count(view); ++i) set(view, i, numbers(random_));
    return view;
  }
  double get(const op::View& view, std::int64_t i) {
    return dtype_ == DType::f64 ? here().data<double>(view)[i] : static_cast<double>(here().data<float>(view)[i]);
  }
  void set(const op::View& view, std::int64_t i, double number) {
    if (dtype_ == DType::f64)
      here().data<double>(view)[i] = number;
    else
      here().data<float>(view)[i] = static_cast<float>(number);
  }
  HostViews here(Team& team = Team::of_one()) { return memory_.here(team); }
  std::mt19937_64& random_numbers() noexcept { return random_; }

 private:
  DType dtype_;
  OpMemory memory_;
  std::mt19937_64 random_{1};
};

template <class Op>
void run_layer(const Op& op, const HostViews& here) {
  const Result<void> good = op::check(op);
  ASSERT_TRUE(good) << good.error().to_string();
  const Result<void> done = run_op(op, here);
  ASSERT_TRUE(done) << done.error().to_string();
}

}  // namespace troupe::host

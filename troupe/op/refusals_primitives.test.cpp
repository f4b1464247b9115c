// The rows of the table of refusals that are of primitives. refusals.test.cpp says what a row is.
#include <limits>

#include "troupe/op/primitives.hpp"
#include "troupe/op/refusals.test.hpp"

namespace troupe::op {
namespace {

using enum DType;

constexpr ErrorKind kUnsupported = ErrorKind::unsupported;
constexpr std::int64_t kMany = (std::int64_t{1} << 31) + 1;

std::vector<Refusal> of_rows() {
  return {
      {bad<PrimitivesScan>([](PrimitivesScan& op) { retype(c64, op.x, op.y); }),
       "scan: x is c64; it must be f64, f32, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64 or bool", kUnsupported},
      {bad<PrimitivesScan>([](PrimitivesScan& op) { op.function = Combine::bit_or; }),
       "scan: x is f32; bit_or takes integers and bool", kUnsupported},
      {bad<PrimitivesScan>([](PrimitivesScan& op) { op.y.dtype = f64; }), "scan: y is f64; the sum of f32 must be f32"},
      {bad<PrimitivesScan>([](PrimitivesScan& op) { op.x.dtype = i8; }),
       "scan: y is f32; the sum of i8 must be i8 or i64"},
      {bad<PrimitivesScan>([](PrimitivesScan& op) { op.x.dtype = boolean; }),
       "scan: y is f32; the sum of bool must be i64"},
      {bad<PrimitivesScan>([](PrimitivesScan& op) { reshape(op.x, {}); }),
       "scan: x has no axis; it must have one at least"},
      {bad<PrimitivesScan>([](PrimitivesScan& op) { reshape(op.y, {3, 2}); }),
       "scan: x is [2, 3] and y is [3, 2]; they must have the same shape"},
      {bad<PrimitivesReduce>([](PrimitivesReduce& op) { reshape(op.y, {3}); }), "reduce: y is [3]; it must be [2]"},
      {bad<PrimitivesArgReduce>([](PrimitivesArgReduce& op) { op.indices.dtype = u32; }),
       "argmax: indices is u32; it must be i32 or i64", kUnsupported},
      {bad<PrimitivesArgReduce>([](PrimitivesArgReduce& op) { reshape(op.x, {2, 0}); }),
       "argmax: x is [2, 0]; a row without elements has no greatest one"},
      {bad<PrimitivesArgReduce>([](PrimitivesArgReduce& op) {
         reshape(op.x, {2, 0});
         op.greatest = false;
       }),
       "argmin: x is [2, 0]; a row without elements has no least one"},
      {bad<PrimitivesArgReduce>([](PrimitivesArgReduce& op) { reshape(op.x, {2, kMany}); }),
       "argmax: indices is i32, and there are 2147483649 places; i32 has numbers for 2147483648: use i64"},
      {bad<PrimitivesSort>([](PrimitivesSort& op) { op.sorted.dtype = f64; }),
       "sort: keys is f32 and sorted is f64; they must have the same type"},
      {bad<PrimitivesSort>([](PrimitivesSort& op) { op.moved.dtype = c64; }),
       "sort: values is c128 and moved is c64; they must have the same type"},
      {bad<PrimitivesTopK>([](PrimitivesTopK& op) {
         reshape(op.best, {2, 6});
         reshape(op.indices, {2, 6});
       }),
       "top_k: best is [2, 6], 6 of each row; a row of keys [2, 5] has 5"},
      {bad<PrimitivesTopK>([](PrimitivesTopK& op) {
         reshape(op.best, {3, 2});
         reshape(op.indices, {3, 2});
       }),
       "top_k: best is [3, 2] and keys is [2, 5]; they may differ along the axis only"},
  };
}

std::vector<Refusal> of_vectors() {
  return {
      {bad<PrimitivesSegmentedSort>([](PrimitivesSegmentedSort& op) { reshape(op.offsets, {0}); }),
       "segmented_sort: offsets is [0]; n segments have n + 1 offsets"},
      {bad<PrimitivesSegmentedSort>([](PrimitivesSegmentedSort& op) { op.verdict.strides = Strides{2}; }),
       "segmented_sort: verdict has gaps; it must be contiguous"},
      {bad<PrimitivesHistogram>([](PrimitivesHistogram& op) { op.high = op.low; }),
       "histogram: low is -1 and high is -1; low must be less than high"},
      {bad<PrimitivesHistogram>([](PrimitivesHistogram& op) {
         op.low = -1.7e308;
         op.high = 1.7e308;
       }),
       "histogram: low is -1.7e+308 and high is 1.7e+308; f64 has no number as large as their difference"},
      {bad<PrimitivesHistogram>([](PrimitivesHistogram& op) { reshape(op.counts, {0}); }),
       "histogram: counts is [0]; there must be one bin at least"},
      {bad<PrimitivesHistogram>([](PrimitivesHistogram& op) {
         reshape(op.x, {kMany});
         op.counts.dtype = i32;
       }),
       "histogram: counts is i32, and there are 2147483649 elements; i32 counts up to 2147483647: use i64"},
      {bad<PrimitivesHistogramBounds>([](PrimitivesHistogramBounds& op) { reshape(op.bounds, {1}); }),
       "histogram: bounds is [1]; n bins have n + 1 bounds, and there must be one bin"},
      {bad<PrimitivesSelect>([](PrimitivesSelect& op) { op.flags.dtype = i8; }),
       "partition: flags is i8; it must be bool"},
      {bad<PrimitivesScatter>([](PrimitivesScatter& op) { retype(boolean, op.x, op.y); }),
       "scatter: x is bool; add takes numbers, and max of bools is their or", kUnsupported},
      {bad<PrimitivesSets>([](PrimitivesSets& op) { reshape(op.y, {11}); }),
       "unite: y is [11]; unite of a [7] and b [5] may make 12 keys"},
      {bad<PrimitivesSets>([](PrimitivesSets& op) {
         op.operation = SetOperation::intersect;
         reshape(op.y, {2});
       }),
       "intersect: y is [2]; intersect of a [7] and b [5] may make 5 keys"},
      {bad<PrimitivesSets>([](PrimitivesSets& op) {
         op.operation = SetOperation::difference;
         reshape(op.y, {2});
       }),
       "difference: y is [2]; difference of a [7] and b [5] may make 7 keys"},
      {bad<PrimitivesSets>([](PrimitivesSets& op) {
         op.operation = SetOperation::symmetric_difference;
         reshape(op.y, {2});
       }),
       "symmetric_difference: y is [2]; symmetric_difference of a [7] and b [5] may make 12 keys"},
  };
}

}  // namespace

std::vector<Refusal> primitives_refusals() {
  std::vector<Refusal> all = of_rows();
  for (Refusal& row : of_vectors()) all.push_back(std::move(row));
  return all;
}

}  // namespace troupe::op

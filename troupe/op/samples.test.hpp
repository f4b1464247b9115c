// One good op of every kind: what the tests over the whole table begin with. Each family adds its own, in a function
// `add_<family>_samples` that stands beside its tests; without one the tests do not link, and a test says which op has
// none.
//
//   void add_memory_samples(Samples& add) { add(Fill{.out = add.view({3}), .value = Scalar(2.0)}); }
#pragma once

#include <map>
#include <utility>

#include "troupe/op/table.hpp"

namespace troupe::op {

/// Views that do not overlap, one behind another.
class Places {
 public:
  View operator()(const Shape& shape, DType dtype = DType::f32) {
    const View view{address_of(1, offset_), dtype, shape, contiguous_strides(shape)};
    offset_ += 4096;
    return view;
  }

 private:
  std::uint64_t offset_ = 4096;
};

class Samples {
 public:
  /// Of a kind that has none yet.
  template <class Op>
  void operator()(Op op) {
    ops_.emplace(Op::kKind, AnyOp(std::move(op)));
  }
  /// One that overlaps no other.
  View view(const Shape& shape, DType dtype = DType::f32) { return at_(shape, dtype); }
  std::map<Kind, AnyOp> take() { return std::move(ops_); }

 private:
  std::map<Kind, AnyOp> ops_;
  Places at_;
};

/// By kind.
std::map<Kind, AnyOp> sample_ops();

}  // namespace troupe::op

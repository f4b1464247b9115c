// The table of refusals (refusals.test.cpp), for the test that looks whether it has them all. A row is an op with one
// mistake, and the sentence that a user reads then.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "troupe/op/samples.test.hpp"
#include "troupe/op/table.hpp"

namespace troupe::op {

/// An op with which one thing is wrong, and what a user then reads.
struct Refusal {
  std::function<AnyOp()> make;
  std::string text;
  ErrorKind kind = ErrorKind::invalid_argument;
};

const std::vector<Refusal>& refusals();
/// Those of tensors, of Fourier transforms, of random numbers, of primitives and of neural networks.
std::vector<Refusal> tensor_refusals();
std::vector<Refusal> fft_refusals();
std::vector<Refusal> random_refusals();
std::vector<Refusal> primitives_refusals();
std::vector<Refusal> jit_refusals();
std::vector<Refusal> dnn_refusals();
/// Those of losses, optimizers and lookups.
std::vector<Refusal> training_refusals();

/// The good op of that kind.
inline const AnyOp& sample(Kind kind) {
  static const std::map<Kind, AnyOp> kSamples = sample_ops();
  return kSamples.at(kind);
}

/// The sample of that kind, and what is wrong with it.
template <class Op>
std::function<AnyOp()> bad(void (*make_wrong)(Op& op)) {
  return [make_wrong] {
    Op op = *sample(Op::kKind).template get_if<Op>();
    make_wrong(op);
    return AnyOp(std::move(op));
  };
}

template <class... Views>
void retype(DType dtype, Views&... views) {
  ((views.dtype = dtype), ...);
}

/// What `examine` says of it, which the app and the worker ask; `internal` when it is not refused.
inline Error refusal_of(const AnyOp& op) {
  Views views;
  op.info().views(op.get(), views);
  Toucher toucher;
  const Result<void> good = examine(op.info(), op.get(), views, toucher);
  return good ? Error(ErrorKind::internal, "(it is not refused)") : good.error();
}

inline void reshape(View& view, const Shape& shape) {
  view.shape = shape;
  view.strides = contiguous_strides(shape);
}

}  // namespace troupe::op

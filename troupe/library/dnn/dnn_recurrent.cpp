#include "troupe/op/dnn_recurrent.hpp"

#include <vector>

#include "troupe/library/dnn/dnn.hpp"
#include "troupe/library/dnn/dnn_verdict.hpp"

namespace troupe::inline v0 {
namespace {

using detail::Recurrent;

/// An op's arrays, in the order in which it describes them.
class Arrays {
 public:
  op::View one(const AnyArray& array) {
    all_.push_back(&array);
    return array.view();
  }
  std::vector<op::Argument> list(const ArrayList& arrays, op::Access access) {
    std::vector<op::Argument> made;
    for (std::size_t i = 0; i < arrays.size(); ++i) made.push_back({access, one(arrays[i])});
    return made;
  }
  /// Those of both that are there.
  std::vector<op::Argument> state(const AnyArray* h, const AnyArray* c, op::Access access) {
    std::vector<op::Argument> made;
    for (const AnyArray* const array : {h, c})
      if (array != nullptr) made.push_back({access, one(*array)});
    return made;
  }
  const std::vector<const AnyArray*>& all() const noexcept { return all_; }

 private:
  std::vector<const AnyArray*> all_;
};

template <class Options>
op::RecurrentTerms recurrent_terms(Recurrent cell, const Options& options) {
  return {.cell = cell,
          .has_bias = options.bias,
          .both_directions = options.bidirectional,
          .has_lengths = options.lengths != nullptr};
}

template <class Op>
Call<void> submit(const Device& device, Op op, const Arrays& arrays, DnnJudge judge) {
  if (!op.terms.has_lengths) return make_call(device, op, std::span(arrays.all()));
  return make_dnn_call(device, std::move(op), std::span(arrays.all()), judge);
}

Call<void> layers(const Device& device, Recurrent cell, const AnyArray& x, const ArrayList& weights, const AnyArray& y,
                  const RecurrentOptions& options, DnnJudge judge) {
  Arrays arrays;
  op::DnnRecurrent op;
  op.terms = recurrent_terms(cell, options);
  op.x = arrays.one(x);
  op.weights = arrays.list(weights, op::Access::read);
  op.start = arrays.state(options.h0, options.c0, op::Access::read);
  if (options.lengths != nullptr) op.lengths = arrays.one(*options.lengths);
  op.y = arrays.one(y);
  op.end = arrays.state(options.h_n, options.c_n, op::Access::write);
  op.keeps = options.kept != nullptr;
  if (op.keeps) op.kept = arrays.one(*options.kept);
  return submit(device, std::move(op), arrays, judge);
}

Call<void> gradient(const Device& device, Recurrent cell, const AnyArray& dy, const AnyArray& x,
                    const ArrayList& weights, const AnyArray& kept, const AnyArray& dx,
                    const RecurrentGradientOptions& options, DnnJudge judge) {
  Arrays arrays;
  op::DnnRecurrentGradient op;
  op.terms = recurrent_terms(cell, options);
  op.dy = arrays.one(dy);
  op.x = arrays.one(x);
  op.weights = arrays.list(weights, op::Access::read);
  op.start = arrays.state(options.h0, options.c0, op::Access::read);
  if (options.lengths != nullptr) op.lengths = arrays.one(*options.lengths);
  op.kept = arrays.one(kept);
  op.dend = arrays.state(options.dh_n, options.dc_n, op::Access::read);
  op.dx = arrays.one(dx);
  op.dstart = arrays.state(options.dh0, options.dc0, op::Access::write);
  op.dweights = arrays.list(options.dweights, op::Access::write);
  return submit(device, std::move(op), arrays, judge);
}

using Words = std::span<const std::int32_t>;

}  // namespace

Call<void> Dnn::lstm(const AnyArray& x, const ArrayList& weights, const AnyArray& y, RecurrentOptions options) const {
  return layers(device_, Recurrent::lstm, x, weights, y, options, [](Words words) { return judge_dnn("lstm", words); });
}
Call<void> Dnn::gru(const AnyArray& x, const ArrayList& weights, const AnyArray& y, RecurrentOptions options) const {
  return layers(device_, Recurrent::gru, x, weights, y, options, [](Words words) { return judge_dnn("gru", words); });
}
Call<void> Dnn::lstm_gradient(const AnyArray& dy, const AnyArray& x, const ArrayList& weights, const AnyArray& kept,
                              const AnyArray& dx, RecurrentGradientOptions options) const {
  return gradient(device_, Recurrent::lstm, dy, x, weights, kept, dx, options,
                  [](Words words) { return judge_dnn("lstm_gradient", words); });
}
Call<void> Dnn::gru_gradient(const AnyArray& dy, const AnyArray& x, const ArrayList& weights, const AnyArray& kept,
                             const AnyArray& dx, RecurrentGradientOptions options) const {
  return gradient(device_, Recurrent::gru, dy, x, weights, kept, dx, options,
                  [](Words words) { return judge_dnn("gru_gradient", words); });
}

}  // namespace troupe::inline v0

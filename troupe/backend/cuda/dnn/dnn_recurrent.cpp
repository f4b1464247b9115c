#if TROUPE_CUDA_BACKEND

// LSTM and GRU: of each run first the product of all tokens with its weights, then for each step that of the state with
// the recurrent ones, and one kernel. Everything between the arrays of an op is f32, or f64, and lies side by side.
#include "troupe/op/dnn_recurrent.hpp"

#include "troupe/backend/cuda/blas/blas_ops.hpp"
#include "troupe/backend/cuda/dnn/dnn_ops.hpp"
#include "troupe/backend/cuda/dnn/dnn_scratch.hpp"
#include "troupe/backend/cuda/dnn/recurrent_arguments.hpp"
#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/backend/cuda/memory/move_elements.hpp"

namespace troupe::cuda {
namespace {

/// Numbers of the type that is computed in, side by side.
struct GpuNumbers {
  CUdeviceptr at = 0;
  std::int64_t size = 0;           // of one number
  const op::View* back = nullptr;  // where they go in the end, if they are not there

  /// From the number with that index on.
  CUdeviceptr from(std::int64_t index) const noexcept { return at + static_cast<CUdeviceptr>(index * size); }
  void* data(std::int64_t index = 0) const noexcept { return reinterpret_cast<void*>(from(index)); }
};

/// What the layers of one op share, forward and backward.
class GpuLayers {
 public:
  template <class Op>
  GpuLayers(const Op& op, const LaneTools& on) noexcept
      : terms_(op.terms),
        of_(op.terms, op.x, op.weights),
        dtype_(op.x.dtype == DType::f64 ? DType::f64 : DType::f32),
        is_lstm_(op.terms.cell == detail::Recurrent::lstm),
        scratch_(on) {}

 protected:
  const LaneTools& on() const noexcept { return scratch_.on(); }

  /// The verdict is told by the lengths, if there are any.
  template <class Op>
  Result<void> look_at_lengths(const Op& op) {
    if (!terms_.has_lengths) return {};
    TROUPE_TRY(scratch_.fill_bytes(on().data(op.verdict), 0, op::kDnnVerdictWords * size_bytes(DType::i32)));
    const GpuRows lengths = TROUPE_TRY(scratch_.flat(op.lengths));
    TROUPE_TRY(scratch_.check_lengths(lengths, of_.tokens, op.verdict));
    lengths_ = {lengths.data(), is_wide(lengths)};
    return {};
  }

  // ---- numbers ----

  Result<GpuNumbers> own(std::int64_t count) {
    const std::int64_t size = size_bytes(dtype_);
    return GpuNumbers{TROUPE_TRY(scratch_.memory(std::max<std::int64_t>(count, 1) * size)), size, nullptr};
  }
  Result<void> fill_zeros(const GpuNumbers& numbers, std::int64_t count) {
    return scratch_.fill_bytes(numbers.data(), 0, count * numbers.size);
  }
  bool is_plain(const op::View& view) const noexcept {
    return view.dtype == dtype_ && is_contiguous(view.shape, view.strides);
  }
  Result<GpuNumbers> copied(const op::View& view) {
    const GpuNumbers made = TROUPE_TRY(own(op::element_count(view)));
    const op::View dense = dense_of(view);
    if (op::element_count(view) == 0) return made;
    if (view.dtype == dtype_)
      TROUPE_TRY(move_elements(on(), dtype_, on().at(view), made.at, axes_of(view, dense)));
    else
      TROUPE_TRY(cast_elements(on(), view.dtype, on().at(view), dtype_, made.at, axes_of(view, dense)));
    return made;
  }
  Result<GpuNumbers> reading(const op::View& view) {
    if (is_plain(view)) return GpuNumbers{on().at(view), size_bytes(dtype_), nullptr};
    return copied(view);
  }
  /// `finish` puts them into the array, which outlives them.
  Result<GpuNumbers> writing(const op::View& view) {
    if (is_plain(view)) return GpuNumbers{on().at(view), size_bytes(dtype_), nullptr};
    GpuNumbers made = TROUPE_TRY(own(op::element_count(view)));
    made.back = &view;
    return made;
  }
  Result<void> finish(const GpuNumbers& numbers) {
    if (numbers.back == nullptr || op::element_count(*numbers.back) == 0) return {};
    const op::View& view = *numbers.back;
    const AxesBuilder<2> axes = axes_of(dense_of(view), view);
    if (view.dtype == dtype_) return move_elements(on(), dtype_, numbers.at, on().at(view), axes);
    return cast_elements(on(), dtype_, numbers.at, view.dtype, on().at(view), axes);
  }
  Result<std::vector<GpuNumbers>> reading(const std::vector<op::Argument>& arrays) {
    std::vector<GpuNumbers> all;
    for (const op::Argument& array : arrays) all.push_back(TROUPE_TRY(reading(array.view)));
    return all;
  }
  Result<std::vector<GpuNumbers>> writing(const std::vector<op::Argument>& arrays) {
    std::vector<GpuNumbers> all;
    for (const op::Argument& array : arrays) all.push_back(TROUPE_TRY(writing(array.view)));
    return all;
  }
  Result<void> finish(const std::vector<GpuNumbers>& all) {
    for (const GpuNumbers& numbers : all) TROUPE_TRY(finish(numbers));
    return {};
  }
  /// States of all runs that change from step to step: what is in the arrays, or zeros.
  Result<std::vector<GpuNumbers>> states(const std::vector<op::Argument>& begin, const std::vector<op::Argument>& end) {
    std::vector<GpuNumbers> all;
    const std::int64_t count = of_.runs * of_.batch * of_.hidden;
    for (std::size_t i = 0; i < terms_.states(); ++i) {
      if (i < begin.size()) {
        all.push_back(TROUPE_TRY(copied(begin[i].view)));
      } else {
        all.push_back(TROUPE_TRY(own(count)));
        TROUPE_TRY(fill_zeros(all.back(), count));
      }
      if (i < end.size()) all.back().back = &end[i].view;
    }
    return all;
  }
  /// The part of a run in one of such arrays; null where there is none.
  void* state(const std::vector<GpuNumbers>& all, std::size_t which, std::int64_t run) const noexcept {
    return which < all.size() ? all[which].data(run * of_.batch * of_.hidden) : nullptr;
  }

  // ---- products ----

  Matrix matrix(CUdeviceptr at, std::int64_t rows, std::int64_t columns) const noexcept {
    return {at, dtype_, rows, columns, columns, 1};
  }
  /// c = a b, or added to it.
  Result<void> product(const Matrix& a, const Matrix& b, const Matrix& c, bool adds = false) const {
    return multiply(on(), op::Scalar(1.0), op::Scalar(adds ? 1.0 : 0.0), a, b, c);
  }

  std::size_t first_weight(std::int64_t run) const noexcept {
    return static_cast<std::size_t>(run) * terms_.weights_each();
  }
  /// The token of a step, in the order of the run's direction.
  std::int64_t token(std::int64_t run, std::int64_t step) const noexcept {
    return run % of_.directions == 0 ? step : of_.tokens - 1 - step;
  }

  const op::RecurrentTerms& terms_;
  const op::RecurrentExtents of_;
  const DType dtype_;
  const bool is_lstm_;
  DnnScratch scratch_;
  RecurrentLengths lengths_{};

 private:
  op::View dense_of(const op::View& view) const {
    return {.address = 0, .dtype = dtype_, .shape = view.shape, .strides = contiguous_strides(view.shape)};
  }
};

class ForwardLayers : GpuLayers {
 public:
  ForwardLayers(const op::DnnRecurrent& op, const LaneTools& on) noexcept : GpuLayers(op, on), op_(op) {}

  Result<void> run() {
    TROUPE_TRY(look_at_lengths(op_));
    if (of_.batch == 0) return {};
    weights_ = TROUPE_TRY(reading(op_.weights));
    state_ = TROUPE_TRY(states(op_.start, op_.end));
    if (op_.keeps) kept_ = TROUPE_TRY(writing(op_.kept));
    in_sums_ = TROUPE_TRY(own(of_.rows() * of_.sums));
    back_sums_ = TROUPE_TRY(own(of_.batch * of_.sums));
    const GpuNumbers y = TROUPE_TRY(writing(op_.y));
    GpuNumbers in = TROUPE_TRY(reading(op_.x));
    GpuNumbers between[2];
    for (std::int64_t layer = 0; layer < of_.layers(); ++layer) {
      GpuNumbers& own_out = between[layer % 2];
      const bool is_last = layer + 1 == of_.layers();
      if (!is_last && own_out.at == 0) own_out = TROUPE_TRY(own(of_.rows() * of_.width()));
      const GpuNumbers out = is_last ? y : own_out;
      for (std::int64_t direction = 0; direction < of_.directions; ++direction)
        TROUPE_TRY(one(layer * of_.directions + direction, in, out));
      in = out;
    }
    TROUPE_TRY(finish(y));
    TROUPE_TRY(finish(kept_));
    return finish(state_);
  }

 private:
  Result<void> one(std::int64_t run, const GpuNumbers& in, const GpuNumbers& out) {
    const std::int64_t width = of_.width_before(run / of_.directions);
    const GpuNumbers* const weights = &weights_[first_weight(run)];
    TROUPE_TRY(product(matrix(in.at, of_.rows(), width), matrix(weights[0].at, of_.sums, width).transposed(),
                       matrix(in_sums_.at, of_.rows(), of_.sums)));
    RecurrentStepArguments a{};
    a.in_sums = in_sums_.data();
    a.back_sums = back_sums_.data();
    if (terms_.has_bias) {
      a.b_ih = weights[2].data();
      a.b_hh = weights[3].data();
    }
    a.h = state(state_, 0, run);
    a.c = state(state_, 1, run);
    a.out = out.data(run % of_.directions * of_.hidden);
    if (op_.keeps) a.kept = kept_.data(run * of_.rows() * op::kKeptNumbers * of_.hidden);
    a.lengths = lengths_;
    a.out_row = of_.width();
    a.batch = of_.batch;
    a.hidden = of_.hidden;
    a.is_lstm = is_lstm_;
    const Matrix h = matrix(reinterpret_cast<CUdeviceptr>(a.h), of_.batch, of_.hidden);
    const Matrix recurrent = matrix(weights[1].at, of_.sums, of_.hidden).transposed();
    for (std::int64_t step = 0; step < of_.tokens; ++step) {
      a.token = token(run, step);
      TROUPE_TRY(product(h, recurrent, matrix(back_sums_.at, of_.batch, of_.sums)));
      TROUPE_TRY(scratch_.threads(DnnRecurrentKernel::dnn_recurrent_step, dtype_, of_.batch * of_.hidden, a));
    }
    return {};
  }

  const op::DnnRecurrent& op_;
  std::vector<GpuNumbers> weights_;
  std::vector<GpuNumbers> state_;
  GpuNumbers kept_;
  GpuNumbers in_sums_;
  GpuNumbers back_sums_;
};

class BackwardLayers : GpuLayers {
 public:
  BackwardLayers(const op::DnnRecurrentGradient& op, const LaneTools& on) noexcept : GpuLayers(op, on), op_(op) {}

  Result<void> run() {
    TROUPE_TRY(look_at_lengths(op_));
    const GpuNumbers dy = TROUPE_TRY(reading(op_.dy)), dx = TROUPE_TRY(writing(op_.dx));
    x_ = TROUPE_TRY(reading(op_.x));
    kept_ = TROUPE_TRY(reading(op_.kept));
    weights_ = TROUPE_TRY(reading(op_.weights));
    start_ = TROUPE_TRY(reading(op_.start));
    dstate_ = TROUPE_TRY(states(op_.dend, op_.dstart));
    dweights_ = TROUPE_TRY(writing(op_.dweights));
    slopes_ = back_slopes_ = TROUPE_TRY(own(of_.rows() * of_.sums));
    if (!is_lstm_) back_slopes_ = TROUPE_TRY(own(of_.rows() * of_.sums));
    before_ = TROUPE_TRY(own(of_.rows() * of_.hidden));
    if (!dweights_.empty()) inputs_ = TROUPE_TRY(own(of_.rows() * std::max(of_.features, of_.width())));
    GpuNumbers between[2];
    GpuNumbers dout = dy;
    for (std::int64_t layer = of_.layers() - 1; layer >= 0; --layer) {
      GpuNumbers& own_in = between[layer % 2];
      if (layer > 0 && own_in.at == 0) own_in = TROUPE_TRY(own(of_.rows() * of_.width()));
      const GpuNumbers din = layer > 0 ? own_in : dx;
      TROUPE_TRY(one(layer, dout, din));
      dout = din;
    }
    TROUPE_TRY(finish(dx));
    TROUPE_TRY(finish(dstate_));
    return finish(dweights_);
  }

 private:
  Result<void> one(std::int64_t layer, const GpuNumbers& dout, const GpuNumbers& din) {
    const std::int64_t width = of_.width_before(layer);
    if (!dweights_.empty()) TROUPE_TRY(make_inputs(layer, width));
    for (std::int64_t direction = 0; direction < of_.directions; ++direction) {
      const std::int64_t run = layer * of_.directions + direction;
      TROUPE_TRY(steps(run, dout));
      TROUPE_TRY(product(matrix(slopes_.at, of_.rows(), of_.sums),
                         matrix(weights_[first_weight(run)].at, of_.sums, width), matrix(din.at, of_.rows(), width),
                         direction > 0));
      if (!dweights_.empty()) TROUPE_TRY(weight_gradients(run, width));
    }
    return {};
  }

  Result<void> steps(std::int64_t run, const GpuNumbers& dout) {
    RecurrentSlopesArguments a{};
    a.kept = kept_of(run);
    a.dy = dout.data(run % of_.directions * of_.hidden);
    a.h0 = state(start_, 0, run);
    a.c0 = state(start_, 1, run);
    a.dh = state(dstate_, 0, run);
    a.dc = state(dstate_, 1, run);
    a.in = slopes_.data();
    a.back = back_slopes_.data();
    a.before = before_.data();
    a.lengths = lengths_;
    a.dy_row = of_.width();
    a.batch = of_.batch;
    a.hidden = of_.hidden;
    a.tokens = of_.tokens;
    a.is_lstm = is_lstm_;
    const Matrix dh = matrix(reinterpret_cast<CUdeviceptr>(a.dh), of_.batch, of_.hidden);
    const Matrix recurrent = matrix(weights_[first_weight(run) + 1].at, of_.sums, of_.hidden);
    for (std::int64_t step = of_.tokens - 1; step >= 0; --step) {
      a.token = token(run, step);
      a.token_before = token(run, step - 1);
      TROUPE_TRY(scratch_.threads(DnnRecurrentKernel::dnn_recurrent_slopes, dtype_, of_.batch * of_.hidden, a));
      TROUPE_TRY(
          product(matrix(back_slopes_.from(a.token * of_.batch * of_.sums), of_.batch, of_.sums), recurrent, dh, true));
    }
    return {};
  }

  /// dw = slopes' in, and the sums of slopes for the biases.
  Result<void> weight_gradients(std::int64_t run, std::int64_t width) {
    const GpuNumbers* const made = &dweights_[first_weight(run)];
    const Matrix slopes = matrix(slopes_.at, of_.rows(), of_.sums);
    const Matrix back = matrix(back_slopes_.at, of_.rows(), of_.sums);
    TROUPE_TRY(
        product(slopes.transposed(), matrix(inputs_.at, of_.rows(), width), matrix(made[0].at, of_.sums, width)));
    TROUPE_TRY(product(back.transposed(), matrix(before_.at, of_.rows(), of_.hidden),
                       matrix(made[1].at, of_.sums, of_.hidden)));
    if (!terms_.has_bias) return {};
    const std::int64_t blocks = divided_up(of_.sums, kRecurrentColumns);
    for (const auto& [from, to] : {std::pair(&slopes_, &made[2]), std::pair(&back_slopes_, &made[3])})
      TROUPE_TRY(scratch_.blocks(
          DnnRecurrentKernel::dnn_recurrent_sum, dtype_, blocks,
          RecurrentSumArguments{.slopes = from->data(), .out = to->data(), .rows = of_.rows(), .columns = of_.sums},
          kDnnThreads));
    return {};
  }

  /// What the layer was given, with zeros behind the ends of sequences.
  Result<void> make_inputs(std::int64_t layer, std::int64_t width) {
    RecurrentInputsArguments a{};
    if (layer == 0) a.x = x_.data();
    for (std::int64_t direction = 0; layer > 0 && direction < of_.directions; ++direction)
      a.kept[direction] = kept_of((layer - 1) * of_.directions + direction);
    a.out = inputs_.data();
    a.lengths = lengths_;
    a.rows = of_.rows();
    a.batch = of_.batch;
    a.width = width;
    a.hidden = of_.hidden;
    a.is_lstm = is_lstm_;
    return scratch_.threads(DnnRecurrentKernel::dnn_recurrent_inputs, dtype_, a.rows * width, a);
  }
  const void* kept_of(std::int64_t run) const noexcept {
    return kept_.data(run * of_.rows() * op::kKeptNumbers * of_.hidden);
  }

  const op::DnnRecurrentGradient& op_;
  GpuNumbers x_;
  GpuNumbers kept_;
  std::vector<GpuNumbers> weights_;
  std::vector<GpuNumbers> start_;
  std::vector<GpuNumbers> dstate_;
  std::vector<GpuNumbers> dweights_;
  GpuNumbers slopes_;
  GpuNumbers back_slopes_;
  GpuNumbers before_;
  GpuNumbers inputs_;
};

}  // namespace

Result<void> run_op(const op::DnnRecurrent& op, const LaneTools& on) { return ForwardLayers(op, on).run(); }
Result<void> run_op(const op::DnnRecurrentGradient& op, const LaneTools& on) { return BackwardLayers(op, on).run(); }

}  // namespace troupe::cuda

#endif

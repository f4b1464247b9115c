#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/cudnn_problems.hpp"

#include <bit>
#include <cmath>
#include <optional>

#include "troupe/core/assert.hpp"

namespace troupe::cuda {
namespace {

CudnnForm form_of(const CudnnOperand& operand, std::size_t axes) {
  return {{operand.extents.begin(), operand.extents.begin() + static_cast<std::ptrdiff_t>(axes)},
          {operand.strides.begin(), operand.strides.begin() + static_cast<std::ptrdiff_t>(axes)}};
}
CudnnForm transposed(CudnnForm form) {
  std::swap(form.extents[2], form.extents[3]);
  std::swap(form.strides[2], form.strides[3]);
  return form;
}
void add_to(std::vector<std::int64_t>& key, const CudnnOperand& operand) {
  key.insert(key.end(), operand.extents.begin(), operand.extents.end());
  key.insert(key.end(), operand.strides.begin(), operand.strides.end());
  key.push_back(operand.alignment_bytes);
}

std::optional<CudnnPointwise> activation_of(DnnActivation function, double alpha) {
  const auto of = [](cudnnPointwiseMode_t mode) { return CudnnPointwise{.mode = mode}; };
  switch (function) {
    case DnnActivation::relu: return of(CUDNN_POINTWISE_RELU_FWD);
    case DnnActivation::leaky_relu: return CudnnPointwise{.mode = CUDNN_POINTWISE_RELU_FWD, .alpha = alpha};
    case DnnActivation::relu6: return CudnnPointwise{.mode = CUDNN_POINTWISE_RELU_FWD, .most = 6};
    case DnnActivation::elu: return CudnnPointwise{.mode = CUDNN_POINTWISE_ELU_FWD, .alpha = alpha};
    case DnnActivation::gelu: return of(CUDNN_POINTWISE_GELU_FWD);
    case DnnActivation::gelu_tanh: return of(CUDNN_POINTWISE_GELU_APPROX_TANH_FWD);
    case DnnActivation::silu: return of(CUDNN_POINTWISE_SWISH_FWD);
    case DnnActivation::sigmoid: return of(CUDNN_POINTWISE_SIGMOID_FWD);
    case DnnActivation::tanh: return of(CUDNN_POINTWISE_TANH_FWD);
    case DnnActivation::softplus: return of(CUDNN_POINTWISE_SOFTPLUS_FWD);
    default: return std::nullopt;
  }
}

}  // namespace

cudnnDataType_t cudnn_type(DType dtype) noexcept {
  return dtype == DType::f16 ? CUDNN_DATA_HALF : dtype == DType::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}
bool has_cudnn_activation(DnnActivation function) noexcept {
  return function == DnnActivation::none || activation_of(function, 0);
}

// ---- convolutions ----

std::vector<std::int64_t> CudnnConvolutionProblem::key() const {
  std::vector<std::int64_t> key{0,
                                static_cast<std::int64_t>(which),
                                static_cast<std::int64_t>(dtype),
                                static_cast<std::int64_t>(axes),
                                static_cast<std::int64_t>(activation),
                                std::bit_cast<std::int64_t>(alpha),
                                has_bias,
                                has_addend};
  for (const op::SpaceNumbers& numbers : {window.stride, window.before, window.after, window.dilation})
    key.insert(key.end(), numbers.begin(), numbers.end());
  for (const CudnnOperand* const operand : {&a, &b, &out, &bias, &addend}) add_to(key, *operand);
  return key;
}

CudnnGraph CudnnConvolutionProblem::graph() const {
  using Tensor = CudnnGraph::Tensor;
  CudnnGraph graph;
  const cudnnDataType_t type = cudnn_type(dtype);
  const auto array = [&](const CudnnOperand& operand) {
    return graph.array(form_of(operand, axes), type, operand.alignment_bytes);
  };
  const Tensor from = array(a), by = array(b), to = array(out);
  std::vector<Tensor> added;
  if (has_bias) added.push_back(array(bias));
  if (has_addend) added.push_back(array(addend));
  const std::optional<CudnnPointwise> function = activation_of(activation, alpha);

  const auto in_space = [&](const op::SpaceNumbers& numbers) {
    return std::vector(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(axes - 2));
  };
  std::size_t left = added.size() + (function ? 1 : 0);  // nodes behind the convolution: the last one makes `out`
  const auto next = [&] { return left-- == 0 ? to : graph.made(form_of(out, axes)); };
  Tensor last = next();
  graph.convolve(which, from, by, last,
                 {.stride = in_space(window.stride),
                  .before = in_space(window.before),
                  .after = in_space(window.after),
                  .dilation = in_space(window.dilation)});
  for (const Tensor more : added) {
    const Tensor sum = next();
    graph.pointwise({.mode = CUDNN_POINTWISE_ADD}, sum, {last, more});
    last = sum;
  }
  if (function) graph.pointwise(*function, next(), {last});
  return graph;
}

// ---- attention ----

std::vector<std::int64_t> CudnnAttentionProblem::key() const {
  std::vector<std::int64_t> key{1,      backward, static_cast<std::int64_t>(dtype),
                                causal, shift,    std::bit_cast<std::int32_t>(scale)};
  for (const CudnnOperand* const operand : {&q, &k, &v, &y, &dy, &dq, &dk, &dv}) add_to(key, *operand);
  return key;
}

namespace {

/// The graph of attention as cuDNN's engine for it expects it: it knows these nodes in this order, and no others.
class AttentionGraph {
 public:
  using Tensor = CudnnGraph::Tensor;
  explicit AttentionGraph(const CudnnAttentionProblem& of)
      : of_(of),
        batch_(of.q.extents[0]),
        heads_(of.q.extents[1]),
        queries_(of.q.extents[2]),
        keys_(of.k.extents[2]),
        rows_{{batch_, heads_, queries_, 1}, {heads_ * queries_, queries_, 1, 1}},
        scores_{{batch_, heads_, queries_, keys_}, {heads_ * queries_ * keys_, queries_ * keys_, keys_, 1}} {}

  CudnnGraph forward();
  CudnnGraph backward();

 private:
  Tensor array(const CudnnForm& form, const CudnnOperand& of) {
    return graph_.array(form, cudnn_type(of_.dtype), of.alignment_bytes);
  }
  Tensor array(const CudnnOperand& of) { return array(form_of(of, 4), of); }
  Tensor sums() { return graph_.array(rows_, CUDNN_DATA_FLOAT, sizeof(float)); }
  Tensor pointwise(const CudnnPointwise& how, const CudnnForm& form, std::initializer_list<Tensor> of) {
    const Tensor made = graph_.made(form);
    graph_.pointwise(how, made, of);
    return made;
  }
  Tensor pointwise(cudnnPointwiseMode_t mode, const CudnnForm& form, std::initializer_list<Tensor> of) {
    return pointwise({.mode = mode}, form, of);
  }
  Tensor scaled_scores(Tensor q, Tensor k);
  Tensor masked(Tensor scores);
  /// The scores' transpose in the arrays' type, as a product takes it.
  Tensor turned(Tensor scores);
  /// The sum of those of all heads of queries that share one of keys.
  void multiply_to_keys(Tensor out, const CudnnOperand& form, Tensor turned, Tensor by);

  const CudnnAttentionProblem& of_;
  const std::int64_t batch_;
  const std::int64_t heads_;
  const std::int64_t queries_;
  const std::int64_t keys_;
  const CudnnForm rows_;
  const CudnnForm scores_;
  CudnnGraph graph_;
};

CudnnGraph::Tensor AttentionGraph::scaled_scores(Tensor q, Tensor k) {
  const Tensor products = graph_.made(scores_);
  graph_.multiply(products, q, k);
  return pointwise(CUDNN_POINTWISE_MUL, scores_, {products, graph_.number(of_.scale)});
}

CudnnGraph::Tensor AttentionGraph::masked(Tensor scores) {
  if (!of_.causal) return scores;
  const auto index = [&](int axis) {
    const Tensor made = graph_.made(scores_, CUDNN_DATA_INT32);
    graph_.pointwise({.mode = CUDNN_POINTWISE_GEN_INDEX, .axis = axis}, made, {scores});
    return made;
  };
  Tensor query = index(2);
  const Tensor key = index(3);
  const auto moved = [&](cudnnPointwiseMode_t mode, std::int64_t by) {
    const Tensor made = graph_.made(scores_, CUDNN_DATA_INT32);
    graph_.pointwise({.mode = mode, .computed_in = CUDNN_DATA_INT32, .axis = 3}, made,
                     {query, graph_.number(static_cast<std::int32_t>(by))});
    query = made;
  };
  if (of_.shift != 0) {
    moved(CUDNN_POINTWISE_ADD, keys_);
    moved(CUDNN_POINTWISE_SUB, queries_);
  }
  const Tensor seen = graph_.made(scores_, CUDNN_DATA_BOOLEAN);
  graph_.pointwise({.mode = CUDNN_POINTWISE_CMP_GE, .computed_in = CUDNN_DATA_BOOLEAN}, seen, {query, key});
  const Tensor made = graph_.made(scores_);
  graph_.select(made, scores, graph_.number(-std::numeric_limits<float>::infinity()), seen);
  return made;
}

CudnnGraph::Tensor AttentionGraph::turned(Tensor scores) {
  const Tensor made = graph_.made(transposed(scores_), cudnn_type(of_.dtype));
  graph_.reshape(made, scores);
  return made;
}

void AttentionGraph::multiply_to_keys(Tensor out, const CudnnOperand& form, Tensor turned, Tensor by) {
  const std::int64_t width = form.extents[3];
  if (form.extents[1] == heads_) return graph_.multiply(out, turned, by);
  const Tensor of_heads = graph_.made(
      {{batch_, heads_, keys_, width}, {heads_ * keys_ * width, keys_ * width, width, 1}}, cudnn_type(of_.dtype));
  graph_.multiply(of_heads, turned, by);
  graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, out, of_heads);
}

CudnnGraph AttentionGraph::forward() {
  const Tensor q = array(of_.q), k = array(transposed(form_of(of_.k, 4)), of_.k), v = array(of_.v), y = array(of_.y);
  const Tensor sums = this->sums();
  const Tensor scores = masked(scaled_scores(q, k));
  const Tensor greatest = graph_.made(rows_), total = graph_.made(rows_);
  graph_.reduce(CUDNN_REDUCE_TENSOR_MAX, greatest, scores);
  const Tensor powers =
      pointwise(CUDNN_POINTWISE_EXP, scores_, {pointwise(CUDNN_POINTWISE_SUB, scores_, {scores, greatest})});
  graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, total, powers);
  graph_.pointwise({.mode = CUDNN_POINTWISE_ADD}, sums, {greatest, pointwise(CUDNN_POINTWISE_LOG, rows_, {total})});
  const Tensor weights = graph_.made(scores_, cudnn_type(of_.dtype));
  graph_.pointwise({.mode = CUDNN_POINTWISE_DIV}, weights, {powers, total});
  graph_.multiply(y, weights, v);
  return std::move(graph_);
}

CudnnGraph AttentionGraph::backward() {
  const CudnnForm turned_k = transposed(form_of(of_.k, 4));
  const Tensor q = array(of_.q), k = array(turned_k, of_.k), v = array(transposed(form_of(of_.v, 4)), of_.v);
  const Tensor y = array(of_.y), sums = this->sums(), dy = array(of_.dy);
  const Tensor dq = array(of_.dq), dk = array(of_.dk), dv = array(of_.dv), products = this->sums();
  // Of each query, the sum of dy y.
  CudnnForm back = form_of(of_.y, 4);
  back.strides = {heads_ * queries_ * back.extents[3], queries_ * back.extents[3], heads_ * back.extents[3], 1};
  const Tensor product = pointwise(CUDNN_POINTWISE_MUL, back, {dy, y});
  const Tensor product_sums = graph_.made(rows_);
  graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, product_sums, product);
  graph_.pointwise({.mode = CUDNN_POINTWISE_MUL}, products, {product_sums, graph_.number(1.0F)});
  // The weights again, and dv.
  const Tensor scores = masked(pointwise(CUDNN_POINTWISE_SUB, scores_, {scaled_scores(q, k), sums}));
  const Tensor weights = pointwise(CUDNN_POINTWISE_EXP, scores_, {scores});
  multiply_to_keys(dv, of_.dv, turned(weights), dy);
  // The slopes of the scores, and dk and dq.
  const Tensor dweights = graph_.made(scores_);
  graph_.multiply(dweights, dy, v);
  const Tensor centred = pointwise(CUDNN_POINTWISE_SUB, scores_, {dweights, products});
  const Tensor slopes = pointwise(CUDNN_POINTWISE_MUL, scores_, {centred, weights});
  const Tensor dscores = pointwise(CUDNN_POINTWISE_MUL, scores_, {slopes, graph_.number(of_.scale)});
  multiply_to_keys(dk, of_.dk, turned(dscores), q);
  const Tensor turned_back = graph_.made(form_of(of_.k, 4), cudnn_type(of_.dtype));
  graph_.reshape(turned_back, k);
  graph_.multiply(dq, dscores, turned_back);
  return std::move(graph_);
}

}  // namespace

CudnnGraph CudnnAttentionProblem::graph() const {
  return backward ? AttentionGraph(*this).backward() : AttentionGraph(*this).forward();
}

}  // namespace troupe::cuda

#endif

// Every gradient of the dnn family against the rise of what it is the gradient of, in f64.
#include <array>

#include "troupe/backend/host/dnn/dnn_layers.test.hpp"
#include "troupe/op/dnn_finding.hpp"

namespace troupe::host {
namespace {

class DnnGradients : public ::testing::Test {
 protected:
  using Run = std::function<void()>;

  /// Moves x a little to both sides along a random direction: y, weighed with dy, must rise as dx says.
  void expect_gradient(const std::string& what, const op::View& x, const op::View& y, const op::View& dy,
                       const op::View& dx, const Run& forward, const Run& backward) {
    constexpr double kStep = 1e-6;
    forward();
    backward();
    const std::int64_t count = op::element_count(x);
    std::vector<double> start, direction;
    double want = 0;
    std::uniform_real_distribution<double> numbers(-1, 1);
    for (std::int64_t i = 0; i < count; ++i) {
      start.push_back(memory_.get(x, i));
      direction.push_back(numbers(memory_.random_numbers()));
      want += memory_.get(dx, i) * direction.back();
    }
    double rise = 0;
    for (const double side : {kStep, -kStep}) {
      for (std::int64_t i = 0; i < count; ++i) memory_.set(x, i, start[index(i)] + side * direction[index(i)]);
      forward();
      for (std::int64_t i = 0; i < op::element_count(y); ++i)
        rise += memory_.get(y, i) * memory_.get(dy, i) / (2 * side);
    }
    for (std::int64_t i = 0; i < count; ++i) memory_.set(x, i, start[index(i)]);
    EXPECT_NEAR(rise, want, 1e-6 * std::max(1.0, std::abs(want))) << what;
  }

  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  template <class Op>
  Run run(const Op& op) {
    return [this, op] { run_layer(op, memory_.here()); };
  }

  LayerMemory memory_{DType::f64};
};

struct ConvolutionShapes {
  Shape x;
  Shape w;
  Shape y;
  op::DnnWindow window;
  std::int64_t groups;
};

TEST_F(DnnGradients, of_convolutions) {
  const ConvolutionShapes all[] = {
      {{2, 4, 11}, {6, 2, 4}, {2, 6, 3}, {{3, 1, 1}, {2, 0, 0}, {1, 0, 0}, {2, 1, 1}}, 2},
      {{2, 3, 7, 6}, {4, 3, 3, 2}, {2, 4, 7, 8}, {{1, 1, 1}, {1, 1, 0}, {1, 2, 0}, {1, 1, 1}}, 1},
      {{2, 5, 6, 7}, {5, 1, 3, 3}, {2, 5, 6, 7}, {{1, 1, 1}, {1, 1, 0}, {1, 1, 0}, {1, 1, 1}}, 5},
      {{2, 3, 4, 5, 6}, {4, 3, 2, 3, 2}, {2, 4, 5, 2, 7}, {{1, 2, 1}, {1, 0, 1}, {1, 0, 1}, {1, 1, 1}}, 1},
      {{2, 7, 5, 5}, {6, 7, 1, 1}, {2, 6, 5, 5}, {}, 1}};
  for (const ConvolutionShapes& of : all) {
    op::DnnConvolve forward;
    forward.window = of.window;
    forward.groups = of.groups;
    forward.x = memory_.random(of.x);
    forward.w = memory_.random(of.w);
    forward.y = memory_.empty(of.y);
    const op::View dy = memory_.random(of.y);
    op::DnnConvolveInput input;
    input.window = of.window;
    input.groups = of.groups;
    input.y = dy;
    input.w = forward.w;
    input.x = memory_.empty(of.x);
    expect_gradient("x " + of.x.to_string(), forward.x, forward.y, dy, input.x, run(forward), run(input));
    op::DnnConvolveFilter filter;
    filter.window = of.window;
    filter.groups = of.groups;
    filter.x = forward.x;
    filter.y = dy;
    filter.w = memory_.empty(of.w);
    expect_gradient("w " + of.w.to_string(), forward.w, forward.y, dy, filter.w, run(forward), run(filter));
  }
}

TEST_F(DnnGradients, of_pools) {
  const Shape x_shape{2, 3, 8, 9}, y_shape{2, 3, 4, 5};
  op::DnnPool window;
  window.window = {{2, 2, 1}, {1, 1, 0}, {0, 1, 0}, {1, 1, 1}};
  window.extent = {3, 3, 1};
  op::DnnPool adaptive;
  adaptive.adaptive = 1;
  const op::View x = memory_.random(x_shape), dy = memory_.random(y_shape);
  const op::View y = memory_.empty(y_shape), dx = memory_.empty(x_shape), places = memory_.indices(y_shape);
  for (const op::DnnPool& pool : {window, adaptive}) {
    op::DnnMaxPool greatest{.pool = pool, .has_indices = true, .x = x, .y = y, .indices = places};
    op::DnnMaxPoolGradient greatest_back{.pool = pool, .dy = dy, .indices = places, .dx = dx};
    expect_gradient("max_pool", x, y, dy, dx, run(greatest), run(greatest_back));
    for (const bool counts : {false, true})
      expect_gradient("average_pool", x, y, dy, dx,
                      run(op::DnnAveragePool{.pool = pool, .counts_padding = counts, .x = x, .y = y}),
                      run(op::DnnAveragePoolGradient{.pool = pool, .counts_padding = counts, .dy = dy, .dx = dx}));
  }
}

TEST_F(DnnGradients, of_interpolation) {
  const op::View x = memory_.random({2, 3, 8, 9}), y = memory_.empty({2, 3, 13, 4}), dy = memory_.random({2, 3, 13, 4});
  const op::View dx = memory_.empty({2, 3, 8, 9});
  for (int way = 0; way <= static_cast<int>(DnnInterpolation::kLast); ++way)
    for (const bool aligns : {false, way > 0}) {
      const auto of = static_cast<DnnInterpolation>(way);
      expect_gradient(std::string(name(of)), x, y, dy, dx,
                      run(op::DnnInterpolate{.way = of, .aligns_corners = aligns, .x = x, .y = y}),
                      run(op::DnnInterpolateGradient{.way = of, .aligns_corners = aligns, .dy = dy, .dx = dx}));
    }
}

TEST_F(DnnGradients, of_recurrent_layers) {
  for (const auto cell : {detail::Recurrent::lstm, detail::Recurrent::gru}) {
    // Two layers in both directions; sequences of 4, 1, 0 and 3 tokens.
    const op::RecurrentTerms terms{.cell = cell, .has_bias = true, .both_directions = true, .has_lengths = true};
    const std::string what(detail::name(cell));
    op::DnnRecurrent forward;
    op::DnnRecurrentGradient backward;
    forward.terms = backward.terms = terms;
    forward.keeps = true;
    forward.x = backward.x = memory_.random({4, 4, 3});
    forward.lengths = backward.lengths = memory_.indices({4});
    for (int i = 0; i < 4; ++i)
      memory_.here().data<std::int64_t>(forward.lengths)[i] = std::array{4, 1, 0, 3}[index(i)];
    forward.y = memory_.empty({4, 4, 10});
    forward.kept = backward.kept = memory_.empty({4, 4, 4, 25});
    forward.verdict = backward.verdict = memory_.indices({op::kDnnVerdictWords});
    forward.verdict.dtype = backward.verdict.dtype = DType::i32;
    backward.dy = memory_.random({4, 4, 10});
    backward.dx = memory_.empty({4, 4, 3});
    const auto add = [&](std::vector<op::Argument>& read, std::vector<op::Argument>& written, const Shape& shape) {
      read.push_back({op::Access::read, memory_.random(shape)});
      written.push_back({op::Access::write, memory_.empty(shape)});
    };
    for (int run = 0; run < 4; ++run)
      for (const Shape& shape : {Shape{terms.gates() * 5, run < 2 ? 3 : 10}, Shape{terms.gates() * 5, 5},
                                 Shape{terms.gates() * 5}, Shape{terms.gates() * 5}})
        add(forward.weights, backward.dweights, shape);
    for (std::size_t i = 0; i < terms.states(); ++i) add(forward.start, backward.dstart, {4, 4, 5});
    backward.weights = forward.weights;
    backward.start = forward.start;
    const auto expect = [&](const std::string& name, const op::View& of, const op::View& slopes) {
      expect_gradient(what + name, of, forward.y, backward.dy, slopes, run(forward), run(backward));
    };
    expect(" x", forward.x, backward.dx);
    for (std::size_t i = 0; i < forward.start.size(); ++i)
      expect(" state " + std::to_string(i), forward.start[i].view, backward.dstart[i].view);
    for (std::size_t i = 0; i < forward.weights.size(); ++i)
      expect(" weight " + std::to_string(i), forward.weights[i].view, backward.dweights[i].view);
  }
}

class DnnNormGradients : public DnnGradients {
 protected:
  /// Of x, scale and shift.
  template <class Forward, class Backward>
  void expect_norm_gradients(const std::string& what, const Shape& parameters, Forward forward, Backward backward) {
    const Shape shape{3, 6, 5};
    forward.has_scale = forward.has_shift = true;
    forward.x = memory_.random(shape);
    forward.scale = memory_.random(parameters);
    forward.shift = memory_.random(parameters);
    forward.y = memory_.empty(shape);
    backward.has_scale = backward.gives_scale = backward.gives_shift = true;
    backward.dy = memory_.random(shape);
    backward.x = forward.x;
    backward.scale = forward.scale;
    backward.dx = memory_.empty(shape);
    backward.dscale = memory_.empty(parameters);
    backward.dshift = memory_.empty(parameters);
    const op::View& dy = backward.dy;
    expect_gradient(what + " x", forward.x, forward.y, dy, backward.dx, run(forward), run(backward));
    expect_gradient(what + " scale", forward.scale, forward.y, dy, backward.dscale, run(forward), run(backward));
    expect_gradient(what + " shift", forward.shift, forward.y, dy, backward.dshift, run(forward), run(backward));
  }
};

TEST_F(DnnNormGradients, of_each_norm) {
  op::DnnLayerNorm layer;
  op::DnnLayerNormGradient layer_back;
  expect_norm_gradients("layer_norm", {5}, layer, layer_back);
  layer.axes = layer_back.axes = 2;
  expect_norm_gradients("layer_norm of two axes", {6, 5}, layer, layer_back);
  layer.centred = layer_back.centred = false;
  expect_norm_gradients("rms_norm", {6, 5}, layer, layer_back);
  op::DnnGroupNorm group;
  op::DnnGroupNormGradient group_back;
  expect_norm_gradients("instance_norm", {6}, group, group_back);
  group.groups = group_back.groups = 2;
  expect_norm_gradients("group_norm", {6}, group, group_back);
  expect_norm_gradients("batch_norm_training", {6}, op::DnnBatchNormTraining(), op::DnnBatchNormGradient());
}

}  // namespace
}  // namespace troupe::host

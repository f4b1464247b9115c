#include "troupe/op/dnn_recurrent.hpp"

#include "troupe/op/dnn_check.hpp"
#include "troupe/op/dnn_rows_check.hpp"

namespace troupe::inline v0::op {
namespace {

using Arguments = std::vector<Argument>;

/// "w_ih 3": the array of that run.
std::string of_run(std::string_view name, std::size_t run) { return std::string(name) + " " + std::to_string(run); }

/// Whether the list says what is read and what is written as it must: a list from another process may not.
Result<void> check_access(std::string_view call, std::string_view list, const Arguments& arrays, Access access) {
  for (const Argument& array : arrays)
    if (array.access != access)
      return refuse(call, "the arrays of " + std::string(list) + " are not read or written as they must be");
  return {};
}
Result<void> check_array(std::string_view call, const NamedView& view, DType dtype, const Shape& shape) {
  TROUPE_TRY(check_type(call, view, dtype));
  return check_shape(call, view, shape);
}

Result<void> check_x(std::string_view call, const NamedView& x) {
  TROUPE_TRY(check_float(call, x));
  if (x.view.shape.rank() == 3 && x.view.shape[2] > 0) return {};
  return refuse(call, "x is " + x.view.shape.to_string() + "; it must be [tokens, batch, features], with features");
}

Result<void> check_weights(std::string_view call, const RecurrentTerms& terms, const Arguments& weights) {
  const std::size_t of_layer = terms.weights_each() * static_cast<std::size_t>(terms.directions());
  const std::size_t most = terms.weights_each() * kMaxRecurrentRuns;
  if (weights.empty() || weights.size() % of_layer != 0 || weights.size() > most)
    return refuse(call, "there are " + std::to_string(weights.size()) + " weights; each layer has " +
                            std::to_string(of_layer) + ", and there can be up to " + std::to_string(most));
  const Shape& recurrent = weights[1].view.shape;
  if (recurrent.rank() != 2 || recurrent[1] < 1 || recurrent[1] > kMaxHidden)
    return refuse(call, "w_hh 0 is " + recurrent.to_string() + "; it must be [" + std::to_string(terms.gates()) +
                            " hidden, hidden], with hidden from 1 to " + std::to_string(kMaxHidden));
  return {};
}
/// The weights, or gradients of their shapes: `names` is what they are called.
Result<void> check_runs(std::string_view call, const RecurrentTerms& terms, const View& x, const RecurrentExtents& of,
                        const Arguments& arrays, const std::array<std::string_view, 4>& names) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::size_t run = i / terms.weights_each(), which = i % terms.weights_each();
    const std::int64_t before = of.width_before(static_cast<std::int64_t>(run) / of.directions);
    const Shape shape = which == 0 ? Shape{of.sums, before} : which == 1 ? Shape{of.sums, of.hidden} : Shape{of.sums};
    TROUPE_TRY(check_array(call, {of_run(names[which], run), arrays[i].view}, x.dtype, shape));
  }
  return {};
}
/// The state of all runs, or gradients of it; or none.
Result<void> check_state(std::string_view call, const RecurrentTerms& terms, const View& x, const RecurrentExtents& of,
                         const Arguments& arrays, const std::array<std::string_view, 2>& names) {
  if (!arrays.empty() && arrays.size() != terms.states()) {
    const std::string h(names[0]), c(names[1]);
    return refuse(call, terms.states() == 2 ? h + " and " + c + " belong together; give both, or none"
                                            : "there is " + c + "; a gru has " + h + " only");
  }
  for (std::size_t i = 0; i < arrays.size(); ++i)
    TROUPE_TRY(check_array(call, {names[i], arrays[i].view}, x.dtype, Shape{of.runs, of.batch, of.hidden}));
  return {};
}

constexpr std::array<std::string_view, 4> kWeights{"w_ih", "w_hh", "b_ih", "b_hh"};
constexpr std::array<std::string_view, 4> kWeightGradients{"dw_ih", "dw_hh", "db_ih", "db_hh"};

/// What both directions have.
template <class Op>
Result<RecurrentExtents> check_inputs(std::string_view call, const Op& op) {
  TROUPE_TRY(check_x(call, {"x", op.x}));
  TROUPE_TRY(check_access(call, "the weights", op.weights, Access::read));
  TROUPE_TRY(check_access(call, "the first state", op.start, Access::read));
  TROUPE_TRY(check_weights(call, op.terms, op.weights));
  const RecurrentExtents of(op.terms, op.x, op.weights);
  TROUPE_TRY(check_runs(call, op.terms, op.x, of, op.weights, kWeights));
  TROUPE_TRY(check_state(call, op.terms, op.x, of, op.start, {"h0", "c0"}));
  if (!op.terms.has_lengths) return of;
  TROUPE_TRY(check_index_type(call, {"lengths", op.lengths}));
  TROUPE_TRY(check_shape(call, {"lengths", op.lengths}, Shape{of.batch}));
  TROUPE_TRY(check_dnn_verdict(call, op.verdict));
  return of;
}
Result<void> check_kept(std::string_view call, const View& x, const RecurrentExtents& of, const View& kept) {
  return check_array(call, {"kept", kept}, computed_in(x.dtype),
                     Shape{of.runs, of.tokens, of.batch, kKeptNumbers * of.hidden});
}

/// Products of an op that nobody has checked.
std::uint64_t products_of(const View& x, const Arguments& weights) noexcept {
  if (x.shape.rank() != 3) return 0;
  const std::uint64_t rows =
      product_of({static_cast<std::uint64_t>(x.shape[0]), static_cast<std::uint64_t>(x.shape[1])});
  std::uint64_t products = 0;
  for (const Argument& array : weights) products += product_of({rows, product_of(array.view.shape)});
  return products;
}

}  // namespace

std::uint64_t DnnRecurrent::work() const noexcept { return products_of(x, weights); }
std::uint64_t DnnRecurrentGradient::work() const noexcept { return 2 * products_of(x, weights); }

Result<void> check(const DnnRecurrent& op) {
  const std::string_view call = detail::name(op.terms.cell);
  const RecurrentExtents of = TROUPE_TRY(check_inputs(call, op));
  TROUPE_TRY(check_array(call, {"y", op.y}, op.x.dtype, Shape{of.tokens, of.batch, of.width()}));
  TROUPE_TRY(check_access(call, "the last state", op.end, Access::write));
  TROUPE_TRY(check_state(call, op.terms, op.x, of, op.end, {"h_n", "c_n"}));
  return op.keeps ? check_kept(call, op.x, of, op.kept) : Result<void>{};
}

Result<void> check(const DnnRecurrentGradient& op) {
  const std::string_view call = op.terms.cell == detail::Recurrent::lstm ? "lstm_gradient" : "gru_gradient";
  const RecurrentExtents of = TROUPE_TRY(check_inputs(call, op));
  TROUPE_TRY(check_kept(call, op.x, of, op.kept));
  TROUPE_TRY(check_array(call, {"dy", op.dy}, op.x.dtype, Shape{of.tokens, of.batch, of.width()}));
  TROUPE_TRY(check_array(call, {"dx", op.dx}, op.x.dtype, op.x.shape));
  TROUPE_TRY(check_access(call, "the last state's gradient", op.dend, Access::read));
  TROUPE_TRY(check_state(call, op.terms, op.x, of, op.dend, {"dh_n", "dc_n"}));
  TROUPE_TRY(check_access(call, "the first state's gradient", op.dstart, Access::write));
  TROUPE_TRY(check_state(call, op.terms, op.x, of, op.dstart, {"dh0", "dc0"}));
  TROUPE_TRY(check_access(call, "the weights' gradients", op.dweights, Access::write));
  if (!op.dweights.empty() && op.dweights.size() != op.weights.size())
    return refuse(call, "there are " + std::to_string(op.weights.size()) + " weights, and arrays for " +
                            std::to_string(op.dweights.size()) + " gradients of them; there must be as many, or none");
  return check_runs(call, op.terms, op.x, of, op.dweights, kWeightGradients);
}

}  // namespace troupe::inline v0::op

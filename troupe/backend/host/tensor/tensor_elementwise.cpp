#include <complex>

#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/tensor/tensor_ops.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::host {
namespace {

/// One block of every input to one of the output.
template <class C, std::size_t n>
using ApplyBlock = void (*)(const std::array<Block<C>, n>& in, Block<C>& out, std::int64_t count);

template <auto function, class C, std::size_t n>
void apply_block(const std::array<Block<C>, n>& in, Block<C>& out, std::int64_t count) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if constexpr (n == 1)
      out[i] = tensor::apply<function>(in[0][i]);
    else if constexpr (n == 2)
      out[i] = tensor::apply<function>(in[0][i], in[1][i]);
    else
      out[i] = tensor::apply<function>(in[0][i], in[1][i], in[2][i]);
  }
}

/// How an input comes into its block.
template <class C>
struct Input {
  LoadRow<C> load = nullptr;
  C factor{1};
  bool is_number = false;
  bool is_scaled = false;

  void read(const std::byte* from, std::int64_t step, std::int64_t count, Block<C>& to) const {
    if (is_number) return;  // filled in once
    load(from, step, count, to.data());
    if (is_scaled)
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) to[i] = tensor::times(factor, to[i]);
  }
};

template <class C, class Op>
void run_as(const Op& op, const HostViews& here) {
  constexpr std::size_t n = Op::kInputs;
  ApplyBlock<C, n> apply = nullptr;
  tensor::with_function<!detail::kIsComplex<C>>(
      op.function,
      [&]<class F, F function>(std::integral_constant<F, function>) { apply = apply_block<function, C, n>; });
  const StoreRow<C> store_out = store_row_for<C>(op.out.dtype);
  const HostView out = here(op.out);
  std::array<Input<C>, n> inputs;
  std::array<HostView, n> views;
  std::array<Block<C>, n> blocks;
  Block<C> results;
  std::array<const HostView*, n + 1> all;
  for (std::size_t i = 0; i < n; ++i) {
    Input<C>& input = inputs[i];
    input.factor = op.factors[i].template as<C>();
    input.is_number = op.is_number(i);
    input.is_scaled = input.factor != C{1};
    if (input.is_number) {
      blocks[i].fill(input.factor);
      views[i] = out;  // never read: along with the output, and nowhere
      for (int axis = 0; axis < out.shape.rank(); ++axis) views[i].strides[axis] = 0;
    } else {
      views[i] = here(op.in[i]);
      input.load = load_row_for<C>(op.in[i].dtype);
    }
    all[i] = &views[i];
  }
  all[n] = &out;
  walk<n + 1>(all, [&](const Pointers<n + 1>& at, const Steps<n + 1>& step, std::int64_t count) {
    for (std::int64_t done = 0; done < count; done += kRowBlock) {
      const std::int64_t length = std::min(kRowBlock, count - done);
      for (std::size_t i = 0; i < n; ++i) inputs[i].read(at[i] + done * step[i], step[i], length, blocks[i]);
      apply(blocks, results, length);
      store_out(results.data(), length, at[n] + done * step[n], step[n]);
    }
  });
}

template <class Op>
Result<void> run(const Op& op, const HostViews& here) {
  switch (op.out.dtype) {
    case DType::f64: run_as<double>(op, here); break;
    case DType::c64: run_as<std::complex<float>>(op, here); break;
    case DType::c128: run_as<std::complex<double>>(op, here); break;
    default: run_as<float>(op, here); break;
  }
  return {};
}

}  // namespace

Result<void> run_op(const op::UnaryOp& op, const HostViews& here) { return run(op, here); }
Result<void> run_op(const op::BinaryOp& op, const HostViews& here) { return run(op, here); }
Result<void> run_op(const op::TernaryOp& op, const HostViews& here) { return run(op, here); }

void add_tensor(RunTable& table) { table.add(op::TensorOps{}); }

}  // namespace troupe::host

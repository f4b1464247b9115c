// Expressions on the CPU: rows of inputs come in blocks that stay in the nearest cache, each step is one of the vector
// kernels over such a block, and only the result goes out.
#include <complex>
#include <vector>

#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/backend/host/tensor/tensor_numbers.hpp"
#include "troupe/backend/host/tensor/tensor_ops.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/expression.hpp"

namespace troupe::host {
namespace {

using op::Operand;
using op::Step;

constexpr std::size_t kInputs = op::kMaxExpressionInputs;

/// A thread's own memory for the results of steps. It stays, so that an op makes none.
template <class C>
std::vector<C>& own_rows() {
  static thread_local std::vector<C> rows;
  return rows;
}

template <class C>
class Program {
 public:
  explicit Program(const op::Evaluate& op) : inputs_(op.inputs.size()), store_(store_row_for<C>(op.out.dtype)) {
    for (std::size_t i = 0; i < inputs_; ++i) {
      load_[i] = load_row_for<C>(op.inputs[i].view.dtype);
      is_plain_[i] = op.inputs[i].view.dtype == dtype_of<C>;
    }
    for (std::size_t i = 0; i < op.number_count(); ++i) {
      const C number = op::Scalar(op.number(i)).as<C>();
      numbers_.insert(numbers_.end(), kRowBlock, number);
    }
    for (std::size_t i = 0; i < op.step_count(); ++i) steps_.push_back(op.step(i));
    out_is_plain_ = op.out.dtype == dtype_of<C>;
  }

  void run(const Pointers<kInputs + 1>& at, const Steps<kInputs + 1>& step, std::int64_t count) const noexcept {
    std::vector<C>& own = own_rows<C>();
    own.resize(rows_needed() * kRowBlock);  // once per thread, and again for a longer expression
    const bool out_in_place = out_is_plain_ && lies_well(at[kInputs], step[kInputs]);
    std::array<const C*, kInputs> in{};
    for (std::size_t i = 0; i < inputs_; ++i)
      if (step[i] == 0) in[i] = loaded(own, i, at[i], 0, std::min(count, kRowBlock));
    for (std::int64_t done = 0; done < count; done += kRowBlock) {
      const std::int64_t length = std::min(kRowBlock, count - done);
      for (std::size_t i = 0; i < inputs_; ++i) {
        const std::byte* const from = at[i] + done * step[i];
        if (step[i] == 0) continue;
        in[i] = is_plain_[i] && lies_well(from, step[i]) ? reinterpret_cast<const C*>(from)
                                                         : loaded(own, i, from, step[i], length);
      }
      std::byte* const to = at[kInputs] + done * step[kInputs];
      C* const result = out_in_place ? reinterpret_cast<C*>(to) : row(own, inputs_ + steps_.size() - 1);
      for (std::size_t i = 0; i < steps_.size(); ++i)
        apply(steps_[i], in, own, i + 1 == steps_.size() ? result : row(own, inputs_ + i), length);
      if (!out_in_place) store_(result, length, to, step[kInputs]);
    }
  }

 private:
  std::size_t rows_needed() const noexcept { return inputs_ + steps_.size(); }
  static C* row(std::vector<C>& own, std::size_t i) noexcept {
    return own.data() + i * static_cast<std::size_t>(kRowBlock);
  }
  static bool lies_well(const std::byte* at, std::int64_t step) noexcept {
    return step == static_cast<std::int64_t>(sizeof(C)) && reinterpret_cast<std::uintptr_t>(at) % alignof(C) == 0;
  }
  const C* loaded(std::vector<C>& own, std::size_t i, const std::byte* from, std::int64_t step,
                  std::int64_t count) const noexcept {
    C* const to = row(own, i);
    load_[i](from, step, count, to);
    return to;
  }
  void apply(const Step& step, const std::array<const C*, kInputs>& in, std::vector<C>& own, C* out,
             std::int64_t count) const noexcept {
    const auto operand = [&](std::size_t i) -> const C* {
      const Operand from = step.operands[i];
      if (from.from() == Operand::From::input) return in[from.index()];
      if (from.from() == Operand::From::number)
        return numbers_.data() + from.index() * static_cast<std::size_t>(kRowBlock);
      return row(own, inputs_ + from.index());
    };
    const NumberRows<C>& rows = number_rows<C>();
    if (step.arity == 1)
      rows.unary[step.function](operand(0), out, count);
    else if (step.arity == 2)
      rows.binary[step.function](operand(0), operand(1), out, count);
    else
      rows.ternary[step.function](operand(0), operand(1), operand(2), out, count);
  }

  std::size_t inputs_;
  std::array<LoadRow<C>, kInputs> load_{};
  std::array<bool, kInputs> is_plain_{};
  std::vector<C> numbers_;  // a row of each
  std::vector<Step> steps_;
  StoreRow<C> store_;
  bool out_is_plain_ = false;
};

template <class C>
void run_as(const op::Evaluate& op, const HostViews& here) {
  const HostView out = here(op.out);
  HostView nowhere = out;  // for the inputs that there are not
  for (int axis = 0; axis < out.shape.rank(); ++axis) nowhere.strides[axis] = 0;
  std::array<HostView, kInputs> views;
  std::array<const HostView*, kInputs + 1> all;
  std::int64_t bytes = size_bytes(op.out.dtype);
  for (std::size_t i = 0; i < kInputs; ++i) {
    all[i] = &nowhere;
    if (i >= op.inputs.size()) continue;
    views[i] = here(op.inputs[i].view);
    all[i] = &views[i];
    bytes += size_bytes(op.inputs[i].view.dtype);
  }
  all[kInputs] = &out;
  const Program<C> program(op);
  double ns = 0;
  for (std::size_t i = 0; i < op.step_count(); ++i) {
    const Step step = op.step(i);
    ns += step.arity == 1   ? ns_per_number<C>(static_cast<Unary>(step.function))
          : step.arity == 2 ? ns_per_number<C>(static_cast<Binary>(step.function))
                            : ns_per_number<C>(static_cast<Ternary>(step.function));
  }
  Walk<kInputs + 1>(all).run(here.team(), Grain::smaller(Grain::of_ns(ns), Grain::of_bytes(bytes)),
                             [&](const Pointers<kInputs + 1>& at, const Steps<kInputs + 1>& step,
                                 std::int64_t count) noexcept { program.run(at, step, count); });
}

}  // namespace

Result<void> run_op(const op::Evaluate& op, const HostViews& here) {
  switch (op.computed_in()) {
    case DType::f64: run_as<double>(op, here); break;
    case DType::c64: run_as<std::complex<float>>(op, here); break;
    case DType::c128: run_as<std::complex<double>>(op, here); break;
    default: run_as<float>(op, here); break;
  }
  return {};
}

}  // namespace troupe::host

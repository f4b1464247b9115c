// Expressions on the CPU, a block at a time: inputs come in rows that stay in the nearest cache, and each step is one
// of the vector kernels over such rows. A row that nobody needs any more is used again, so that few are enough.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "troupe/backend/host/tensor/tensor_numbers.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/expression.hpp"

namespace troupe::host {

/// Elements that are computed at a time.
inline constexpr std::int64_t kExpressionBlock = 512;

/// A program, computed in `C`. Any thread may use it; each has rows of its own.
template <class C>
class ExpressionRows {
 public:
  static constexpr std::size_t kInputs = op::kMaxExpressionInputs;
  static constexpr std::size_t kViews = kInputs + 1;  // the last one is the output
  using Rows = std::array<const C*, kInputs>;

  explicit ExpressionRows(const op::ExpressionProgram& program) : inputs_(program.inputs.size()) {
    for (std::size_t i = 0; i < inputs_; ++i) {
      load_[i] = load_row_for<C>(program.inputs[i].view.dtype);
      is_plain_[i] = program.inputs[i].view.dtype == dtype_of<C>;
    }
    for (std::size_t i = 0; i < program.number_count(); ++i)
      numbers_.insert(numbers_.end(), kExpressionBlock, op::Scalar(program.number(i)).as<C>());
    for (std::size_t i = 0; i < program.step_count(); ++i) steps_.push_back(program.step(i));
    choose_rows();
  }

  /// The rows of inputs that are one element, for blocks of up to `count`. Good until the thread computes another
  /// program.
  Rows singles(const Pointers<kViews>& at, const Steps<kViews>& step, std::int64_t count) const {
    std::vector<C>& own = own_rows();
    own.resize((inputs_ + rows_) * static_cast<std::size_t>(kExpressionBlock));  // larger once, and then never again
    Rows in{};
    for (std::size_t i = 0; i < inputs_; ++i)
      if (step[i] == 0) in[i] = loaded(own, i, at[i], 0, std::min(count, kExpressionBlock));
    return in;
  }

  /// Elements `done` to `done + length` of a row of the expression: in `out`, or where none is given in a row of the
  /// thread's own. `in` has the rows of `singles`.
  const C* compute(const Pointers<kViews>& at, const Steps<kViews>& step, Rows in, std::int64_t done,
                   std::int64_t length, C* out = nullptr) const noexcept {
    std::vector<C>& own = own_rows();
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (step[i] == 0) continue;
      const std::byte* const from = at[i] + done * step[i];
      in[i] = is_plain_[i] && lies_well(from, step[i]) ? reinterpret_cast<const C*>(from)
                                                       : loaded(own, i, from, step[i], length);
    }
    C* result = nullptr;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const bool is_last = i + 1 == steps_.size();
      result = is_last && out ? out : row(own, inputs_ + row_of_step_[i]);
      apply(steps_[i], in, own, result, length);
    }
    return result;
  }

  static bool lies_well(const std::byte* at, std::int64_t step) noexcept {
    return step == static_cast<std::int64_t>(sizeof(C)) && reinterpret_cast<std::uintptr_t>(at) % alignof(C) == 0;
  }

 private:
  /// A thread's own memory. It stays, so that an op makes none.
  static std::vector<C>& own_rows() {
    static thread_local std::vector<C> rows;
    return rows;
  }
  static C* row(std::vector<C>& own, std::size_t i) noexcept {
    return own.data() + i * static_cast<std::size_t>(kExpressionBlock);
  }

  /// Each step gets a row that no step needs which is still to come, and that none of its operands is in.
  void choose_rows() {
    std::vector<std::size_t> last_use(steps_.size(), 0);
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (std::size_t j = 0; j < steps_[i].arity; ++j)
        if (const op::Operand operand = steps_[i].operands[j]; operand.from() == op::Operand::From::step)
          last_use[operand.index()] = i;
    std::vector<std::size_t> owners;  // of each row: the step that wrote it last
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto free = std::ranges::find_if(owners, [&](std::size_t owner) { return last_use[owner] < i; });
      row_of_step_.push_back(static_cast<std::size_t>(free - owners.begin()));
      if (free == owners.end())
        owners.push_back(i);
      else
        *free = i;
    }
    rows_ = owners.size();
  }

  const C* loaded(std::vector<C>& own, std::size_t i, const std::byte* from, std::int64_t step,
                  std::int64_t count) const noexcept {
    C* const to = row(own, i);
    load_[i](from, step, count, to);
    return to;
  }

  void apply(const op::Step& step, const Rows& in, std::vector<C>& own, C* out, std::int64_t count) const noexcept {
    const auto operand = [&](std::size_t i) -> const C* {
      const op::Operand from = step.operands[i];
      if (from.from() == op::Operand::From::input) return in[from.index()];
      if (from.from() == op::Operand::From::number)
        return numbers_.data() + from.index() * static_cast<std::size_t>(kExpressionBlock);
      return row(own, inputs_ + row_of_step_[from.index()]);
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
  std::vector<op::Step> steps_;
  std::vector<std::size_t> row_of_step_;
  std::size_t rows_ = 0;
};

/// What an element costs.
template <class C>
double ns_per_element(const op::ExpressionProgram& program) noexcept {
  double ns = 0;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const op::Step step = program.step(i);
    ns += step.arity == 1   ? ns_per_number<C>(static_cast<Unary>(step.function))
          : step.arity == 2 ? ns_per_number<C>(static_cast<Binary>(step.function))
                            : ns_per_number<C>(static_cast<Ternary>(step.function));
  }
  return ns;
}

}  // namespace troupe::host

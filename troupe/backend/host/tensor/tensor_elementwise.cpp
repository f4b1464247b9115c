#include <complex>

#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/backend/host/tensor/tensor_numbers.hpp"
#include "troupe/backend/host/tensor/tensor_ops.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::host {
namespace {

template <class C, std::size_t n>
using ApplyRow = std::tuple_element_t<
    n - 1, std::tuple<typename NumberRows<C>::One, typename NumberRows<C>::Two, typename NumberRows<C>::Three>>;
template <class C>
typename NumberRows<C>::One row_of(Unary function) noexcept {
  return number_rows<C>().unary[static_cast<std::size_t>(function)];
}
template <class C>
typename NumberRows<C>::Two row_of(Binary function) noexcept {
  return number_rows<C>().binary[static_cast<std::size_t>(function)];
}
template <class C>
typename NumberRows<C>::Three row_of(Ternary function) noexcept {
  return number_rows<C>().ternary[static_cast<std::size_t>(function)];
}

/// How an input becomes a row of `C`.
template <class C>
struct Input {
  LoadRow<C> load = nullptr;
  C factor{1};
  bool is_number = false;
  bool is_scaled = false;
  bool is_plain = false;  // its elements are of type `C`, and count as they are

  bool is_repeated(std::int64_t step) const noexcept { return is_number || step == 0; }
  void read(const std::byte* from, std::int64_t step, std::int64_t count, C* to) const noexcept {
    if (is_number) return void(std::fill_n(to, count, factor));
    load(from, step, count, to);
    if (is_scaled) number_rows<C>().scale(factor, to, count);
  }
};

/// Whether a row can be computed with where it lies.
template <class C>
bool is_in_place(const std::byte* at, std::int64_t step) noexcept {
  return step == static_cast<std::int64_t>(sizeof(C)) && reinterpret_cast<std::uintptr_t>(at) % alignof(C) == 0;
}

/// Computes rows of the output. Elements that are of another type, scaled or apart from each other go through blocks.
template <class C, std::size_t n>
class Rows {
 public:
  template <class Op>
  explicit Rows(const Op& op)
      : apply_(row_of<C>(op.function)),
        store_(store_row_for<C>(op.out.dtype)),
        out_is_plain_(op.out.dtype == dtype_of<C>) {
    for (std::size_t i = 0; i < n; ++i) {
      Input<C>& input = inputs_[i];
      input.factor = op.factors[i].template as<C>();
      input.is_number = op.is_number(i);
      input.is_scaled = input.factor != C{1} && !op.is_condition(i);
      if (input.is_number) continue;
      input.load = load_row_for<C>(op.in[i].dtype);
      input.is_plain = !input.is_scaled && op.in[i].dtype == dtype_of<C>;
    }
  }

  void run(const Pointers<n + 1>& at, const Steps<n + 1>& step, std::int64_t count) const noexcept {
    std::array<Block<C>, n + 1> blocks;
    std::array<bool, n> in_place;
    const bool out_in_place = out_is_plain_ && is_in_place<C>(at[n], step[n]);
    bool all_in_place = out_in_place;
    for (std::size_t i = 0; i < n; ++i) {
      in_place[i] = inputs_[i].is_plain && is_in_place<C>(at[i], step[i]);
      all_in_place &= in_place[i];
      if (inputs_[i].is_repeated(step[i]))
        inputs_[i].read(at[i], step[i], std::min(count, kRowBlock), blocks[i].data());
    }
    const std::int64_t most = all_in_place ? count : kRowBlock;
    for (std::int64_t done = 0; done < count; done += most) {
      const std::int64_t length = std::min(most, count - done);
      std::array<const C*, n> rows;
      for (std::size_t i = 0; i < n; ++i) {
        const std::byte* const from = at[i] + done * step[i];
        rows[i] = in_place[i] ? reinterpret_cast<const C*>(from) : blocks[i].data();
        if (!in_place[i] && !inputs_[i].is_repeated(step[i])) inputs_[i].read(from, step[i], length, blocks[i].data());
      }
      std::byte* const to = at[n] + done * step[n];
      apply(rows, out_in_place ? reinterpret_cast<C*>(to) : blocks[n].data(), length);
      if (!out_in_place) store_(blocks[n].data(), length, to, step[n]);
    }
  }

 private:
  void apply(const std::array<const C*, n>& in, C* out, std::int64_t count) const noexcept {
    std::apply([&](const auto*... rows) { apply_(rows..., out, count); }, in);
  }

  ApplyRow<C, n> apply_;
  StoreRow<C> store_;
  bool out_is_plain_;
  std::array<Input<C>, n> inputs_;
};

/// How much is worth a thread: by what is moved, or by what is computed, whichever takes longer.
template <class C, class Op>
Grain grain_of(const Op& op) noexcept {
  std::int64_t bytes = size_bytes(op.out.dtype);
  for (std::size_t i = 0; i < Op::kInputs; ++i)
    if (!op.is_number(i)) bytes += size_bytes(op.in[i].dtype);
  return Grain::smaller(Grain::of_ns(ns_per_number<C>(op.function)), Grain::of_bytes(bytes));
}

template <class C, class Op>
void run_as(const Op& op, const HostViews& here) {
  constexpr std::size_t n = Op::kInputs;
  const HostView out = here(op.out);
  std::array<HostView, n> views;
  std::array<const HostView*, n + 1> all;
  for (std::size_t i = 0; i < n; ++i) {
    views[i] = op.is_number(i) ? out : here(op.in[i]);
    if (op.is_number(i))  // never read: along with the output, and nowhere
      for (int axis = 0; axis < out.shape.rank(); ++axis) views[i].strides[axis] = 0;
    all[i] = &views[i];
  }
  all[n] = &out;
  const Rows<C, n> rows(op);
  Walk<n + 1>(all).run(here.team(), grain_of<C>(op),
                       [&](const Pointers<n + 1>& at, const Steps<n + 1>& step, std::int64_t count) noexcept {
                         rows.run(at, step, count);
                       });
}

template <class Op>
Result<void> run(const Op& op, const HostViews& here) {
  visit(op.computed_in(), [&]<class T>(std::type_identity<T>) {
    if constexpr (detail::kIsComplex<T> || sizeof(T) > 1 || std::integral<T>) run_as<NumberType<T>>(op, here);
  });
  return {};
}

}  // namespace

Result<void> run_op(const op::UnaryOp& op, const HostViews& here) {
  // A permutation: elements are moved, whatever their bits mean.
  const bool is_copy = op.function == Unary::identity && !op.is_number(0) && op.in[0].dtype == op.out.dtype &&
                       op.factors[0].as<std::complex<double>>() == 1.0;
  return is_copy ? copy(here(op.in[0]), here(op.out), here.team()) : run(op, here);
}
Result<void> run_op(const op::BinaryOp& op, const HostViews& here) { return run(op, here); }
Result<void> run_op(const op::TernaryOp& op, const HostViews& here) { return run(op, here); }

void add_tensor(RunTable& table) { table.add(op::TensorOps{}); }

}  // namespace troupe::host

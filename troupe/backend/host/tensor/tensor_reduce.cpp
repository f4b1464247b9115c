#include "troupe/backend/host/tensor/tensor_reduce.hpp"

#include <complex>

#include "troupe/backend/host/tensor/tensor_ops.hpp"
#include "troupe/backend/host/tensor/tensor_reducer.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::host {
namespace {

/// How elements are read, and how what they were reduced to is written.
template <Reduction function, class A>
class Elements {
 public:
  Elements(const Reducing& what, double count)
      : load_(load_row_for<A>(what.in)),
        load_out_(load_row_for<A>(what.out)),
        store_(store_row_for<A>(what.out)),
        multiplies_(what.multiplies),
        is_f32_(what.in == DType::f32 && std::same_as<A, double>),
        load_f32_(is_small_float(what) ? load_row_for<float>(what.in) : nullptr),
        is_plain_(what.in == dtype_of<A>),
        alpha_(what.alpha.as<A>()),
        beta_(what.beta.as<A>()),
        count_(count) {}

  /// The terms of a part of a row, combined; those that lie side by side are taken where they are.
  A fold(const Nest::Pointers& from, const Nest::Steps& steps, std::int64_t done, std::int64_t length) const noexcept {
    const std::byte* const row = from[0] + done * steps[0];
    if (is_f32_ && lies_well<float>(row, steps[0])) return rows().fold_f32[kFunction](as<float>(row), length);
    if (is_plain_ && lies_well<A>(row, steps[0])) return rows().fold[kFunction](as<A>(row), length);
    if (load_f32_ != nullptr) {
      Block<float> numbers;
      load_f32_(row, steps[0], length, numbers.data());
      return rows().fold_f32[kFunction](numbers.data(), length);
    }
    Block<A> elements;
    read(from, steps, done, length, elements);
    return rows().fold[kFunction](elements.data(), length);
  }
  /// The same, one by one into sums.
  void gather(const Nest::Pointers& from, const Nest::Steps& steps, std::int64_t done, std::int64_t length,
              Block<A>& sums) const noexcept {
    const std::byte* const row = from[0] + done * steps[0];
    if (is_f32_ && lies_well<float>(row, steps[0]))
      return rows().gather_f32[kFunction](sums.data(), as<float>(row), length);
    if (is_plain_ && lies_well<A>(row, steps[0])) return rows().gather[kFunction](sums.data(), as<A>(row), length);
    if (load_f32_ != nullptr) {
      Block<float> numbers;
      load_f32_(row, steps[0], length, numbers.data());
      return rows().gather_f32[kFunction](sums.data(), numbers.data(), length);
    }
    Block<A> elements;
    read(from, steps, done, length, elements);
    rows().gather[kFunction](sums.data(), elements.data(), length);
  }
  void write(Block<A>& sums, std::byte* to, std::int64_t step, std::int64_t length) const noexcept {
    Block<A> before;
    if (beta_ != A{}) load_out_(to, step, length, before.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
      A result = tensor::finish<function>(sums[i], count_);
      if (alpha_ != A{1}) result = tensor::times(alpha_, result);
      if (beta_ != A{}) result = tensor::plus(result, tensor::times(beta_, before[i]));
      sums[i] = result;
    }
    store_(sums.data(), length, to, step);
  }

 private:
  static constexpr auto kFunction = static_cast<std::size_t>(function);

  /// Numbers that f32 has, too, go through blocks of half the size.
  static bool is_small_float(const Reducing& what) noexcept {
    return std::same_as<A, double> && !what.multiplies && (what.in == DType::f16 || what.in == DType::bf16);
  }
  static const FoldRows<A>& rows() noexcept { return fold_rows<A>(); }
  template <class T>
  bool lies_well(const std::byte* row, std::int64_t step) const noexcept {
    return !multiplies_ && step == static_cast<std::int64_t>(sizeof(T)) &&
           reinterpret_cast<std::uintptr_t>(row) % alignof(T) == 0;
  }
  template <class T>
  static const T* as(const std::byte* row) noexcept {
    return reinterpret_cast<const T*>(row);
  }
  void read(const Nest::Pointers& from, const Nest::Steps& steps, std::int64_t done, std::int64_t length,
            Block<A>& elements) const noexcept {
    load_(from[0] + done * steps[0], steps[0], length, elements.data());
    if (!multiplies_) return;
    Block<A> others;
    load_(from[1] + done * steps[1], steps[1], length, others.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
      elements[i] = tensor::times(elements[i], others[i]);
  }

  LoadRow<A> load_;
  LoadRow<A> load_out_;
  StoreRow<A> store_;
  bool multiplies_;
  bool is_f32_;
  LoadRow<float> load_f32_;  // null where elements are not read as f32
  bool is_plain_;            // of type `A`
  A alpha_;
  A beta_;
  double count_;
};

template <class A>
void reduce_as(const Reducing& what, const Nest::Pointers& at, Nest& kept, const Nest& reduced, Team& team) {
  const bool by_strips = choose_strips(kept, reduced);
  tensor::with_function<A>(what.function, [&]<Reduction function>(std::integral_constant<Reduction, function>) {
    Reducer<function, A, Nest, Elements<function, A>>({what, reduced.elements()}, at, kept, reduced)
        .run(by_strips, team);
  });
}

}  // namespace

void reduce_nests(const Reducing& what, const Nest::Pointers& at, Nest kept, Nest reduced, Team& team) {
  if (reduced.is_empty()) kept.stay_in_inputs();
  kept.arrange();
  reduced.arrange();
  switch (op::reduced_in(what.function, what.in)) {
    case DType::c128: reduce_as<std::complex<double>>(what, at, kept, reduced, team); break;
    case DType::i64: reduce_as<std::int64_t>(what, at, kept, reduced, team); break;
    case DType::u64: reduce_as<std::uint64_t>(what, at, kept, reduced, team); break;
    default: reduce_as<double>(what, at, kept, reduced, team); break;
  }
}

Result<void> run_op(const op::Reduce& op, const HostViews& here) {
  const HostView in = here(op.in);
  const HostView out = here(op.out);
  if (out.data == nullptr) return {};
  const std::int64_t in_size = size_bytes(in.dtype);
  const std::int64_t out_size = size_bytes(out.dtype);
  Nest kept;
  Nest reduced;
  for (int i = 0; i < in.shape.rank(); ++i) {
    const bool is_kept = in.shape[i] == out.shape[i];
    (is_kept ? kept : reduced).add(in.shape[i], {in.strides[i] * in_size, 0, is_kept ? out.strides[i] * out_size : 0});
  }
  const Reducing what{
      .function = op::computed_by(op.function), .in = in.dtype, .out = out.dtype, .alpha = op.alpha, .beta = op.beta};
  reduce_nests(what, {in.data, nullptr, out.data}, kept, reduced, here.team());
  return {};
}

}  // namespace troupe::host

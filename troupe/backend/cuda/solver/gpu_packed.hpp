// Matrices as cuSOLVER wants them: in the GPU's memory, in columns, without gaps, a whole batch one after another. Ops
// take their inputs into such batches and give their results out of them, so that views may have any strides and no
// input is ever written. Everything is put on the lane's stream.
#pragma once

#include <algorithm>
#include <limits>

#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/backend/cuda/memory/move_elements.hpp"
#include "troupe/backend/cuda/solver/solver_kernels.hpp"

namespace troupe::cuda {

/// Puts one of the kernels of solver_kernels.cu on the lane's stream; arguments of exactly the kernel's types.
template <class... Arguments>
Result<void> launch_solver_kernel(const LaneTools& on, SolverKernel kernel, KernelTypes types, std::int64_t count,
                                  Arguments... arguments) {
  if (count == 0) return {};
  std::array<void*, sizeof...(arguments)> all{&arguments...};
  return on.launch(TROUPE_TRY(on.kernel(kernel, types)), count, all);
}

template <class T>
class GpuPacked {
 public:
  static Result<GpuPacked> make(const LaneTools& on, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    TROUPE_TRY(check(batch, rows, columns));
    const auto bytes = static_cast<std::uint64_t>(batch * rows * columns) * sizeof(T);
    return GpuPacked(on, TROUPE_TRY(on.scratch(bytes)), batch, rows, columns);
  }
  /// A place for the result of a view of rank 3: the view's own memory, if it is laid out as packed matrices are. Then
  /// `give` has nothing to do.
  static Result<GpuPacked> make_for(const LaneTools& on, const op::View& view) {
    const op::View turned = by_columns(view);
    if (!on.is_on_gpu(view) || !is_contiguous(turned.shape, turned.strides))
      return make(on, view.shape[0], view.shape[1], view.shape[2]);
    TROUPE_TRY(check(view.shape[0], view.shape[1], view.shape[2]));
    GpuPacked made(on, StreamScratch(on.driver(), 0, on.stream()), view.shape[0], view.shape[1], view.shape[2]);
    made.data_ = on.at(view);
    return made;
  }
  /// With what is in a view of rank 3.
  static Result<GpuPacked> from(const LaneTools& on, const op::View& view) {
    GpuPacked made = TROUPE_TRY(make(on, view.shape[0], view.shape[1], view.shape[2]));
    TROUPE_TRY(made.take(view));
    return made;
  }

  const LaneTools& on() const noexcept { return *on_; }
  int batch() const noexcept { return static_cast<int>(batch_); }
  int rows() const noexcept { return static_cast<int>(rows_); }
  int columns() const noexcept { return static_cast<int>(columns_); }
  /// From one column to the next; cuSOLVER wants at least 1.
  int leading() const noexcept { return std::max(rows(), 1); }
  std::int64_t count() const noexcept { return batch_ * rows_ * columns_; }
  T* data() const noexcept { return reinterpret_cast<T*>(data_); }
  /// The first element of one matrix.
  T* at(std::int64_t which) const noexcept { return data() + which * rows_ * columns_; }

  /// Needs a view of rank 3 with no more rows and columns than this has: the first ones become what is in it.
  Result<void> take(const op::View& from) const { return move(by_columns(from), on_->at(from), like(from), data_); }
  /// The same the other way.
  Result<void> give(const op::View& to) const {
    if (data_ == on_->at(to)) return {};
    return move(like(to), data_, by_columns(to), on_->at(to));
  }
  /// The same for one triangle, the diagonal included, with zeros in the other.
  Result<void> take_triangle(bool lower, const op::View& from) const {
    if (from.strides[1] == 1) return keep_triangle(lower, columns_of(from), own_columns(), from, nullptr);
    TROUPE_TRY(take(from));
    return keep_triangle(lower, own_columns(), own_columns(), from, nullptr);
  }
  /// A matrix that failed becomes NaN: whoever reads it before it is tainted must notice.
  Result<void> give_triangle(bool lower, const op::View& to, const int* failed) const {
    if (to.strides[1] == 1) return keep_triangle(lower, own_columns(), columns_of(to), to, failed);
    TROUPE_TRY(keep_triangle(lower, own_columns(), own_columns(), to, failed));
    return give(to);
  }
  /// The same for whole matrices, of which there are few.
  Result<void> fail_matrices(const int* failed) const {
    return launch_solver_kernel(*on_, SolverKernel::fail_matrices, dtype_of<T>, rows_ * columns_, data(),
                                static_cast<long long>(rows_ * columns_), batch_ll(), failed);
  }
  /// Each matrix of one column to a vector of a view of rank 2, or a number to one of a view of rank 1.
  Result<void> give_vectors(const op::View& to) const {
    op::View packed = to;
    packed.strides = to.shape.rank() == 2 ? Strides{rows_, std::int64_t{1}} : Strides{1};
    return copy_elements(packed, data_, to, on_->at(to), *on_);
  }
  Result<void> take_vectors(const op::View& from) const {
    op::View packed = from;
    packed.strides = Strides{rows_, std::int64_t{1}};
    return copy_elements(from, on_->at(from), packed, data_, *on_);
  }
  Result<void> clear() const {
    if (count() == 0) return {};
    return TROUPE_CUDA(on_->driver(), cuMemsetD8Async, data_, static_cast<unsigned char>(0),
                       static_cast<std::size_t>(count()) * sizeof(T), on_->stream());
  }
  Result<void> make_identity() const {
    return launch_solver_kernel(*on_, SolverKernel::identity, dtype_of<T>, count(), data(), rows_ll(), columns_ll(),
                                batch_ll());
  }
  /// Writes `word` to the verdict of each matrix that has a NaN or an infinity in it. Of Hermitian ones the lower
  /// triangle is looked at, and the upper one made from it.
  Result<void> check_finite(bool hermitian, std::int32_t word, int* verdict) const {
    return launch_solver_kernel(*on_, SolverKernel::check_finite, dtype_of<T>, count(), data(), rows_ll(), columns_ll(),
                                batch_ll(), static_cast<int>(hermitian), static_cast<int>(word), verdict);
  }
  /// The same without changing anything, and not for matrices that failed before, or that `failed` knows of. With
  /// `lower` only that triangle is looked at.
  Result<void> find_not_finite(bool lower, std::int32_t word, int* verdict, const int* failed = nullptr) const {
    constexpr long long kRowsOfWarp = 512;  // as the kernel has it
    constexpr long long kWarp = 32;
    const long long rows = lower ? rows_ : rows_ * columns_;  // a matrix without gaps is as good as one column
    const long long columns = lower ? columns_ : 1;
    return launch_solver_kernel(*on_, SolverKernel::find_not_finite, dtype_of<T>,
                                count() == 0 ? 0 : batch_ * columns * ((rows + kRowsOfWarp - 1) / kRowsOfWarp) * kWarp,
                                static_cast<const T*>(data()), rows, columns, batch_ll(), static_cast<int>(lower),
                                static_cast<int>(word), failed, verdict);
  }
  Result<void> conjugate() const {
    if constexpr (detail::kIsComplex<T>)
      return launch_solver_kernel(*on_, SolverKernel::conjugate, dtype_of<T>, count(), data(),
                                  static_cast<long long>(count()));
    return {};
  }
  /// The address of each matrix, where the GPU can read it.
  Result<StreamScratch> addresses() const {
    StreamScratch list = TROUPE_TRY(on_->scratch(static_cast<std::uint64_t>(batch_) * sizeof(void*)));
    TROUPE_TRY(launch_solver_kernel(*on_, SolverKernel::addresses, {}, batch_, reinterpret_cast<char*>(data()),
                                    static_cast<long long>(rows_ * columns_ * static_cast<std::int64_t>(sizeof(T))),
                                    batch_ll(), list.template data<char*>()));
    return list;
  }

  long long rows_ll() const noexcept { return rows_; }
  long long columns_ll() const noexcept { return columns_; }
  long long batch_ll() const noexcept { return batch_; }

 private:
  GpuPacked(const LaneTools& on, StreamScratch memory, std::int64_t batch, std::int64_t rows, std::int64_t columns)
      : on_(&on), memory_(std::move(memory)), data_(memory_.address()), batch_(batch), rows_(rows), columns_(columns) {}

  static Result<void> check(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    if (std::max({batch, rows, columns}) <= std::numeric_limits<int>::max()) return {};
    return fail(ErrorKind::unsupported, "cuSOLVER counts rows, columns and matrices in 32 bits");
  }

  /// The order in which packed matrices are contiguous: [batch, column, row].
  static op::View by_columns(const op::View& view) {
    op::View turned = view;
    std::swap(turned.shape[1], turned.shape[2]);
    std::swap(turned.strides[1], turned.strides[2]);
    return turned;
  }
  /// As many of our elements as the view has.
  op::View like(const op::View& view) const {
    op::View packed = by_columns(view);
    packed.strides = Strides{rows_ * columns_, rows_, std::int64_t{1}};
    return packed;
  }

  Result<void> move(const op::View& in, CUdeviceptr in_at, const op::View& out, CUdeviceptr out_at) const {
    return copy_elements(in, in_at, out, out_at, *on_);
  }

  /// Columns without gaps in them.
  struct Columns {
    T* data;
    long long step;         // from one to the next
    long long matrix_step;  // from one matrix to the next
  };
  Columns columns_of(const op::View& view) const {
    return {on_->data<T>(view), static_cast<long long>(view.strides[2]), static_cast<long long>(view.strides[0])};
  }
  Columns own_columns() const { return {data(), rows_ll(), rows_ll() * columns_ll()}; }
  /// For as many rows and columns as the view has.
  Result<void> keep_triangle(bool lower, const Columns& in, const Columns& out, const op::View& view,
                             const int* failed) const {
    return launch_solver_kernel(*on_, SolverKernel::keep_triangle, dtype_of<T>, op::element_count(view),
                                static_cast<const T*>(in.data), in.step, in.matrix_step, out.data, out.step,
                                out.matrix_step, static_cast<long long>(view.shape[1]),
                                static_cast<long long>(view.shape[2]), batch_ll(), static_cast<int>(lower), failed);
  }

  const LaneTools* on_;
  StreamScratch memory_;
  CUdeviceptr data_;  // there, or in the vault
  std::int64_t batch_;
  std::int64_t rows_;
  std::int64_t columns_;
};

/// For each matrix one word of our own checks and one of the library, 0 at first; ours takes precedence for the caller.
class GpuVerdict {
 public:
  static Result<GpuVerdict> make(const LaneTools& on, std::int64_t batch) {
    StreamScratch words = TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(2 * batch + 1) * sizeof(int)));
    TROUPE_TRY(TROUPE_CUDA(on.driver(), cuMemsetD32Async, words.address(), 0U, static_cast<std::size_t>(2 * batch + 1),
                           on.stream()));
    return GpuVerdict(on, std::move(words), batch);
  }
  int* own_words(std::int64_t which = 0) const noexcept { return words_.data<int>() + which; }
  int* library_words(std::int64_t which = 0) const noexcept { return own_words(batch_ + which); }
  /// For functions whose `info` can only complain about arguments.
  int* ignored_word() const noexcept { return own_words(2 * batch_); }

  Result<void> give(const op::View& to) const { return give(on_->data<int>(to)); }
  /// Our own words become those that the caller will see.
  Result<void> join() const { return give(own_words()); }

 private:
  Result<void> give(int* to) const {
    return launch_solver_kernel(*on_, SolverKernel::give_verdict, {}, batch_, static_cast<const int*>(own_words()),
                                static_cast<const int*>(library_words()), static_cast<long long>(batch_), to);
  }

  GpuVerdict(const LaneTools& on, StreamScratch words, std::int64_t batch)
      : on_(&on), words_(std::move(words)), batch_(batch) {}

  const LaneTools* on_;
  StreamScratch words_;
  std::int64_t batch_;
};

}  // namespace troupe::cuda

// Matrices as cuSOLVER wants them: in scratch memory of the GPU, in columns, without gaps, a whole batch one after
// another. Ops take their inputs into such batches and give their results out of them, so that views may have any
// strides and no input is ever written. Everything is put on the lane's stream.
#pragma once

#include <algorithm>
#include <limits>

#include "troupe/backend/cuda/memory_ops.hpp"

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
    if (std::max({batch, rows, columns}) > std::numeric_limits<int>::max())
      return fail(ErrorKind::unsupported, "cuSOLVER counts rows, columns and matrices in 32 bits");
    const auto bytes = static_cast<std::uint64_t>(batch * rows * columns) * sizeof(T);
    return GpuPacked(on, TROUPE_TRY(on.scratch(bytes)), batch, rows, columns);
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
  T* data() const noexcept { return memory_.template data<T>(); }
  /// The first element of one matrix.
  T* at(std::int64_t which) const noexcept { return data() + which * rows_ * columns_; }

  /// Needs a view of rank 3 with no more rows and columns than this has: the first ones become what is in it.
  Result<void> take(const op::View& from) const {
    return copy_elements(by_columns(from), on_->at(from), like(from), memory_.address(), *on_);
  }
  /// The same the other way.
  Result<void> give(const op::View& to) const {
    return copy_elements(like(to), memory_.address(), by_columns(to), on_->at(to), *on_);
  }
  /// Each matrix of one column to a vector of a view of rank 2, or a number to one of a view of rank 1.
  Result<void> give_vectors(const op::View& to) const {
    op::View packed = to;
    packed.strides = to.shape.rank() == 2 ? Strides{rows_, std::int64_t{1}} : Strides{1};
    return copy_elements(packed, memory_.address(), to, on_->at(to), *on_);
  }
  Result<void> take_vectors(const op::View& from) const {
    op::View packed = from;
    packed.strides = Strides{rows_, std::int64_t{1}};
    return copy_elements(from, on_->at(from), packed, memory_.address(), *on_);
  }
  Result<void> clear() const {
    if (count() == 0) return {};
    return TROUPE_CUDA(on_->driver(), cuMemsetD8Async, memory_.address(), static_cast<unsigned char>(0),
                       static_cast<std::size_t>(count()) * sizeof(T), on_->stream());
  }
  Result<void> make_identity() const {
    return launch_solver_kernel(*on_, SolverKernel::identity, dtype_of<T>, count(), data(), rows_ll(), columns_ll(),
                                batch_ll());
  }
  Result<void> keep_triangle(bool lower, const int* failed) const {
    return launch_solver_kernel(*on_, SolverKernel::keep_triangle, dtype_of<T>, count(), data(), rows_ll(),
                                columns_ll(), batch_ll(), static_cast<int>(lower), failed);
  }
  /// Writes `word` to the verdict of each matrix that has a NaN or an infinity in it. Of Hermitian ones the lower
  /// triangle is looked at, and the upper one made from it.
  Result<void> check_finite(bool hermitian, std::int32_t word, int* verdict) const {
    return launch_solver_kernel(*on_, SolverKernel::check_finite, dtype_of<T>, count(), data(), rows_ll(), columns_ll(),
                                batch_ll(), static_cast<int>(hermitian), static_cast<int>(word), verdict);
  }
  Result<void> conjugate() const {
    if constexpr (kIsComplex<T>)
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
      : on_(&on), memory_(std::move(memory)), batch_(batch), rows_(rows), columns_(columns) {}

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

  const LaneTools* on_;
  StreamScratch memory_;
  std::int64_t batch_;
  std::int64_t rows_;
  std::int64_t columns_;
};

/// One word for each matrix from us and one from the library, 0 at first; the caller of the op sees ours before theirs.
class GpuVerdict {
 public:
  static Result<GpuVerdict> make(const LaneTools& on, std::int64_t batch) {
    StreamScratch words = TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(2 * batch + 1) * sizeof(int)));
    TROUPE_TRY(TROUPE_CUDA(on.driver(), cuMemsetD32Async, words.address(), 0U, static_cast<std::size_t>(2 * batch + 1),
                           on.stream()));
    return GpuVerdict(on, std::move(words), batch);
  }
  int* ours(std::int64_t which = 0) const noexcept { return words_.data<int>() + which; }
  int* theirs(std::int64_t which = 0) const noexcept { return ours(batch_ + which); }
  /// For functions that can only complain of their arguments.
  int* nobodys() const noexcept { return ours(2 * batch_); }

  Result<void> give(const op::View& to) const {
    return launch_solver_kernel(*on_, SolverKernel::give_verdict, {}, batch_, static_cast<const int*>(ours()),
                                static_cast<const int*>(theirs()), static_cast<long long>(batch_), on_->data<int>(to));
  }

 private:
  GpuVerdict(const LaneTools& on, StreamScratch words, std::int64_t batch)
      : on_(&on), words_(std::move(words)), batch_(batch) {}

  const LaneTools* on_;
  StreamScratch words_;
  std::int64_t batch_;
};

}  // namespace troupe::cuda

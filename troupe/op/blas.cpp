#include "troupe/op/blas.hpp"

namespace troupe::op {

std::uint64_t multiplications(const View& a, const View& c) noexcept {
  const int rank = c.shape.rank();
  if (a.shape.rank() != rank || rank < 1) return 0;
  // All of one type: of mixed signs, clang calls a function that only its own runtime library has.
  auto work = static_cast<std::uint64_t>(a.shape[rank - 1]);
  for (const std::int64_t extent : c.shape)
    if (__builtin_mul_overflow(work, static_cast<std::uint64_t>(extent), &work)) return ~std::uint64_t{0};
  return work;
}

std::uint64_t GemmGroup::work() const noexcept {
  std::uint64_t work = 0;
  for (std::size_t i = 0; i + 2 < matrices.size(); i += 3)
    if (__builtin_add_overflow(work, multiplications(matrices[i].view, matrices[i + 2].view), &work))
      return ~std::uint64_t{0};
  return work;
}

}  // namespace troupe::op

#include "bench/matrix/row.hpp"

#include <algorithm>

namespace troupe::bench::matrix {
namespace {

std::int64_t product(const std::vector<std::int64_t>& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

}  // namespace

std::vector<std::int64_t> Operand::view_shape() const {
  std::vector<std::int64_t> seen = shape;
  for (std::size_t i = 0; i < order.size(); ++i) seen[i] = shape[static_cast<std::size_t>(order[i])];
  if (slice) seen.back() = (slice->end - slice->begin + slice->step - 1) / slice->step;
  return seen;
}

std::int64_t Operand::view_bytes() const { return number ? 0 : product(view_shape()) * size_bytes(dtype); }

std::string Row::group() const { return op + "/" + std::string(name(dtype)) + "/" + layout; }

std::string Row::id() const { return group() + "/" + (is_extent ? std::to_string(size) : size_text(size)); }

std::int64_t Row::bytes() const {
  std::int64_t sum = output.view_bytes() * (updates ? 2 : 1);
  for (const Operand& input : inputs) sum += input.view_bytes();
  return sum;
}

std::int64_t Row::largest_bytes() const {
  std::int64_t largest = output.view_bytes();
  for (const Operand& input : inputs) largest = std::max(largest, input.view_bytes());
  return largest;
}

std::string name(Kind kind) {
  constexpr std::array kNames = {"fill", "copy",  "cast", "unary", "binary", "ternary", "reduce",    "permute",
                                 "gemm", "layer", "gemv", "dot",   "axpy",   "einsum",  "expression", "primitive"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return std::to_string(bytes) + kUnits[unit];
}

}  // namespace troupe::bench::matrix

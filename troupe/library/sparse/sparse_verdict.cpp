#include "troupe/library/sparse/sparse_verdict.hpp"

#include <string>

#include "troupe/op/sparse.hpp"
#include "troupe/op/sparse_finding.hpp"

namespace troupe::inline v0 {
namespace {

using op::Fault;

std::string number(std::span<const std::int32_t> words, std::size_t which) {
  const auto low = static_cast<std::uint32_t>(words[2 + 2 * which]);
  const auto high = static_cast<std::uint32_t>(words[3 + 2 * which]);
  return std::to_string(static_cast<std::int64_t>((std::uint64_t{high} << 32) | low));
}

/// What messages call the lines and their indices.
struct Nouns {
  std::string line;
  std::string index;
};
Nouns nouns_of(std::int32_t format) {
  switch (static_cast<SparseFormat>(format)) {
    case SparseFormat::csc: return {"column", "row"};
    case SparseFormat::bsr: return {"block row", "block column"};
    default: return {"row", "column"};
  }
}

std::string sentence(Fault fault, const Nouns& nouns, const std::string& line, const std::string& value,
                     const std::string& bound) {
  switch (fault) {
    case Fault::first_offset: return "the first offset is " + value + "; it must be 0";
    case Fault::line_falls: return "the offsets must not fall: " + nouns.line + " " + line + " ends before it begins";
    case Fault::line_leaves:
      return nouns.line + " " + line + " has the offset " + value + "; there are only " + bound + " indices";
    case Fault::last_offset: return "the last offset is " + value + "; it must be " + bound + ", the number of indices";
    case Fault::index_outside:
      return nouns.line + " " + line + " has " + nouns.index + " " + value + "; the matrix has " + bound + " " +
             nouns.index + "s";
    case Fault::index_unsorted:
      return nouns.line + " " + line + " has " + nouns.index + " " + value + " after an equal or larger one; the " +
             nouns.index + "s of a " + nouns.line + " must ascend";
    case Fault::row_outside: return "element " + line + " has row " + value + "; the matrix has " + bound + " rows";
    case Fault::column_outside:
      return "element " + line + " has column " + value + "; the matrix has " + bound + " columns";
    case Fault::element_unsorted:
      return "element " + line +
             " is not after the element before it; sort the elements by row, then by column, each place once";
    case Fault::no_diagonal: return "row " + line + " has no diagonal element";
    case Fault::zero_diagonal: return "the diagonal element of row " + line + " is zero";
    case Fault::other_nonzeros:
      return "row " + line + " of the dense matrix changed while its nonzeros were counted and copied";
    case Fault::zero_pivot:
      return "the pivot of row " + line + " is zero or not finite: this matrix has no such factors. Use jacobi or none";
    case Fault::pivot_not_positive:
      return "the pivot of row " + line +
             " is not positive: the matrix is not positive definite, or too far from what ic0 can factor. Use ilu0 or "
             "jacobi";
    case Fault::none: break;
  }
  return "the verdict " + std::to_string(static_cast<int>(fault)) + " has no meaning";
}

}  // namespace

Result<void> judge_sparse(std::span<const std::int32_t> words) {
  const auto fault = static_cast<Fault>(words[0]);
  if (fault == Fault::none) return {};
  const bool is_numerical = fault == Fault::no_diagonal || fault == Fault::zero_diagonal ||
                            fault == Fault::zero_pivot || fault == Fault::pivot_not_positive;
  return fail(is_numerical ? ErrorKind::numerical_error : ErrorKind::invalid_argument,
              sentence(fault, nouns_of(words[1]), number(words, 0), number(words, 1), number(words, 2)));
}

}  // namespace troupe::inline v0

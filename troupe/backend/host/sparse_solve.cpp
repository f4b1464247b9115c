// Triangular systems: rows one after another, each from those that are known.
#include "troupe/backend/host/sparse_host.hpp"
#include "troupe/backend/host/sparse_ops.hpp"

namespace troupe::host {
namespace {

/// A triangular system in terms of lines: those of CSC are rows of the transpose.
template <class T, class I>
struct System {
  sparse::Lines<I> lines;
  const T* values;
  bool transposes;  // the lines are to be read as columns
  bool conjugates;
  bool is_lower;  // of the lines
  bool is_unit;
  DenseView<T> x;

  T value(std::int64_t i) const { return conjugates ? sparse::conjugated(values[i]) : values[i]; }
  /// The elements of a line that are in the triangle, without the diagonal.
  std::int64_t begin(std::int64_t line) const {
    const std::int64_t from = lines.offsets[line];
    return is_lower ? from : sparse::first_not_below(lines.indices, from, lines.offsets[line + 1], line + 1);
  }
  std::int64_t end(std::int64_t line) const {
    const std::int64_t to = lines.offsets[line + 1];
    return is_lower ? sparse::first_not_below(lines.indices, lines.offsets[line], to, line) : to;
  }
  void divide(std::int64_t line) const {
    if (is_unit) return;
    const std::int64_t end = lines.offsets[line + 1];
    const T diagonal = value(sparse::first_not_below(lines.indices, lines.offsets[line], end, line));
    for (std::int64_t j = 0; j < x.columns; ++j) x.at(line, j) /= diagonal;
  }
  void subtract(std::int64_t from, std::int64_t to, T factor) const {
    for (std::int64_t j = 0; j < x.columns; ++j)
      x.at(to, j) = sparse::plus_product(x.at(to, j), -factor, x.at(from, j));
  }
  /// `x` holds the right-hand side and becomes the solution.
  void solve() const {
    const bool forwards = is_lower != transposes;
    for (std::int64_t step = 0; step < lines.count; ++step) {
      const std::int64_t line = forwards ? step : lines.count - 1 - step;
      if (transposes) divide(line);
      for (std::int64_t i = begin(line); i < end(line); ++i) {
        const std::int64_t other = lines.indices[i];
        subtract(transposes ? line : other, transposes ? other : line, value(i));
      }
      if (!transposes) divide(line);
    }
  }
};

template <class T, class I>
sparse::Finding check_diagonals(const sparse::Lines<I>& lines, const T* values) {
  for (std::int64_t line = 0; line < lines.count; ++line)
    if (const auto found = sparse::check_diagonal(lines, values, line); found.fault != sparse::Fault::none)
      return found;
  return {};
}

template <class T, class I>
Result<void> solve(const op::SparseSolve& op, const HostPlaces& here) {
  const auto compressed = TROUPE_TRY(CompressedLines<I>::make(op.matrix, here));
  const T* const values = here.data<T>(op.matrix.values);
  const bool is_unit = op::is_unit(op.triangle);
  const sparse::Finding found = is_unit ? sparse::Finding{} : check_diagonals(compressed.lines, values);
  sparse::write_verdict(found, 0, here.data<std::int32_t>(op.verdict));
  if (found.fault != sparse::Fault::none) return {};
  const DenseView<T> b(op.b, here);
  const DenseView<T> x(op.x, here);
  const T alpha = op.alpha.as<T>();
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) x.at(i, j) = sparse::plus_product(T{}, alpha, b.at(i, j));
  const bool by_columns = op.matrix.by_columns();
  System<T, I>{.lines = compressed.lines,
               .values = values,
               .transposes = op::transposes(op.turn) != by_columns,
               .conjugates = op::conjugates(op.turn),
               .is_lower = op::is_lower(op.triangle) != by_columns,
               .is_unit = is_unit,
               .x = x}
      .solve();
  return {};
}

}  // namespace

Result<void> run_op(const op::SparseSolve& op, const HostPlaces& here) {
  TROUPE_TRY(op::check(op));
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> { return solve<T, I>(op, here); });
}

}  // namespace troupe::host

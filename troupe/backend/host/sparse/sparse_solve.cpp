// Triangular systems: rows one after another, each from those that are known.
#include "troupe/backend/host/sparse/sparse_host.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

/// A triangular system in terms of lines: those of CSC are rows of the transpose.
template <class T, class I, bool is_lower, bool conjugates>
struct System {
  sparse::Lines<I> lines;
  const T* values;
  bool transposes;  // the lines are to be read as columns
  bool is_unit;
  T alpha;
  DenseView<T> b;
  DenseView<T> x;

  T value(std::int64_t i) const { return conjugates ? sparse::conjugated(values[i]) : values[i]; }
  T right_side(std::int64_t row, std::int64_t j) const { return sparse::plus_product(T{}, alpha, b.at(row, j)); }
  std::int64_t line_of(std::int64_t step) const {
    return is_lower != transposes ? step : lines.count - 1 - step;  // forwards, or backwards
  }

  /// The elements of a line that are in the triangle, without the diagonal.
  struct Part {
    std::int64_t begin;
    std::int64_t end;
    T diagonal;  // one if it is a unit triangle, zero if there is none
  };
  Part part_of(std::int64_t line) const {
    const std::int64_t begin = lines.offsets[line];
    const std::int64_t end = lines.offsets[line + 1];
    // Of a matrix that has nothing but this triangle, the diagonal ends a line, or begins it.
    std::int64_t place = is_lower ? end - 1 : begin;
    if (begin == end || lines.indices[place] != line) place = sparse::first_not_below(lines.indices, begin, end, line);
    const bool has_diagonal = place < end && lines.indices[place] == line;
    const T diagonal = is_unit ? T{1} : has_diagonal ? value(place) : T{};
    return is_lower ? Part{begin, place, diagonal} : Part{place + (has_diagonal ? 1 : 0), end, diagonal};
  }

  // All of these end early, with false, at a diagonal element that is zero.

  /// One column of x. `row_step` may be a constant.
  bool solve_column(std::int64_t j, auto row_step) const {
    T* const column = x.data + j * x.column_step;
    for (std::int64_t step = 0; step < lines.count; ++step) {
      const std::int64_t line = line_of(step);
      const Part part = part_of(line);
      if (part.diagonal == T{}) return false;
      T sum = right_side(line, j);
      for (std::int64_t i = part.begin; i < part.end; ++i)
        sum = sparse::plus_product(sum, -value(i), column[lines.indices[i] * row_step]);
      column[line * row_step] = sum / part.diagonal;
    }
    return true;
  }
  /// The same when lines are columns: what is known is taken from all that are to come.
  bool solve_column_transposed(std::int64_t j) const {
    for (std::int64_t row = 0; row < x.rows; ++row) x.at(row, j) = right_side(row, j);
    for (std::int64_t step = 0; step < lines.count; ++step) {
      const std::int64_t line = line_of(step);
      const Part part = part_of(line);
      if (part.diagonal == T{}) return false;
      const T known = x.at(line, j) / part.diagonal;
      x.at(line, j) = known;
      for (std::int64_t i = part.begin; i < part.end; ++i) {
        T& other = x.at(lines.indices[i], j);
        other = sparse::plus_product(other, -value(i), known);
      }
    }
    return true;
  }
  /// All columns at once, for those that lie side by side.
  bool solve_rows() const {
    for (std::int64_t row = 0; row < x.rows; ++row)
      for (std::int64_t j = 0; j < x.columns; ++j) x.at(row, j) = right_side(row, j);
    for (std::int64_t step = 0; step < lines.count; ++step) {
      const std::int64_t line = line_of(step);
      const Part part = part_of(line);
      if (part.diagonal == T{}) return false;
      const auto divide = [&] {
        for (std::int64_t j = 0; j < x.columns; ++j) x.at(line, j) /= part.diagonal;
      };
      if (transposes) divide();
      for (std::int64_t i = part.begin; i < part.end; ++i) {
        const std::int64_t other = lines.indices[i];
        add_product(x, transposes ? other : line, x, transposes ? line : other, -value(i));
      }
      if (!transposes) divide();
    }
    return true;
  }
  bool solve() const {
    if (lines.count == 0) return true;  // there may be no memory
    if (x.columns > 1 && x.column_step == 1) return solve_rows();
    constexpr std::integral_constant<std::int64_t, 1> kDense;
    for (std::int64_t j = 0; j < x.columns; ++j) {
      const bool is_solved = transposes        ? solve_column_transposed(j)
                             : x.row_step == 1 ? solve_column(j, kDense)
                                               : solve_column(j, x.row_step);
      if (!is_solved) return false;
    }
    return true;
  }
};

template <class T, class I>
sparse::Finding check_diagonals(const sparse::Lines<I>& lines, const T* values) {
  for (std::int64_t line = 0; line < lines.count; ++line)
    if (const auto found = sparse::check_diagonal(lines, values, line); found.fault != sparse::Fault::none)
      return found;
  return {};
}

template <class T, class I, bool is_lower, bool conjugates>
Result<void> solve(const op::SparseSolve& op, const HostViews& here) {
  const auto compressed = TROUPE_TRY((CompressedLines<T, I>::make(op.matrix, here)));
  const DenseView<T> x(op.x, here);
  const bool is_unit = op::is_unit(op.triangle);
  const System<T, I, is_lower, conjugates> system{.lines = compressed.lines,
                                                  .values = compressed.values,
                                                  .transposes = op::transposes(op.transform) != op.matrix.by_columns(),
                                                  .is_unit = is_unit,
                                                  .alpha = op.alpha.as<T>(),
                                                  .b = DenseView<T>(op.b, here),
                                                  .x = x};
  // Whoever goes backwards meets the last row without a diagonal element first, and the verdict names the first one.
  // Without right-hand sides there is none to meet.
  const bool is_whole = x.columns > 0 ? system.solve() : is_unit;
  const sparse::Finding found = is_whole ? sparse::Finding{} : check_diagonals(compressed.lines, compressed.values);
  sparse::write_verdict(found, 0, here.data<std::int32_t>(op.verdict));
  return {};
}

}  // namespace

Result<void> run_op(const op::SparseSolve& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    const bool is_lower = op::is_lower(op.triangle) != op.matrix.by_columns();  // of the lines
    if (op::conjugates(op.transform))
      return is_lower ? solve<T, I, true, true>(op, here) : solve<T, I, false, true>(op, here);
    return is_lower ? solve<T, I, true, false>(op, here) : solve<T, I, false, false>(op, here);
  });
}

}  // namespace troupe::host

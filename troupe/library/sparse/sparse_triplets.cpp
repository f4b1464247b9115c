// Between sparse matrices and elements in ordinary memory.
#include <algorithm>
#include <limits>
#include <numeric>

#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/sparse/sparse.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::inline v0 {
namespace {

Result<void> check_extents(std::int64_t rows, std::int64_t columns, DType index_type) {
  if (index_type != DType::i32 && index_type != DType::i64)
    return op::refuse_unsupported("from_triplets",
                                  "index_type is " + std::string(name(index_type)) + "; it must be i32 or i64");
  const std::int64_t most = index_type == DType::i32 ? std::numeric_limits<std::int32_t>::max()
                                                     : std::numeric_limits<std::int64_t>::max() / 2;
  if (rows >= 0 && columns >= 0 && rows <= most && columns <= most) return {};
  return op::refuse("from_triplets", "the matrix is " + std::to_string(rows) + " x " + std::to_string(columns) +
                                         "; with " + std::string(name(index_type)) + " indices it must have 0 to " +
                                         std::to_string(most) + " rows and columns");
}

template <class T>
bool comes_before(const Triplet<T>& a, const Triplet<T>& b) noexcept {
  return a.row != b.row ? a.row < b.row : a.column < b.column;
}

/// Sorted by row and column, with one element for each place.
template <class T>
Result<Triplets<T>> sorted(std::int64_t rows, std::int64_t columns, std::span<const Triplet<T>> elements) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Triplet<T>& element = elements[i];
    if (element.row < 0 || element.row >= rows || element.column < 0 || element.column >= columns)
      return op::refuse("from_triplets", "element " + std::to_string(i) + " is at (" + std::to_string(element.row) +
                                             ", " + std::to_string(element.column) + "), outside the matrix of " +
                                             std::to_string(rows) + " x " + std::to_string(columns));
  }
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Elements of one place stay in their order, so that their sum is the same every time.
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return comes_before(elements[a], elements[b]) || (!comes_before(elements[b], elements[a]) && a < b);
  });
  Triplets<T> made{rows, columns, {}};
  made.elements.reserve(elements.size());
  for (const std::size_t i : order)
    if (!made.elements.empty() && !comes_before(made.elements.back(), elements[i]))
      made.elements.back().value += elements[i].value;
    else
      made.elements.push_back(elements[i]);
  return made;
}

template <class T>
Result<Array<T>> send(const Device& device, const std::vector<T>& elements) {
  Array<T> array = TROUPE_TRY(device.array<T>({static_cast<std::int64_t>(elements.size())}));
  if (!elements.empty()) TROUPE_TRY(device.write(array, elements).submit());
  return array;
}

}  // namespace

template <class T, class I>
Result<SparseMatrix> Sparse::upload(const Triplets<T>& sorted) const {
  std::vector<I> offsets(static_cast<std::size_t>(sorted.rows) + 1, I{0});
  std::vector<I> indices;
  std::vector<T> values;
  indices.reserve(sorted.elements.size());
  values.reserve(sorted.elements.size());
  for (const Triplet<T>& element : sorted.elements) {
    ++offsets[static_cast<std::size_t>(element.row) + 1];
    indices.push_back(static_cast<I>(element.column));
    values.push_back(element.value);
  }
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] = static_cast<I>(offsets[row] + offsets[row - 1]);
  SparseMatrix matrix;
  matrix.rows_ = sorted.rows;
  matrix.columns_ = sorted.columns;
  matrix.offsets_ = TROUPE_TRY(send(device_, offsets));
  matrix.indices_ = TROUPE_TRY(send(device_, indices));
  matrix.values_ = TROUPE_TRY(send(device_, values));
  return matrix;
}

template <class T>
Result<SparseMatrix> Sparse::from_triplets(std::int64_t rows, std::int64_t columns,
                                           std::span<const Triplet<T>> elements, DType index_type) const {
  TROUPE_TRY(check_extents(rows, columns, index_type));
  if (index_type == DType::i32 && elements.size() > std::numeric_limits<std::int32_t>::max())
    return op::refuse("from_triplets", "there are " + std::to_string(elements.size()) +
                                           " elements; i32 indices can count 2147483647: use i64 indices");
  const Triplets<T> in_order = TROUPE_TRY(sorted(rows, columns, elements));
  return index_type == DType::i32 ? upload<T, std::int32_t>(in_order) : upload<T, std::int64_t>(in_order);
}

template <class T, class I>
Task<Result<Triplets<T>>> Sparse::read_coo(Device device, SparseMatrix coo) {
  const Array<I> rows_there = CO_TRY(coo.offsets_.as<I>());
  const Array<I> columns_there = CO_TRY(coo.indices_.as<I>());
  const Array<T> values_there = CO_TRY(coo.values_.as<T>());
  const HostArray<I> rows = CO_TRY(co_await device.read(rows_there));
  const HostArray<I> columns = CO_TRY(co_await device.read(columns_there));
  const HostArray<T> values = CO_TRY(co_await device.read(values_there));
  Triplets<T> triplets{coo.rows(), coo.columns(), {}};
  triplets.elements.reserve(static_cast<std::size_t>(values.size()));
  for (std::int64_t i = 0; i < values.size(); ++i) triplets.elements.push_back({rows[i], columns[i], values[i]});
  co_return triplets;
}

template <class T>
Task<Result<Triplets<T>>> Sparse::triplets_on(Device device, SparseMatrix matrix) {
  const SparseMatrix coo = CO_TRY(co_await convert_on(device, matrix, SparseFormat::coo, 1));
  if (coo.index_type() == DType::i32) co_return co_await read_coo<T, std::int32_t>(device, coo);
  co_return co_await read_coo<T, std::int64_t>(device, coo);
}

template <class T>
detail::TaskCall<Triplets<T>> Sparse::triplets(const SparseMatrix& matrix) const {
  return {DeviceParts::state(device_), triplets_on<T>(device_, matrix)};
}

template <class T>
Task<Result<void>> Sparse::save_on(Device device, SparseMatrix matrix, std::string path) {
  const Triplets<T> elements = CO_TRY(co_await triplets_on<T>(device, matrix));
  co_return write_matrix_market(path, elements);
}

detail::TaskCall<void> Sparse::save(const SparseMatrix& matrix, const std::string& path) const {
  const auto save_as = [&]<class T>(std::type_identity<T>) -> detail::TaskCall<void> {
    return {DeviceParts::state(device_), save_on<T>(device_, matrix, path)};
  };
  switch (matrix.dtype()) {
    case DType::f64: return save_as(std::type_identity<double>());
    case DType::c64: return save_as(std::type_identity<std::complex<float>>());
    case DType::c128: return save_as(std::type_identity<std::complex<double>>());
    default: return save_as(std::type_identity<float>());
  }
}

#define TROUPE_SPARSE_TRIPLETS(T)                                                                                     \
  template Result<SparseMatrix> Sparse::from_triplets(std::int64_t, std::int64_t, std::span<const Triplet<T>>, DType) \
      const;                                                                                                          \
  template detail::TaskCall<Triplets<T>> Sparse::triplets(const SparseMatrix&) const;
TROUPE_SPARSE_TRIPLETS(float)
TROUPE_SPARSE_TRIPLETS(double)
TROUPE_SPARSE_TRIPLETS(std::complex<float>)
TROUPE_SPARSE_TRIPLETS(std::complex<double>)
#undef TROUPE_SPARSE_TRIPLETS

}  // namespace troupe::inline v0

// The epilogue of a product in a pass of its own, for the types and layouts for which cuBLASLt has none: the same
// formulas as on the host.
#include "troupe/backend/cuda/kernels/device_math.cuh"
#include "troupe/backend/cuda/matmul/matmul_arguments.hpp"
#include "troupe/core/activation.hpp"

namespace troupe::cuda {
namespace {

/// Calls `f` with the C++ type of a floating-point dtype.
template <class F>
__device__ void visit_float(int dtype, F&& f) {
  switch (static_cast<DType>(dtype)) {
    case DType::f64: return f(std::type_identity<double>{});
    case DType::f16: return f(std::type_identity<f16>{});
    case DType::bf16: return f(std::type_identity<bf16>{});
    case DType::f8e4m3: return f(std::type_identity<f8e4m3>{});
    case DType::f8e5m2: return f(std::type_identity<f8e5m2>{});
    default: return f(std::type_identity<float>{});
  }
}
template <class W>
__device__ W read(const TypedMatrix& m, long long row, long long column) {
  W number{};
  visit_float(m.dtype, [&]<class T>(std::type_identity<T>) {
    number =
        convert<W>(static_cast<const T*>(m.matrix.data)[row * m.matrix.row_stride + column * m.matrix.column_stride]);
  });
  return number;
}
template <class W>
__device__ void write(const TypedMatrix& m, long long row, long long column, W number) {
  visit_float(m.dtype, [&]<class T>(std::type_identity<T>) {
    static_cast<T*>(m.matrix.data)[row * m.matrix.row_stride + column * m.matrix.column_stride] = convert<T>(number);
  });
}

template <class W>
__device__ void epilogue(const EpilogueArguments& e) {
  for (long long i = first_index(); i < e.rows * e.columns; i += index_step()) {
    const long long row = i / e.columns;
    const long long column = i - row * e.columns;
    W number = static_cast<const W*>(e.sums)[i];
    if (e.is_gradient) {
      const W before = e.pre.matrix.data ? read<W>(e.pre, row, column) : W(0);
      if (e.activation == 1) number *= relu_slope(before);
      if (e.activation == 2) number *= gelu_tanh_slope(before);
    } else {
      if (e.c.matrix.data) number += static_cast<W>(e.beta) * read<W>(e.c, row, column);
      if (e.bias.matrix.data) number += read<W>(e.bias, row, column);
      if (e.pre.matrix.data) write(e.pre, row, column, number);
      if (e.activation == 1) number = relu(number);
      if (e.activation == 2) number = gelu_tanh(number);
      number *= static_cast<W>(e.scale_d);
    }
    write(e.d, row, column, number);
  }
}

/// relu, where the numbers lie.
template <class W>
__device__ void relu_in_place(const ReluArguments& r) {
  for (long long i = first_index(); i < r.rows * r.columns; i += index_step()) {
    const long long row = r.rows == 1 ? 0 : i / r.columns;
    const long long column = i - row * r.columns;
    if (read<W>(r.d, row, column) < W(0)) write(r.d, row, column, W(0));
  }
}

/// A thread for each column, which goes down it: always in the same order.
template <class W>
__device__ void sum_columns(const ColumnSums& s) {
  for (long long column = first_index(); column < s.columns; column += index_step()) {
    W sum = 0;
    for (long long row = 0; row < s.rows; ++row) sum += read<W>(s.in, row, column);
    write(s.out, 0, column, sum);
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

extern "C" __global__ void troupe_epilogue_f32(EpilogueArguments arguments) { epilogue<float>(arguments); }
extern "C" __global__ void troupe_epilogue_f64(EpilogueArguments arguments) { epilogue<double>(arguments); }
extern "C" __global__ void troupe_relu_in_place_f32(ReluArguments arguments) { relu_in_place<float>(arguments); }
extern "C" __global__ void troupe_relu_in_place_f64(ReluArguments arguments) { relu_in_place<double>(arguments); }
extern "C" __global__ void troupe_sum_columns_f32(ColumnSums arguments) { sum_columns<float>(arguments); }
extern "C" __global__ void troupe_sum_columns_f64(ColumnSums arguments) { sum_columns<double>(arguments); }
extern "C" __global__ void troupe_put_f32(float number, float* out) { *out = number; }

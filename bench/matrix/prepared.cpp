#include "bench/matrix/prepared.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "bench/matrix/operands.hpp"
#include "troupe/core/enum_names.hpp"

namespace troupe::bench::matrix {
namespace {

/// The op that `make()` gives a call of.
template <class Make>
Prepared prepared(Make make) {
  return [make = std::move(make)](bool is_last) -> Result<void> {
    auto call = make();
    if (!is_last) return std::move(call).submit();
    auto end = std::move(call).get();
    if (!end) return fail(std::move(end).error());
    return {};
  };
}

template <class E>
Result<E> parse(const std::string& text) {
  const auto& names = enum_names<E>();
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return fail(ErrorKind::invalid_argument, "there is no op " + text);
  return static_cast<E>(found - names.begin());
}

detail::Axes axes_of(const std::vector<int>& axes) {
  switch (axes.size()) {
    case 1: return {axes[0]};
    case 2: return {axes[0], axes[1]};
    case 3: return {axes[0], axes[1], axes[2]};
    default: return {axes[0], axes[1], axes[2], axes[3]};
  }
}

/// What a row's op is done to. The arrays live as long as the op that was prepared.
struct Arrays {
  std::vector<Given> in;
  AnyArray out;
};

Result<Prepared> prepare_elementwise(const Tensor& tensor, const Row& row, Arrays arrays) {
  if (row.kind == Kind::unary) {
    const Unary function = TROUPE_TRY(parse<Unary>(row.op));
    return prepared([=] { return tensor.unary(function, arrays.in[0].array, arrays.out); });
  }
  if (row.kind == Kind::binary) {
    const Binary function = TROUPE_TRY(parse<Binary>(row.op));
    return prepared(
        [=] { return tensor.binary(function, arrays.in[0].operand(), arrays.in[1].operand(), arrays.out); });
  }
  const Ternary function = TROUPE_TRY(parse<Ternary>(row.op));
  return prepared([=] {
    return tensor.ternary(function, arrays.in[0].operand(), arrays.in[1].operand(), arrays.in[2].operand(), arrays.out);
  });
}

/// What tools/torch_ops.py does under the same names.
Result<Prepared> prepare_expression(const Tensor& tensor, const Row& row, const Arrays& arrays) {
  const AnyArray &x = arrays.in[0].array, &b = arrays.in[1].array;
  if (row.op == "sum_of_squares")
    return prepared([=, axes = axes_of(row.axes)] {
      return tensor.reduce(Reduction::sum, square(arrays.in[0].array - arrays.in[1].array), axes, arrays.out);
    });
  const auto made = [&]() -> std::optional<Expression> {
    if (row.op == "one_step") return x + b;
    if (row.op == "five_steps") return tanh(0.5 * x + b) * x - b;
    if (row.op == "five_short_steps") return (max(0.5 * x + b, 0) * x) - b;
    return std::nullopt;
  }();
  if (!made) return fail(ErrorKind::invalid_argument, "there is no expression " + row.op);
  return prepared([=] { return tensor.evaluate(*made, arrays.out); });
}

Result<Prepared> prepare_dot(const Blas& blas, const Arrays& arrays) {
  const auto of_type = [&]<Element T>() -> Result<Prepared> {
    const Array<T> x = TROUPE_TRY(arrays.in[0].array.as<T>());
    const Array<T> y = TROUPE_TRY(arrays.in[1].array.as<T>());
    return prepared([=] { return blas.dot(x, y); });
  };
  return arrays.out.dtype() == DType::f64 ? of_type.template operator()<double>()
                                          : of_type.template operator()<float>();
}

Prepared prepare_layer(const Matmul& matmul, const Arrays& arrays) {
  return prepared([=] {
    return matmul.multiply(arrays.in[0].array, arrays.in[1].array, arrays.out,
                           {.activation = Activation::relu, .bias = &arrays.in[2].array});
  });
}

/// PyTorch's `sort` also gives where the elements were, as its `topk` does; ours does as much when it is asked to.
Result<Prepared> prepare_primitive(const Device& device, const Row& row, const Arrays& arrays) {
  const Primitives primitives = device.primitives();
  const AnyArray &x = arrays.in[0].array, &y = arrays.out;
  if (row.op == "cumsum") return prepared([=] { return primitives.scan(Combine::sum, x, y); });
  if (row.op == "take") return prepared([=, at = arrays.in[1].array] { return primitives.gather(x, at, y); });
  if (row.op == "sort") return prepared([=] { return primitives.sort(x, y); });
  const Array<std::int64_t> indices = TROUPE_TRY(device.array<std::int64_t>(y.shape()));
  if (row.op == "argsort") return prepared([=] { return primitives.argsort(x, indices); });
  if (row.op == "topk") return prepared([=] { return primitives.top_k(x, y, indices); });
  return fail(ErrorKind::invalid_argument, "there is no primitive " + row.op);
}

Result<Prepared> prepare_with(const Device& device, const Row& row, Arrays arrays) {
  const Tensor tensor = device.tensor();
  const Blas blas = device.blas();
  switch (row.kind) {
    case Kind::fill: return prepared([=] { return device.fill(arrays.out, 1.0F); });
    case Kind::copy: return prepared([=] { return device.copy(arrays.in[0].array, arrays.out); });
    case Kind::cast: return prepared([=] { return device.cast(arrays.in[0].array, arrays.out); });
    case Kind::unary:
    case Kind::binary:
    case Kind::ternary: return prepare_elementwise(tensor, row, std::move(arrays));
    case Kind::reduce: {
      const Reduction function = TROUPE_TRY(parse<Reduction>(row.op));
      return prepared(
          [=, axes = axes_of(row.axes)] { return tensor.reduce(function, arrays.in[0].array, axes, arrays.out); });
    }
    case Kind::permute:
      return prepared([=, order = axes_of(row.axes)] { return tensor.permute(arrays.in[0].array, order, arrays.out); });
    case Kind::gemm: return prepared([=] { return blas.gemm(arrays.in[0].array, arrays.in[1].array, arrays.out); });
    case Kind::layer: return prepare_layer(device.matmul(), arrays);
    case Kind::gemv: return prepared([=] { return blas.gemv(arrays.in[0].array, arrays.in[1].array, arrays.out); });
    case Kind::dot: return prepare_dot(blas, arrays);
    case Kind::axpy: return prepared([=] { return blas.axpy(1.5, arrays.in[0].array, arrays.out); });
    case Kind::einsum:
      return prepared(
          [=, text = row.text] { return tensor.einsum(text, arrays.in[0].array, arrays.in[1].array, arrays.out); });
    case Kind::expression: return prepare_expression(tensor, row, arrays);
    case Kind::primitive: return prepare_primitive(device, row, arrays);
  }
  return fail(ErrorKind::invalid_argument, "there is no kind of " + row.id());
}

}  // namespace

Result<Prepared> prepare(const Device& device, const Row& row) {
  Arrays arrays;
  for (const Operand& input : row.inputs) arrays.in.push_back(TROUPE_TRY(make(device, input, arrays.in.size() + 1)));
  arrays.out = TROUPE_TRY(make(device, row.output, 0)).array;
  return prepare_with(device, row, std::move(arrays));
}

}  // namespace troupe::bench::matrix

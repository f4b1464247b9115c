// The ops on elements: scal, rot and swap, dot, norms and sums, where the largest is, geam. Arrays are walked row by
// row (a contiguous one is a single row) by the team, and each row goes to BLAS if it can.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "troupe/backend/host/blas/blas_ops.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/matrix.hpp"
#include "troupe/backend/host/kernels/walk.hpp"

namespace troupe::host {
namespace {

/// Bytes between neighbours as BLAS counts them; none when it cannot. (Its negative ones begin at the other end.)
template <class T>
std::optional<int> increment(std::int64_t step, std::int64_t count) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  if (count == 1) return 1;
  if (count > kMostInt || step < kSize || step / kSize > kMostInt) return std::nullopt;
  return static_cast<int>(step / kSize);
}

template <class T>
T* at_type(std::byte* data) noexcept {
  return reinterpret_cast<T*>(data);
}

template <class T>
T times(T a, T b) noexcept {
  if constexpr (detail::kIsComplex<T>)  // without the detour for infinities that `operator*` takes
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else
    return a * b;
}
template <class T>
T conjugated_if(bool conjugates, T number) noexcept {
  if constexpr (detail::kIsComplex<T>)
    return conjugates ? std::conj(number) : number;
  else
    return number;
}
/// As BLAS measures it.
template <class T>
detail::RealType<T> magnitude(T number) noexcept {
  if constexpr (detail::kIsComplex<T>)
    return std::abs(number.real()) + std::abs(number.imag());
  else
    return std::abs(number);
}

/// BLAS is given so many elements at a time: OpenBLAS sums longer vectors by threads of its own, and the bits of the
/// sum then depend on how many it has.
constexpr std::int64_t kMostSummed = 8192;

/// What sums over rows are kept in.
template <class T>
using Wide = std::conditional_t<detail::kIsComplex<T>, std::complex<double>, double>;

template <class T>
Wide<T> dot_piece(const BlasLibrary* blas, bool conjugates, const Pointers<2>& at, const Steps<2>& step,
                  std::int64_t count) noexcept {
  const std::optional<int> x_by = increment<T>(step[0], count);
  const std::optional<int> y_by = increment<T>(step[1], count);
  if (blas && x_by && y_by) {
    const auto n = static_cast<int>(count);
    const Cblas<T>& functions = blas->of<T>();
    if constexpr (detail::kIsComplex<T>) {
      T sum{};
      (conjugates ? functions.dotc_sub : functions.dotu_sub)(n, at_type<T>(at[0]), *x_by, at_type<T>(at[1]), *y_by,
                                                             &sum);
      return Wide<T>(sum);
    } else {
      return functions.dot(n, at_type<T>(at[0]), *x_by, at_type<T>(at[1]), *y_by);
    }
  }
  Wide<T> sum{};
  const std::byte* x = at[0];
  const std::byte* y = at[1];
  for (; count > 0; --count, x += step[0], y += step[1])
    sum += times(Wide<T>(conjugated_if(conjugates, load<T>(x))), Wide<T>(load<T>(y)));
  return sum;
}

/// The square root of a sum of squares, whose squares need not fit the type.
template <class T>
double nrm2_piece(const BlasLibrary* blas, std::byte* x, std::int64_t step, std::int64_t count) noexcept {
  if (const std::optional<int> by = increment<T>(step, count); blas && by)
    return blas->of<T>().nrm2(static_cast<int>(count), at_type<T>(x), *by);
  double largest = 0;
  double squares = 1;  // in units of the largest, squared
  const auto add = [&](double number) {
    if (number == 0) return;
    if (number > largest) {
      squares = 1 + squares * (largest / number) * (largest / number);
      largest = number;
    } else {
      squares += (number / largest) * (number / largest);
    }
  };
  for (; count > 0; --count, x += step) {
    const T element = load<T>(x);
    if constexpr (detail::kIsComplex<T>) {
      add(std::abs(double{element.real()}));
      add(std::abs(double{element.imag()}));
    } else {
      add(std::abs(double{element}));
    }
  }
  return largest * std::sqrt(largest == 0 ? 0 : squares);
}

template <class T>
double asum_piece(const BlasLibrary* blas, std::byte* x, std::int64_t step, std::int64_t count) noexcept {
  if (const std::optional<int> by = increment<T>(step, count); blas && by)
    return blas->of<T>().asum(static_cast<int>(count), at_type<T>(x), *by);
  double sum = 0;
  for (; count > 0; --count, x += step) sum += magnitude(load<T>(x));
  return sum;
}

/// The sum, or what `join` makes, of `map` over all pieces of the views.
template <class T, std::size_t n, class Sum, class Map, class Join>
Sum reduce_pieces(const std::array<const HostView*, n>& views, Team& team, Sum nothing, const Map& map,
                  const Join& join) noexcept {
  const auto map_row = [&](const Pointers<n>& at, const Steps<n>& step, std::int64_t count) noexcept {
    Sum sum = nothing;
    for (std::int64_t done = 0; done < count; done += kMostSummed) {
      Pointers<n> piece = at;
      for (std::size_t v = 0; v < n; ++v) piece[v] += done * step[v];
      sum = join(sum, map(piece, step, std::min(kMostSummed, count - done)));
    }
    return sum;
  };
  return Walk<n>(views).reduce(team, Grain::of_bytes(n * sizeof(T)), nothing, map_row, join);
}

/// In row-major order, whatever the strides are: indices are what is asked for.
template <class T>
std::int64_t place_of_extreme(const BlasLibrary* blas, const HostView& x, bool largest) {
  std::int64_t count = 1;
  for (const std::int64_t extent : x.shape) count *= extent;
  if (x.shape.rank() == 1 || is_contiguous(x.shape, x.strides)) {
    const std::int64_t step = (x.shape.rank() == 1 ? x.strides[0] : 1) * static_cast<std::int64_t>(sizeof(T));
    auto* const function = !blas ? nullptr : largest ? blas->of<T>().iamax : blas->of<T>().iamin;
    if (const std::optional<int> by = increment<T>(step, count); function && by) {
      const auto found = static_cast<std::int64_t>(function(static_cast<int>(count), at_type<T>(x.data), *by));
      const auto size_at = [&](std::int64_t i) { return magnitude(load<T>(x.data + i * step)); };
      for (std::int64_t i = 0; i < found; ++i)  // of several that are equal, it gives any
        if (size_at(i) == size_at(found)) return i;
      return found;
    }
  }
  std::int64_t best = 0;
  detail::RealType<T> found{};
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = 0;
    std::int64_t rest = i;
    for (int d = x.shape.rank() - 1; d >= 0; --d) {
      offset += rest % x.shape[d] * x.strides[d];
      rest /= x.shape[d];
    }
    const detail::RealType<T> here = magnitude(load<T>(x.data + offset * static_cast<std::int64_t>(sizeof(T))));
    if (i > 0 && !(largest ? here > found : here < found)) continue;
    best = i;
    found = here;
  }
  return best;
}

Result<void> check_one(const HostView& out, DType dtype) {
  TROUPE_TRY(check(out));
  if (out.dtype == dtype && out.data) return {};
  return fail(ErrorKind::invalid_argument, "a result goes into one element of " + std::string(name(dtype)));
}

}  // namespace

Result<void> run_op(const op::Scal& op, const HostViews& here) {
  const HostView x = here(op.x);
  TROUPE_TRY(check(x));
  return visit_four("scal", x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const BlasLibrary* const blas = open_blas();
    const auto alpha = op.alpha.as<T>();
    walk<1>({&x}, here.team(), [&](const Pointers<1>& at, const Steps<1>& step, std::int64_t count) noexcept {
      const std::optional<int> by = increment<T>(step[0], count);
      if (blas && by && alpha != T{})  // it clears what has a factor of 0, and with it a NaN
        return blas->of<T>().scal(static_cast<int>(count), BlasLibrary::factor(alpha), at_type<T>(at[0]), *by);
      std::byte* element = at[0];
      for (; count > 0; --count, element += step[0]) store(element, times(alpha, load<T>(element)));
    });
    return {};
  });
}

Result<void> run_op(const op::Rot& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  TROUPE_TRY(check_same_shape(x, y));
  TROUPE_TRY(check_same_dtype(x, y));
  return visit_four(op.swaps ? "swap" : "rot", x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const BlasLibrary* const blas = open_blas();
    const auto cosine = T(op.cosine.as<detail::RealType<T>>());
    const auto sine = op.sine.as<T>();
    walk<2>({&x, &y}, [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) {
      const std::optional<int> x_by = increment<T>(step[0], count);
      const std::optional<int> y_by = increment<T>(step[1], count);
      if (op.swaps && blas && x_by && y_by)
        return blas->of<T>().swap(static_cast<int>(count), at_type<T>(at[0]), *x_by, at_type<T>(at[1]), *y_by);
      std::byte* from_x = at[0];
      std::byte* from_y = at[1];
      for (; count > 0; --count, from_x += step[0], from_y += step[1]) {
        const T a = load<T>(from_x);
        const T b = load<T>(from_y);
        store(from_x, op.swaps ? b : times(cosine, a) + times(sine, b));
        store(from_y, op.swaps ? a : times(cosine, b) - times(conjugated_if(true, sine), a));
      }
    });
    return {};
  });
}

Result<void> run_op(const op::Dot& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  const HostView out = here(op.out);
  TROUPE_TRY(check_same_shape(x, y));
  TROUPE_TRY(check_same_dtype(x, y));
  TROUPE_TRY(check_one(out, x.dtype));
  return visit_four("dot", x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const BlasLibrary* const blas = open_blas();
    const auto dot = [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept {
      return dot_piece<T>(blas, op.conjugates, at, step, count);
    };
    store(out.data, static_cast<T>(reduce_pieces<T, 2>({&x, &y}, here.team(), Wide<T>{}, dot, std::plus<>())));
    return {};
  });
}

Result<void> run_op(const op::Measure& op, const HostViews& here) {
  using What = op::Measure::What;
  const HostView x = here(op.x);
  const HostView out = here(op.out);
  TROUPE_TRY(check(x));
  return visit_four("a measure", x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const BlasLibrary* const blas = open_blas();
    if (op.what == What::iamax || op.what == What::iamin) {
      TROUPE_TRY(check_one(out, DType::i64));
      if (!x.data) return fail(ErrorKind::invalid_argument, "there is no largest or smallest of no elements");
      store(out.data, place_of_extreme<T>(blas, x, op.what == What::iamax));
      return {};
    }
    TROUPE_TRY(check_one(out, dtype_of<detail::RealType<T>>));
    const bool is_norm = op.what == What::nrm2;
    const auto measure = [&](const Pointers<1>& at, const Steps<1>& step, std::int64_t count) noexcept {
      return is_norm ? nrm2_piece<T>(blas, at[0], step[0], count) : asum_piece<T>(blas, at[0], step[0], count);
    };
    const auto join = [is_norm](double a, double b) noexcept { return is_norm ? std::hypot(a, b) : a + b; };
    store(out.data, static_cast<detail::RealType<T>>(reduce_pieces<T, 1>({&x}, here.team(), 0.0, measure, join)));
    return {};
  });
}

Result<void> run_op(const op::Geam& op, const HostViews& here) {
  const HostView a = here(op.a);
  const HostView b = here(op.b);
  const HostView c = here(op.c);
  for (const HostView* operand : {&a, &b}) {
    TROUPE_TRY(check_same_shape(*operand, c));
    TROUPE_TRY(check_same_dtype(*operand, c));
  }
  return visit_four("geam", c.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const auto alpha = op.alpha.as<T>();
    const auto beta = op.beta.as<T>();
    const auto term = [](T factor, bool conjugates, const std::byte* from) noexcept {
      return times(factor, conjugated_if(conjugates, load<T>(from)));
    };
    walk<3>({&a, &b, &c}, here.team(), [&](const Pointers<3>& at, const Steps<3>& step, std::int64_t count) noexcept {
      Pointers<3> element = at;
      for (; count > 0; --count) {
        store(element[2], term(alpha, op.conjugates_a, element[0]) + term(beta, op.conjugates_b, element[1]));
        for (std::size_t i = 0; i < 3; ++i) element[i] += step[i];
      }
    });
    return {};
  });
}

void add_blas(RunTable& table) { table.add(op::BlasOps{}); }

}  // namespace troupe::host

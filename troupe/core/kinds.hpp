// What users choose by name and ops carry by number. The numbers travel between processes and are compiled into GPU
// code: append, never reorder. `takes_complex` says which functions exist for complex numbers.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// How the app learns that an op is done. All of them give the same answers, and the default is the fastest; the others
/// are for comparison with systems that work that way.
enum class CompletionPolicy : std::uint8_t {
  timeline,  // the GPU writes the lane's counter itself
  polled,    // a thread of the worker asks each lane's event again and again
  host_fn,   // the driver calls a function of the worker
  blocking,  // threads of the worker sleep until the driver wakes them
  kLast = blocking,
};

/// What a worker process may do besides computing. docs/security.md says what each level guarantees, and what not.
enum class Sandbox : std::uint8_t {
  none,      // whatever the app may do
  standard,  // cannot look into other processes, gain rights, or read the app's input and secret variables
  strict,    // also has no network, no child processes, and only the files that are named
  kLast = strict,
};

namespace detail {

/// A number that arrays are multiplied by: real, or complex for complex arrays. It is converted to the type that the op
/// computes in. Trivially destructible; `Supervision` says why.
struct Factor {
  double real = 1.0;
  double imaginary = 0.0;

  constexpr Factor(double real_part = 1.0, double imaginary_part = 0.0) noexcept  // NOLINT(google-explicit-constructor)
      : real(real_part), imaginary(imaginary_part) {}
  template <class T>
  constexpr Factor(std::complex<T> value) noexcept  // NOLINT(google-explicit-constructor)
      : real(value.real()), imaginary(value.imag()) {}
};

}  // namespace detail

/// The precision that products of matrices are computed in.
enum class Compute : std::uint8_t {
  standard,  // the type itself; small floats in f32, i8 in i32
  tf32,      // f32 with the factors rounded to 10 bits of mantissa, where the hardware has it
  kLast = tf32,
};
/// Which half of a square matrix is meant; the other one is neither read nor written.
enum class Triangle : std::uint8_t { lower, upper, kLast = upper };
/// On which side of the product the symmetric, Hermitian or triangular matrix stands.
enum class Side : std::uint8_t { left, right };
/// The function that a product's elements go through, in `MatmulOptions`. A NaN stays one in all of them.
enum class Activation : std::uint8_t {
  none,
  relu,       // max(x, 0)
  gelu_tanh,  // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as `Unary::gelu_tanh`
  kLast = gelu_tanh,
};
/// How a sparse matrix is stored. CSR: compressed rows. CSC: compressed columns. COO: row and column of each element.
/// BSR: compressed rows of dense square blocks, each row-major.
enum class SparseFormat : std::uint8_t { csr, csc, coo, bsr, kLast = bsr };
/// The name of a choice, spelled as its enumerator; that of a sparse format in capitals.
constexpr std::string_view name(SparseFormat format) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"CSR", "CSC", "COO", "BSR"};
  return kNames[static_cast<std::size_t>(format)];
}

/// The functions of one operand.
enum class Unary : std::uint8_t {
  identity,
  neg,
  conj,
  square,
  sqrt,
  rsqrt,       // 1 / sqrt(x)
  reciprocal,  // 1 / x
  exp,
  log,
  sin,
  cos,
  tanh,
  abs,  // from here on for real numbers only
  sign,
  expm1,
  log1p,
  tan,
  erf,
  relu,      // max(x, 0); NaN stays NaN
  sigmoid,   // 1 / (1 + exp(-x))
  silu,      // x sigmoid(x)
  gelu,      // x times the normal distribution function of x; `gelu_tanh` approximates it
  softplus,  // log(1 + exp(x))
  floor,
  ceil,
  round,      // to nearest, ties to even
  gelu_tanh,  // the approximation of gelu by tanh: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  bit_not,    // of integers each bit, of bool the opposite
  kLast = bit_not,
};
/// The functions of two operands. `min` and `max` give NaN when either operand is NaN. Comparisons give bool; with a
/// NaN only `not_equal` is true.
enum class Binary : std::uint8_t {
  add,
  sub,
  mul,
  div,  // of integers and bool in f64
  min,  // from here on for real numbers only, but for equal and not_equal
  max,
  pow,
  bit_and,  // these five: integers, and but for shifts bool
  bit_or,
  bit_xor,
  shift_left,   // by the type's width or more, or by less than 0: all bits are shifted out
  shift_right,  // the same; of negative numbers every new bit is 1
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  kLast = greater_equal,
};
/// The functions of three operands: a b + c (rounded once or twice), a within [b, c], and a ? b : c where a is an array
/// of bool.
enum class Ternary : std::uint8_t { fma, clamp, select, kLast = select };  // clamp: real only
/// What a reduction makes of the elements along its axes. `norm` is the square root of the sum of squares. `min` and
/// `max` give NaN when any element is NaN. `any` and `all` say whether some element, or every one, is true.
enum class Reduction : std::uint8_t {
  sum,
  product,
  mean,
  norm,
  min,  // real only, as max
  max,
  any,  // bool only, as all
  all,
  kLast = all,
};
/// How a contraction is computed: `gemm` by (batched) products of matrices, with permutations where they are needed;
/// `loops` by our own loops; `cutensor` by cuTENSOR; `automatic` by the one that is estimated to be fastest.
enum class TensorEngine : std::uint8_t { automatic, gemm, loops, cutensor, kLast = cutensor };

/// What a scan, and a reduction of rows or segments, puts together. `min` and `max` give NaN when any element is NaN.
enum class Combine : std::uint8_t {
  sum,
  product,
  min,
  max,
  bit_and,  // integers and bool, as the other two
  bit_or,
  bit_xor,
  kLast = bit_xor,
};
/// Which of two keys comes first. NaN counts as more than any number, and -0 as 0; equal keys stay in their order.
enum class SortOrder : std::uint8_t { ascending, descending, kLast = descending };
/// What becomes of several elements that `scatter` sends to one place: the last of them in row-major order stays; or
/// each is added to what is there; or the least, or the greatest, of them and what is there.
enum class Duplicates : std::uint8_t { last, add, min, max, kLast = max };
/// What two ascending lists of keys make. A key that is m times in a and n times in b is in the result as often as said
/// here.
enum class SetOperation : std::uint8_t {
  unite,                 // max(m, n) times
  intersect,             // min(m, n) times
  difference,            // max(m - n, 0) times
  symmetric_difference,  // |m - n| times
  kLast = symmetric_difference,
};

namespace detail {

constexpr bool is_comparison(Binary kind) noexcept { return kind >= Binary::equal; }

constexpr bool takes_complex(Unary kind) noexcept { return kind <= Unary::tanh; }
constexpr bool takes_complex(Binary kind) noexcept {
  return kind <= Binary::div || kind == Binary::equal || kind == Binary::not_equal;
}
constexpr bool takes_complex(Ternary kind) noexcept { return kind != Ternary::clamp; }
constexpr bool takes_complex(Reduction kind) noexcept { return kind <= Reduction::norm; }

constexpr bool takes_floats(Unary kind) noexcept { return kind != Unary::bit_not; }
constexpr bool takes_floats(Binary kind) noexcept { return kind <= Binary::pow || is_comparison(kind); }
constexpr bool takes_floats(Ternary) noexcept { return true; }
constexpr bool takes_floats(Reduction kind) noexcept { return kind <= Reduction::max; }

/// Whether integers have the function; of others, docs/tensor.md says what becomes.
constexpr bool takes_integers(Unary kind) noexcept {
  switch (kind) {
    case Unary::identity:
    case Unary::neg:
    case Unary::conj:
    case Unary::square:
    case Unary::abs:
    case Unary::sign:
    case Unary::relu:
    case Unary::floor:
    case Unary::ceil:
    case Unary::round:
    case Unary::bit_not: return true;
    default: return false;
  }
}
constexpr bool takes_integers(Binary kind) noexcept { return kind != Binary::div && kind != Binary::pow; }
constexpr bool takes_integers(Ternary) noexcept { return true; }
constexpr bool takes_integers(Reduction kind) noexcept {
  return kind != Reduction::mean && kind != Reduction::norm && kind <= Reduction::max;
}

constexpr bool takes_bool(Unary kind) noexcept { return kind == Unary::identity || kind == Unary::bit_not; }
constexpr bool takes_bool(Binary kind) noexcept {
  return takes_integers(kind) && kind != Binary::sub && kind != Binary::shift_left && kind != Binary::shift_right;
}
constexpr bool takes_bool(Ternary kind) noexcept { return kind == Ternary::select; }
constexpr bool takes_bool(Reduction kind) noexcept { return takes_integers(kind) || kind > Reduction::max; }

}  // namespace detail

/// The names of the other choices, spelled as their enumerators.
constexpr std::string_view name(Sandbox level) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"none", "standard", "strict"};
  return kNames[static_cast<std::size_t>(level)];
}
constexpr std::string_view name(Unary kind) noexcept {
  constexpr std::array<std::string_view, 28> kNames{
      "identity", "neg",  "conj",     "square", "sqrt",  "rsqrt", "reciprocal", "exp",    "log",  "sin",
      "cos",      "tanh", "abs",      "sign",   "expm1", "log1p", "tan",        "erf",    "relu", "sigmoid",
      "silu",     "gelu", "softplus", "floor",  "ceil",  "round", "gelu_tanh",  "bit_not"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name(Binary kind) noexcept {
  constexpr std::array<std::string_view, 18> kNames{
      "add",     "sub",        "mul",         "div",   "min",       "max",  "pow",        "bit_and", "bit_or",
      "bit_xor", "shift_left", "shift_right", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name(Ternary kind) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"fma", "clamp", "select"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name(Reduction kind) noexcept {
  constexpr std::array<std::string_view, 8> kNames{"sum", "product", "mean", "norm", "min", "max", "any", "all"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name(TensorEngine engine) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"automatic", "gemm", "loops", "cutensor"};
  return kNames[static_cast<std::size_t>(engine)];
}

constexpr std::string_view name(Combine function) noexcept {
  constexpr std::array<std::string_view, 7> kNames{"sum", "product", "min", "max", "bit_and", "bit_or", "bit_xor"};
  return kNames[static_cast<std::size_t>(function)];
}
constexpr std::string_view name(SortOrder order) noexcept {
  return order == SortOrder::ascending ? "ascending" : "descending";
}
constexpr std::string_view name(Duplicates rule) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"last", "add", "min", "max"};
  return kNames[static_cast<std::size_t>(rule)];
}
constexpr std::string_view name(SetOperation operation) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"unite", "intersect", "difference", "symmetric_difference"};
  return kNames[static_cast<std::size_t>(operation)];
}

// Where the factor of a Fourier transform is, by NumPy's and PyTorch's names. A transform and its inverse of one norm
// give the input back.

/// Which way is divided by the number of elements that are transformed together.
enum class FftNorm : std::uint8_t {
  backward,  // the inverse
  ortho,     // both, by the square root of the number
  forward,   // the forward transform
  kLast = forward
};

// Why an iteration ended, what a preconditioner is made of, and which eigenvalues are meant.

/// Why an iterative solver ended. All but `converged` leave what it had reached by then.
enum class Stopped : std::uint8_t {
  converged,              // the residual, computed anew, is small enough
  max_rounds,             // it took all the rounds that it may take
  breakdown,              // the method cannot go on: it would divide by zero
  not_positive_definite,  // cg: p A p is not positive, or r M r is not: the matrix or preconditioner is not for cg
  stagnated,              // the residual no longer falls: that is all that the type or the restart allows
  not_finite,             // a residual is infinite or NaN
  kLast = not_finite,
};
/// Which matrix is simple enough to solve with, and near enough to help.
enum class Preconditioning : std::uint8_t {
  none,
  jacobi,  // the diagonal
  ilu0,    // L U, with elements where the matrix has them
  ic0,     // L times its adjoint, with elements where the matrix has them
  kLast = ic0,
};
/// Which eigenvalues of a symmetric matrix.
enum class Extreme : std::uint8_t { largest, smallest, kLast = smallest };

/// Why, in a word: "max_rounds".
constexpr std::string_view name(Stopped why) noexcept {
  constexpr std::array<std::string_view, 6> kNames{"converged", "max_rounds", "breakdown", "not_positive_definite",
                                                   "stagnated", "not_finite"};
  return kNames[static_cast<std::size_t>(why)];
}

// What turns a seed and a position into random bits.

/// The algorithms behind a `Generator`. The number travels between processes: append, never reorder.
enum class RandomEngine : std::uint8_t {
  philox4x32_10,  // Philox 4x32 with 10 rounds, by counter: any position at once
  kLast = philox4x32_10,
};

/// Spelled as its enumerator.
constexpr std::string_view name(RandomEngine) noexcept { return "philox4x32_10"; }

}  // namespace troupe::inline v0
#pragma GCC visibility pop

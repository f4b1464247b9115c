// A row of the comparison with PyTorch: an op, what it is done to, and how large that is. It is plain data and nothing
// else, so that it can be written as JSON and another program can do the same: what rows there are is said once, in
// rows.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

namespace troupe::bench::matrix {

/// Every second element of an axis, say: those at `begin`, `begin + step`, ... before `end`.
struct Slice {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};

/// What an op is given: a view of contiguous memory with random numbers in it, or a number.
struct Operand {
  DType dtype = DType::f32;
  /// Of the memory.
  std::vector<std::int64_t> shape = {};
  /// The numbers are between these; those of integers are below `high`, and whole.
  double low = -0.5;
  double high = 0.5;
  /// First, dimension i of the view is dimension `order[i]` of the memory; empty: as it is.
  std::vector<int> order = {};
  /// Then this part of the last dimension is taken.
  std::optional<Slice> slice = {};
  /// Instead of an array.
  std::optional<double> number = {};

  std::vector<std::int64_t> view_shape() const;
  /// Of the elements that the view shows; 0 for a number.
  std::int64_t view_bytes() const;
};

/// Which function of ours a row calls.
enum class Kind {
  fill,
  copy,
  cast,
  unary,
  binary,
  ternary,
  reduce,
  permute,
  gemm,
  layer,
  gemv,
  dot,
  axpy,
  einsum,
  expression,
  primitive
};

struct Row {
  Kind kind{};
  /// `exp`, `add`, `sum`; of kinds with one op only the name of the kind.
  std::string op;
  DType dtype = DType::f32;
  std::string layout;
  /// The bytes of the largest array that the op reads or writes; of products the extent `n`, and `is_extent` is set.
  std::int64_t size = 0;
  bool is_extent = false;
  std::vector<Operand> inputs = {};
  Operand output = {};
  /// The axes that are reduced, or the order of a permutation.
  std::vector<int> axes = {};
  /// Of an einsum.
  std::string text = {};
  /// The output is read, too.
  bool updates = false;

  /// `exp/f32/contiguous`.
  std::string group() const;
  /// `exp/f32/contiguous/16MiB`, `gemm/f32/square/1024`.
  std::string id() const;
  /// What must be moved at least: each input and the output once.
  std::int64_t bytes() const;
  /// Of the largest array that the op reads or writes.
  std::int64_t largest_bytes() const;
};

/// `fill`, `gemm`.
std::string name(Kind kind);
/// `1KiB`, `256MiB`.
std::string size_text(std::int64_t bytes);

}  // namespace troupe::bench::matrix

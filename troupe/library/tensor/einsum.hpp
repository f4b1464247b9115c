// Einstein's notation: "bik,bkj->bij" gives each axis of each operand a letter. Letters that the output does not have
// are summed over; a letter that an operand has twice takes its diagonal. Parsing knows nothing of arrays; making the
// op checks extents, and every message marks the mistake in the text.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/result.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::inline v0 {

/// One operand's letters, and the place of each in the text. An ellipsis is a '.'.
struct EinsumTerm {
  std::string letters;
  std::vector<std::size_t> places;
};

struct Einsum {
  std::string text;
  std::vector<EinsumTerm> inputs;
  EinsumTerm output;
};

/// Parses a text for that many operands: letters a to z and A to Z, spaces anywhere, and an explicit output. "..." in
/// an operand stands for all axes without a letter. Those of two operands are matched from the last one backwards, and
/// an extent of 1 matches any other. `invalid_argument` points at the wrong character.
Result<Einsum> parse_einsum(std::string_view text, std::size_t operands);

/// The op of a text with one operand: a sum, with any permutation and diagonal. `invalid_argument` when the views do
/// not fit the text. The caller sets the factors.
Result<op::Reduce> make_reduce(const Einsum& einsum, const op::View& in, const op::View& out);
/// The same for a text with two operands.
Result<op::Contract> make_contract(const Einsum& einsum, const op::View& a, const op::View& b, const op::View& c);
/// The shape that the output must have. Needs as many inputs as the text has operands.
Result<Shape> output_shape(const Einsum& einsum, std::initializer_list<const op::View*> inputs);

}  // namespace troupe::inline v0

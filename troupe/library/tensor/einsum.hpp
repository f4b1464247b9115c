// Einstein's notation: "bik,bkj->bij" says of each operand which letter each of its axes has. Letters that the output
// has not are summed over; one that an operand has twice is its diagonal. Parsing knows nothing of arrays; making the
// op of it checks extents, and every mistake is shown in the text.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/result.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::inline v0 {

/// One operand's letters, and where each is in the text. An ellipsis is a '.'.
struct EinsumTerm {
  std::string letters;
  std::vector<std::size_t> places;
};

struct Einsum {
  std::string text;
  std::vector<EinsumTerm> inputs;
  EinsumTerm output;
};

/// The text for so many operands: a to z and A to Z, spaces where one likes, and the output named. "..." in an operand
/// is all axes that its letters leave over. Those of two operands go together from the last one backwards, and an
/// extent of 1 goes with any other. `invalid_argument` points at the character that cannot be.
Result<Einsum> parse_einsum(std::string_view text, std::size_t operands);

/// The op of a text with one operand: a sum, with any permutation and diagonal. `invalid_argument` when the views are
/// not what the text says. Factors are the caller's to set.
Result<op::Reduce> make_reduce(const Einsum& einsum, const op::View& in, const op::View& out);
/// The op of a text with two.
Result<op::Contract> make_contract(const Einsum& einsum, const op::View& a, const op::View& b, const op::View& c);
/// What the output's shape has to be. Needs as many inputs as the text has operands.
Result<Shape> output_shape(const Einsum& einsum, std::initializer_list<const op::View*> inputs);

}  // namespace troupe::inline v0

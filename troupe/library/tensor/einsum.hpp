// Einstein's notation: "bik,bkj->bij" gives each axis of each operand a letter. Letters that the output does not have
// are summed over; a letter that an operand has twice takes its diagonal. Parsing knows nothing of arrays; making the
// op checks extents, and every message marks the mistake in the text.
#pragma once

#include <span>
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

/// An operand in which each letter is one axis. The axes of an ellipsis have digits as letters.
struct Labelled {
  op::View view;
  std::string letters;

  bool has(char letter) const noexcept { return letters.find(letter) != std::string::npos; }
  std::int64_t extent(char letter) const { return view.shape[static_cast<int>(letters.find(letter))]; }
};

/// The operands of a text, with diagonals as one axis and one extent for each letter; an operand that is repeated along
/// an axis of an ellipsis does not have it. `invalid_argument` when the views do not fit the text. Needs as many views
/// as the text has operands.
Result<std::vector<Labelled>> label_inputs(const Einsum& einsum, std::span<const op::View* const> views);
/// The output's letters, with its ellipsis as axes.
std::string output_letters(const Einsum& einsum, const std::vector<Labelled>& inputs);
/// The output's view with its letters; `invalid_argument` when it has another shape than the inputs make.
Result<Labelled> label_output(const Einsum& einsum, const std::vector<Labelled>& inputs, const op::View& out);

/// c = the sum of a b over the letters that c does not have. Each letter of c is in a or b, and has one extent.
op::Contract contract_of(const Labelled& a, const Labelled& b, const Labelled& c);

/// The op of a text with one operand: a sum, with any permutation and diagonal. `invalid_argument` when the views do
/// not fit the text. The caller sets the factors.
Result<op::Reduce> make_reduce(const Einsum& einsum, const op::View& in, const op::View& out);
/// The same for a text with two operands.
Result<op::Contract> make_contract(const Einsum& einsum, const op::View& a, const op::View& b, const op::View& c);
/// Whether the wanted engine can do it on that backend; `automatic` always can.
Result<void> check_engine(const op::Contract& op, std::string_view backend);
/// The shape that the output must have. Needs as many inputs as the text has operands.
Result<Shape> output_shape(const Einsum& einsum, std::span<const op::View* const> inputs);

}  // namespace troupe::inline v0

#include "troupe/library/tensor/einsum.hpp"

#include <algorithm>
#include <array>

#include "troupe/op/contraction_plan.hpp"

namespace troupe::inline v0 {
namespace {

constexpr std::size_t kNowhere = std::string::npos;
constexpr std::size_t kMostLetters = 256;  // of a text

/// Says what is wrong, and below it shows the text with a mark under the character.
Unexpected refuse(ErrorKind kind, std::string_view text, std::size_t place, const std::string& why) {
  std::string message = "einsum: " + why + "\n  " + std::string(text);
  if (place != kNowhere) message += "\n  " + std::string(place, ' ') + "^";
  return fail(kind, message);
}
Unexpected refuse(std::string_view text, std::size_t place, const std::string& why) {
  return refuse(ErrorKind::invalid_argument, text, place, why);
}

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The axes of an ellipsis get digits as letters, which no text has: the last of them is '0'.
constexpr char kEllipsis = '.';
constexpr std::string_view kDots = "...";
bool is_of_ellipsis(char letter) noexcept { return letter >= '0' && letter <= '9'; }
std::string axes_of_ellipsis(std::size_t count) {
  std::string letters;
  for (std::size_t i = count; i > 0; --i) letters += static_cast<char>('0' + i - 1);
  return letters;
}

/// An axis as messages name it.
std::string quoted(char letter) {
  if (letter == kEllipsis) return "\"...\"";
  return is_of_ellipsis(letter) ? "an axis of \"...\"" : std::string("'") + letter + "'";
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { einsum_.text = text; }

  Result<Einsum> parse(std::size_t operands) {
    if (text_.size() > kMostLetters)
      return refuse(
          text_.substr(0, 40), kNowhere,
          "the text has " + std::to_string(text_.size()) + " characters; it may have " + std::to_string(kMostLetters));
    while (at_ < text_.size()) TROUPE_TRY(take());
    if (!output_) return refuse(text_, text_.size(), "\"->\" and the output are missing");
    einsum_.output = std::move(term_);
    TROUPE_TRY(check_output());
    if (einsum_.inputs.size() == operands) return std::move(einsum_);
    return refuse(text_, kNowhere,
                  "the text has " + std::to_string(einsum_.inputs.size()) + " operands, and the call has " +
                      std::to_string(operands));
  }

 private:
  Result<void> take() {
    const char c = text_[at_];
    const std::size_t place = at_++;
    if (c == ' ') return {};
    if (is_letter(c)) {
      term_.letters += c;
      term_.places.push_back(place);
      return {};
    }
    if (c == kEllipsis) return take_ellipsis(place);
    if (c == ',' && !output_) return end_input();
    if (c == ',') return refuse(text_, place, "there must be one output");
    if (c != '-' || at_ == text_.size() || text_[at_] != '>')
      return refuse(text_, place, std::string("'") + c + "' must be a letter, \",\" or \"->\"");
    if (output_) return refuse(text_, place, "\"->\" is there twice");
    ++at_;
    output_ = true;
    return end_input();
  }

  Result<void> take_ellipsis(std::size_t place) {
    if (text_.substr(place, kDots.size()) != kDots) return refuse(text_, place, "an ellipsis must have three dots");
    if (term_.letters.find(kEllipsis) != kNowhere) return refuse(text_, place, "an operand has \"...\" twice");
    at_ = place + kDots.size();
    term_.letters += kEllipsis;
    term_.places.push_back(place);
    return {};
  }

  Result<void> end_input() {
    einsum_.inputs.push_back(std::move(term_));
    term_ = {};
    return {};
  }

  Result<void> check_output() const {
    const EinsumTerm& output = einsum_.output;
    for (std::size_t i = 0; i < output.letters.size(); ++i) {
      const char letter = output.letters[i];
      if (output.letters.find(letter) < i)
        return refuse(text_, output.places[i], quoted(letter) + " is twice in the output");
      const bool known = std::ranges::any_of(
          einsum_.inputs, [&](const EinsumTerm& input) { return input.letters.find(letter) != kNowhere; });
      if (!known) return refuse(text_, output.places[i], quoted(letter) + " is in no operand");
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool output_ = false;
  EinsumTerm term_;
  Einsum einsum_;
};

/// The term with its ellipsis as that many axes.
EinsumTerm expanded(const EinsumTerm& term, std::size_t axes) {
  const std::size_t at = term.letters.find(kEllipsis);
  if (at == kNowhere) return term;
  EinsumTerm whole = term;
  whole.letters.replace(at, 1, axes_of_ellipsis(axes));
  const auto place = whole.places.begin() + static_cast<std::ptrdiff_t>(at);
  whole.places.insert(whole.places.erase(place), axes, term.places[at]);
  return whole;
}

/// How many axes an operand's ellipsis stands for.
std::size_t axes_left_over(const EinsumTerm& term, const op::View& view) {
  const std::size_t named = term.letters.size() - 1;
  const auto rank = static_cast<std::size_t>(view.shape.rank());
  return rank > named ? rank - named : 0;
}

/// A letter that an operand has twice becomes one axis along both: the diagonal.
Result<Labelled> label(const Einsum& einsum, const EinsumTerm& term, const op::View& view, const std::string& which) {
  if (static_cast<int>(term.letters.size()) != view.shape.rank())
    return refuse(einsum.text, term.places.empty() ? kNowhere : term.places.front(),
                  which + " is " + view.shape.to_string() + " and has " + std::to_string(term.letters.size()) +
                      " letters; each axis needs one");
  std::string letters;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  for (int i = 0; i < view.shape.rank(); ++i) {
    const char letter = term.letters[static_cast<std::size_t>(i)];
    const std::size_t known = letters.find(letter);
    if (known == kNowhere) {
      letters += letter;
      extents.push_back(view.shape[i]);
      strides.push_back(view.strides[i]);
    } else if (extents[known] != view.shape[i]) {
      return refuse(einsum.text, term.places[static_cast<std::size_t>(i)],
                    quoted(letter) + " is " + std::to_string(extents[known]) + " and " + std::to_string(view.shape[i]) +
                        " in one operand; it must have one extent");
    } else {
      strides[known] += view.strides[i];
    }
  }
  return Labelled{{view.address, view.dtype, Shape(extents), Strides(strides)}, letters};
}

/// The view with the axes of `letters`, in that order; an extent of 1 for a letter that it does not have.
op::View arranged(const Labelled& operand, const std::string& letters) {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  for (const char letter : letters) {
    const std::size_t place = operand.letters.find(letter);
    const int axis = static_cast<int>(place);
    extents.push_back(place == kNowhere ? 1 : operand.view.shape[axis]);
    strides.push_back(place == kNowhere ? 0 : operand.view.strides[axis]);
  }
  return {operand.view.address, operand.view.dtype, Shape(extents), Strides(strides)};
}

/// The first operand that has the letter; none where nobody does.
const Labelled* first_with(char letter, std::span<const Labelled> operands) {
  const auto found = std::ranges::find_if(operands, [&](const Labelled& operand) { return operand.has(letter); });
  return found == operands.end() ? nullptr : &*found;
}

/// Where one operand has an extent of 1 and another one has more, the first loses that axis.
void broadcast(std::vector<Labelled>& operands) {
  const auto is_longer = [&](char letter) {
    return std::ranges::any_of(
        operands, [&](const Labelled& operand) { return operand.has(letter) && operand.extent(letter) != 1; });
  };
  std::string repeated;
  for (char letter = '0'; letter <= '9'; ++letter)
    if (is_longer(letter)) repeated += letter;
  for (Labelled& operand : operands) {
    std::string kept;
    for (const char letter : operand.letters)
      if (repeated.find(letter) == kNowhere || operand.extent(letter) != 1) kept += letter;
    if (kept.size() < operand.letters.size()) operand = {arranged(operand, kept), kept};
  }
}

/// The output's term, with as many axes for its ellipsis as the broadcast inputs have.
EinsumTerm output_term(const Einsum& einsum, const std::vector<Labelled>& inputs) {
  std::size_t axes = 0;
  for (const Labelled& input : inputs)
    for (const char letter : input.letters)
      if (is_of_ellipsis(letter)) axes = std::max(axes, static_cast<std::size_t>(letter - '0') + 1);
  return expanded(einsum.output, axes);
}

Shape shape_of_output(const EinsumTerm& output, const std::vector<Labelled>& inputs) {
  std::vector<std::int64_t> extents;
  for (const char letter : output.letters) extents.push_back(first_with(letter, inputs)->extent(letter));
  return Shape(extents);
}

}  // namespace

Result<Einsum> parse_einsum(std::string_view text, std::size_t operands) { return Parser(text).parse(operands); }

Result<std::vector<Labelled>> label_inputs(const Einsum& einsum, std::span<const op::View* const> views) {
  std::vector<Labelled> inputs;
  std::vector<EinsumTerm> terms;
  for (const op::View* view : views) {
    const std::size_t number = inputs.size();
    const EinsumTerm& term = einsum.inputs[number];
    terms.push_back(expanded(term, axes_left_over(term, *view)));
    inputs.push_back(TROUPE_TRY(label(einsum, terms.back(), *view, "operand " + std::to_string(number + 1))));
  }
  broadcast(inputs);
  for (std::size_t number = 1; number < inputs.size(); ++number)
    for (std::size_t i = 0; i < terms[number].letters.size(); ++i) {
      const char letter = terms[number].letters[i];
      if (!inputs[number].has(letter)) continue;
      const Labelled& first = *first_with(letter, inputs);
      const std::int64_t extent = inputs[number].extent(letter);
      if (first.extent(letter) == extent) continue;
      return refuse(einsum.text, terms[number].places[i],
                    quoted(letter) + " is " + std::to_string(first.extent(letter)) + " in operand " +
                        std::to_string(&first - inputs.data() + 1) + " and " + std::to_string(extent) + " in operand " +
                        std::to_string(number + 1) + "; it must have one extent");
    }
  return inputs;
}

Result<Labelled> label_output(const Einsum& einsum, const std::vector<Labelled>& inputs, const op::View& out) {
  const EinsumTerm output = output_term(einsum, inputs);
  const Shape expected = shape_of_output(output, inputs);
  TROUPE_TRY(check(expected));
  if (out.shape == expected) return label(einsum, output, out, "the output");
  return refuse(einsum.text, einsum.output.places.empty() ? kNowhere : einsum.output.places.front(),
                "the output is " + out.shape.to_string() + "; it must be " + expected.to_string());
}

Result<Shape> output_shape(const Einsum& einsum, std::span<const op::View* const> inputs) {
  const std::vector<Labelled> labelled = TROUPE_TRY(label_inputs(einsum, inputs));
  const Shape shape = shape_of_output(output_term(einsum, labelled), labelled);
  TROUPE_TRY(check(shape));
  return shape;
}

Result<op::Reduce> make_reduce(const Einsum& einsum, const op::View& in, const op::View& out) {
  const std::array<const op::View*, 1> views{&in};
  const std::vector<Labelled> inputs = TROUPE_TRY(label_inputs(einsum, views));
  const Labelled output = TROUPE_TRY(label_output(einsum, inputs, out));
  std::string letters = output.letters;
  for (const char letter : inputs.front().letters)
    if (!output.has(letter)) letters += letter;
  op::Reduce op;
  op.function = Reduction::sum;
  op.in = arranged(inputs.front(), letters);
  op.out = arranged(output, letters);
  return op;
}

Result<op::Contract> make_contract(const Einsum& einsum, const op::View& a, const op::View& b, const op::View& c) {
  const std::array<const op::View*, 2> views{&a, &b};
  const std::vector<Labelled> inputs = TROUPE_TRY(label_inputs(einsum, views));
  const Labelled output = TROUPE_TRY(label_output(einsum, inputs, c));
  return contract_of(inputs.front(), inputs.back(), output);
}

std::string output_letters(const Einsum& einsum, const std::vector<Labelled>& inputs) {
  return output_term(einsum, inputs).letters;
}

Result<void> check_engine(const op::Contract& op, std::string_view backend) {
  const bool is_empty = op::element_count(op.a) == 0 || op::element_count(op.b) == 0;
  if (op.engine != TensorEngine::cutensor && (op.engine != TensorEngine::gemm || is_empty)) return {};
  TROUPE_TRY(op::plan_contraction(op::axes_of(op), op.c.dtype, op.engine, op::rates_of(backend)));
  return {};
}

op::Contract contract_of(const Labelled& a, const Labelled& b, const Labelled& c) {
  std::string batch, rows, columns, depth, summed_a, summed_b;
  for (const char letter : a.letters)
    (b.has(letter) ? c.has(letter) ? batch : depth : c.has(letter) ? rows : summed_a) += letter;
  for (const char letter : b.letters)
    if (!a.has(letter)) (c.has(letter) ? columns : summed_b) += letter;
  const auto count = [](const std::string& letters) { return static_cast<std::uint8_t>(letters.size()); };
  op::Contract op;
  op.groups = {.batch = count(batch),
               .rows = count(rows),
               .columns = count(columns),
               .depth = count(depth),
               .summed_a = count(summed_a),
               .summed_b = count(summed_b)};
  op.a = arranged(a, batch + rows + depth + summed_a);
  op.b = arranged(b, batch + depth + columns + summed_b);
  op.c = arranged(c, batch + rows + columns);
  return op;
}

}  // namespace troupe::inline v0

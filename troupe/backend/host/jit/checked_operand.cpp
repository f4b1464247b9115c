#include "troupe/backend/host/jit/checked_operand.hpp"

namespace troupe::host {

Operand operand_at(const SourceWords& words, const KnownTypes& types, std::size_t begin) {
  std::size_t i = begin;
  for (;;) {
    if (is_one_of(words[i], {"&", "*", "+", "-", "!", "~"})) {
      ++i;
    } else if (words[i] == "(") {
      std::size_t behind = types.behind_type(i + 1);
      while (behind != i + 1 && (words[behind] == "*" || stands_behind_star(words[behind]))) ++behind;
      if (behind == i + 1 || words[behind] != ")") break;
      i = behind + 1;
    } else {
      break;
    }
  }
  const std::size_t primary = i;
  if (words[i] == "(") {
    i = words.behind_brackets(i);
    if (i == primary) return {begin};
  } else {
    for (;;) {
      if (words[i] == ":" && words[i + 1] == ":") i += 2;
      if (i >= words.size() ||
          !(words.is_name(i) || words[i] == "sizeof" || words.token(i).kind == Token::Kind::number ||
            words.token(i).kind == Token::Kind::text))
        return {begin};
      ++i;
      if (words[i - 1].ends_with("_cast") || types.has(words[i - 1])) i = words.behind_angles(i);
      if (words[i] != ":" || words[i + 1] != ":") break;
    }
  }
  Operand operand{.end = i};
  for (;;) {
    if (is_one_of(words[i], {"[", "("})) {
      const std::size_t behind = words.behind_brackets(i);
      if (behind == i) return operand;
      operand = {.end = behind, .subscript = words[i] == "[" ? i : 0, .begin = primary};
      i = behind;
    } else if (words[i] == "." && words.is_name(i + 1)) {
      i += 2;
      operand = {.end = i};
    } else if (words[i] == "-" && words[i + 1] == ">" && words.touches(i + 1)) {
      i += 3;
      operand = {.end = i};
    } else if (is_one_of(words[i], {"+", "-"}) && words[i + 1] == words[i] && words.touches(i + 1)) {
      i += 2;
      operand = {.end = i};
    } else {
      break;
    }
  }
  // `(x[i])`
  if (operand.subscript == 0 && words[primary] == "(" && operand.end == words.behind_brackets(primary)) {
    const Operand inner = operand_at(words, types, primary + 1);
    if (inner.end + 1 == operand.end)
      operand = {.end = operand.end, .subscript = inner.subscript, .begin = inner.begin};
  }
  if (primary != begin) operand.subscript = 0;  // `&*p[i]`
  return operand;
}

}  // namespace troupe::host

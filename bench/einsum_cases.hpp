// The contractions that are measured beside PyTorch's: as people write them, from plain products of matrices to sums
// over axes that lie in another order in each operand. All are of floats.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::bench {

struct EinsumCase {
  std::string_view text;
  std::string_view letters;
  std::array<std::int64_t, 6> extents;  // of the letters

  std::vector<std::int64_t> shape_of(std::string_view operand) const {
    std::vector<std::int64_t> shape;
    for (const char letter : operand) shape.push_back(extents[letters.find(letter)]);
    return shape;
  }
  /// The letters of a, b and c.
  std::array<std::string_view, 3> operands() const {
    const std::size_t comma = text.find(',');
    const std::size_t arrow = text.find("->");
    return {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
  }
  /// For the process with PyTorch: "abcd,cdef->abef;a64;b64".
  std::string to_string() const {
    std::string all(text);
    for (std::size_t i = 0; i < letters.size(); ++i)
      all += ";" + std::string(1, letters[i]) + std::to_string(extents[i]);
    return all;
  }
};

inline constexpr std::array<EinsumCase, 5> kEinsumCases{{
    {"abcd,cdef->abef", "abcdef", {64, 64, 64, 64, 64, 64}},
    {"abcd,ecbf->adef", "abcdef", {64, 64, 64, 64, 64, 64}},
    {"abcde,efbad->cf", "abcdef", {24, 20, 96, 16, 24, 96}},
    {"mkl,lnk->nm", "mkln", {512, 96, 96, 512}},
    {"bhqd,bhkd->bhqk", "bhqkd", {8, 16, 1024, 1024, 64}},
}};

}  // namespace troupe::bench

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <istream>
#include <ostream>
#include <vector>

#include "troupe/core/element.hpp"
#include "troupe/library/sparse/sparse.hpp"

namespace troupe::inline v0 {
namespace {

enum class Field : std::uint8_t { real, complex, integer, pattern };
enum class Symmetry : std::uint8_t { general, symmetric, skew, hermitian };

/// The lines of a file, one at a time, and where we are.
class Lines {
 public:
  Lines(std::istream& in, const MatrixMarketLimits& limits) : in_(in), limit_(limits.line_bytes) {}

  Unexpected refuse(const std::string& why) const {
    return fail(ErrorKind::invalid_argument, "Matrix Market, line " + std::to_string(number_) + ": " + why);
  }
  /// The words of the next line; none at the end of the file.
  Result<std::vector<std::string_view>> next() {
    ++number_;
    line_.clear();
    for (int c = in_.get(); c != std::istream::traits_type::eof() && c != '\n'; c = in_.get()) {
      if (static_cast<std::int64_t>(line_.size()) >= limit_)
        return refuse("the line has more than " + std::to_string(limit_) + " bytes");
      line_.push_back(static_cast<char>(c));
    }
    return words();
  }
  /// The same, without comments and empty lines.
  Result<std::vector<std::string_view>> next_data() {
    while (true) {
      std::vector<std::string_view> words = TROUPE_TRY(next());
      if (at_end() && words.empty()) return words;
      if (!words.empty() && words.front().front() != '%') return words;
    }
  }
  bool at_end() const { return in_.eof(); }

 private:
  std::vector<std::string_view> words() const {
    std::vector<std::string_view> words;
    const std::string_view line = line_;
    constexpr std::string_view kBlanks = " \t\r\v\f";
    for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
      words.push_back(line.substr(at, end - at));
      at = line.find_first_not_of(kBlanks, end);
    }
    return words;
  }

  std::istream& in_;
  const std::int64_t limit_;
  std::string line_;
  std::int64_t number_ = 0;
};

template <class N>
Result<N> number(const Lines& lines, std::string_view word) {
  N value{};
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    return lines.refuse("\"" + std::string(word) + "\" must be a number");
  return value;
}

std::string lower(std::string_view word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

struct Header {
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
};

template <class E, std::size_t n>
Result<E> one_of(const Lines& lines, const std::string& word, const std::array<std::pair<const char*, E>, n>& names) {
  std::string all;
  for (const auto& [name, value] : names) {
    if (word == name) return value;
    all += std::string(all.empty() ? "" : ", ") + name;
  }
  return lines.refuse("\"" + word + "\" must be one of " + all);
}

Result<Header> read_header(Lines& lines) {
  const std::vector<std::string_view> words = TROUPE_TRY(lines.next());
  if (words.size() != 5 || lower(words[0]) != "%%matrixmarket" || lower(words[1]) != "matrix")
    return lines.refuse("the file must begin with \"%%MatrixMarket matrix coordinate\", a field and a symmetry");
  if (lower(words[2]) == "array")
    return fail(ErrorKind::unsupported,
                "Matrix Market, line 1: the file is an array, a dense matrix; it must be coordinate");
  if (lower(words[2]) != "coordinate") return lines.refuse("\"" + std::string(words[2]) + "\" must be coordinate");
  using FieldName = std::pair<const char*, Field>;
  using SymmetryName = std::pair<const char*, Symmetry>;
  Header header;
  header.field =
      TROUPE_TRY(one_of(lines, lower(words[3]),
                        std::array{FieldName{"real", Field::real}, FieldName{"complex", Field::complex},
                                   FieldName{"integer", Field::integer}, FieldName{"pattern", Field::pattern}}));
  header.symmetry = TROUPE_TRY(one_of(
      lines, lower(words[4]),
      std::array{SymmetryName{"general", Symmetry::general}, SymmetryName{"symmetric", Symmetry::symmetric},
                 SymmetryName{"skew-symmetric", Symmetry::skew}, SymmetryName{"hermitian", Symmetry::hermitian}}));
  if (header.symmetry == Symmetry::hermitian && header.field != Field::complex)
    return lines.refuse("the matrix is hermitian and not complex; a hermitian matrix must be complex");
  if (header.symmetry == Symmetry::skew && header.field == Field::pattern)
    return lines.refuse("the matrix is a skew-symmetric pattern; a pattern has no values to negate");
  return header;
}

struct Extents {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t elements = 0;
};

Result<Extents> read_extents(Lines& lines, const Header& header, const MatrixMarketLimits& limits) {
  const std::vector<std::string_view> words = TROUPE_TRY(lines.next_data());
  if (words.size() != 3) return lines.refuse("the line must have three numbers: rows, columns and elements");
  Extents extents;
  extents.rows = TROUPE_TRY(number<std::int64_t>(lines, words[0]));
  extents.columns = TROUPE_TRY(number<std::int64_t>(lines, words[1]));
  extents.elements = TROUPE_TRY(number<std::int64_t>(lines, words[2]));
  if (extents.rows < 0 || extents.columns < 0 || extents.elements < 0)
    return lines.refuse("a number is negative; rows, columns and elements must be 0 or more");
  if (std::max(extents.rows, extents.columns) > limits.rows_or_columns || extents.elements > limits.elements)
    return lines.refuse("the matrix is " + std::to_string(extents.rows) + " x " + std::to_string(extents.columns) +
                        " with " + std::to_string(extents.elements) + " elements; the limits are " +
                        std::to_string(limits.rows_or_columns) + " rows or columns and " +
                        std::to_string(limits.elements) + " elements");
  if (header.symmetry != Symmetry::general && extents.rows != extents.columns)
    return lines.refuse("the matrix is " + std::to_string(extents.rows) + " x " + std::to_string(extents.columns) +
                        "; a symmetric matrix must be square");
  return extents;
}

template <class T>
Result<T> read_value(const Lines& lines, const Header& header, const std::vector<std::string_view>& words) {
  if (header.field == Field::pattern) return T{1};
  if constexpr (detail::kIsComplex<T>) {
    using R = typename T::value_type;
    const R real = TROUPE_TRY(number<R>(lines, words[2]));
    if (header.field != Field::complex) return T(real);
    return T(real, TROUPE_TRY(number<R>(lines, words[3])));
  } else {
    return number<T>(lines, words[2]);
  }
}

/// The element across the diagonal.
template <class T>
T mirrored(const T& value, Symmetry symmetry) {
  if (symmetry == Symmetry::skew) return -value;
  if constexpr (detail::kIsComplex<T>)
    if (symmetry == Symmetry::hermitian) return std::conj(value);
  return value;
}

template <class T>
Result<void> read_element(Lines& lines, const Header& header, const Extents& extents,
                          std::vector<Triplet<T>>& elements) {
  const std::vector<std::string_view> words = TROUPE_TRY(lines.next_data());
  const std::size_t needed = header.field == Field::pattern ? 2 : header.field == Field::complex ? 4 : 3;
  if (words.empty())
    return lines.refuse("the file ends; it must have " + std::to_string(extents.elements) + " elements");
  if (words.size() != needed)
    return lines.refuse("the element has " + std::to_string(words.size()) + " numbers; it must have " +
                        std::to_string(needed));
  const std::int64_t row = TROUPE_TRY(number<std::int64_t>(lines, words[0]));
  const std::int64_t column = TROUPE_TRY(number<std::int64_t>(lines, words[1]));
  if (row < 1 || row > extents.rows || column < 1 || column > extents.columns)
    return lines.refuse("(" + std::to_string(row) + ", " + std::to_string(column) + ") is outside the matrix of " +
                        std::to_string(extents.rows) + " x " + std::to_string(extents.columns));
  if (header.symmetry != Symmetry::general && (row < column || (row == column && header.symmetry == Symmetry::skew)))
    return lines.refuse("(" + std::to_string(row) + ", " + std::to_string(column) +
                        ") is not in the lower triangle; the file of a symmetric matrix must have only that");
  const T value = TROUPE_TRY(read_value<T>(lines, header, words));
  elements.push_back({row - 1, column - 1, value});
  if (header.symmetry != Symmetry::general && row != column)
    elements.push_back({column - 1, row - 1, mirrored(value, header.symmetry)});
  return {};
}

template <class N>
void put(std::string& text, N value) {
  std::array<char, 64> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.push_back(' ');
  text.append(digits.data(), end);
}

Unexpected cannot(const std::string& what, const std::string& path) {
  return fail(ErrorKind::invalid_argument, "Matrix Market: cannot " + what + " " + path);
}

}  // namespace

template <class T>
Result<Triplets<T>> read_matrix_market(std::istream& in, const MatrixMarketLimits& limits) {
  Lines lines(in, limits);
  const Header header = TROUPE_TRY(read_header(lines));
  if (header.field == Field::complex && !detail::kIsComplex<T>)
    return lines.refuse("the matrix is complex; it must be read as c64 or c128, not as " +
                        std::string(name(dtype_of<T>)));
  const Extents extents = TROUPE_TRY(read_extents(lines, header, limits));
  Triplets<T> matrix{extents.rows, extents.columns, {}};
  // Not reserved: what a file says about its size may be wrong.
  for (std::int64_t i = 0; i < extents.elements; ++i) TROUPE_TRY(read_element(lines, header, extents, matrix.elements));
  if (!TROUPE_TRY(lines.next_data()).empty())
    return lines.refuse("there is another element; the file says that it has " + std::to_string(extents.elements));
  return matrix;
}

template <class T>
Result<Triplets<T>> read_matrix_market(const std::string& path, const MatrixMarketLimits& limits) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return cannot("read", path);
  return read_matrix_market<T>(in, limits);
}

template <class T>
Result<void> write_matrix_market(std::ostream& out, const Triplets<T>& matrix) {
  out << "%%MatrixMarket matrix coordinate " << (detail::kIsComplex<T> ? "complex" : "real") << " general\n"
      << matrix.rows << ' ' << matrix.columns << ' ' << matrix.elements.size() << '\n';
  std::string line;
  for (const Triplet<T>& element : matrix.elements) {
    line = std::to_string(element.row + 1) + " " + std::to_string(element.column + 1);
    if constexpr (detail::kIsComplex<T>) {
      put(line, element.value.real());
      put(line, element.value.imag());
    } else {
      put(line, element.value);
    }
    out << line << '\n';
  }
  out.flush();
  if (!out)
    return fail(ErrorKind::invalid_argument, "Matrix Market: the file could not be written whole; is the disk full?");
  return {};
}

template <class T>
Result<void> write_matrix_market(const std::string& path, const Triplets<T>& matrix) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) return cannot("write", path);
  return write_matrix_market(out, matrix);
}

#define TROUPE_MATRIX_MARKET(T)                                                                   \
  template Result<Triplets<T>> read_matrix_market(std::istream&, const MatrixMarketLimits&);      \
  template Result<Triplets<T>> read_matrix_market(const std::string&, const MatrixMarketLimits&); \
  template Result<void> write_matrix_market(std::ostream&, const Triplets<T>&);                   \
  template Result<void> write_matrix_market(const std::string&, const Triplets<T>&);
TROUPE_MATRIX_MARKET(float)
TROUPE_MATRIX_MARKET(double)
TROUPE_MATRIX_MARKET(std::complex<float>)
TROUPE_MATRIX_MARKET(std::complex<double>)
#undef TROUPE_MATRIX_MARKET

}  // namespace troupe::inline v0

#include "bench/matrix/report.hpp"

#include <cmath>
#include <cstdio>

#include "troupe/core/json.hpp"

namespace troupe::bench::matrix {
namespace {

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

template <class T>
std::string list(const std::vector<T>& numbers) {
  std::string text;
  for (const T number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

std::string json_of(const Operand& operand) {
  if (operand.number) return "{\"number\": " + number(*operand.number) + "}";
  std::string text = "{\"dtype\": " + json_quoted(name(operand.dtype)) + ", \"shape\": " + list(operand.shape) +
                     ", \"low\": " + number(operand.low) + ", \"high\": " + number(operand.high);
  if (!operand.order.empty()) text += ", \"order\": " + list(operand.order);
  if (operand.slice)
    text += ", \"slice\": " + list(std::vector{operand.slice->begin, operand.slice->end, operand.slice->step});
  return text + "}";
}

/// What a row is called and how much it moves: the members that a list and the figures have in common.
std::string head_of(const Row& row) {
  return "\"id\": " + json_quoted(row.id()) + ", \"kind\": " + json_quoted(name(row.kind)) +
         ", \"op\": " + json_quoted(row.op) + ", \"dtype\": " + json_quoted(name(row.dtype)) +
         ", \"layout\": " + json_quoted(row.layout) + ", \"size\": " + std::to_string(row.size) +
         ", \"size_is\": " + (row.is_extent ? "\"extent\"" : "\"bytes\"") +
         ", \"shape\": " + list(row.output.view_shape()) + ", \"bytes\": " + std::to_string(row.bytes());
}

}  // namespace

std::string json_of(const Row& row) {
  std::string inputs;
  for (const Operand& input : row.inputs) inputs += (inputs.empty() ? "" : ", ") + json_of(input);
  return "{" + head_of(row) + ", \"inputs\": [" + inputs + "], \"output\": " + json_of(row.output) +
         ", \"axes\": " + list(row.axes) + ", \"text\": " + json_quoted(row.text) + "}";
}

std::string json_of(const Row& row, const Result<Measured>& measured) {
  if (!measured) return "{" + head_of(row) + ", \"why\": " + json_quoted(measured.error().to_string()) + "}";
  return "{" + head_of(row) + ", \"ns\": " + number(measured->ns.value) + ", \"low_ns\": " + number(measured->ns.low) +
         ", \"high_ns\": " + number(measured->ns.high) + ", \"rounds\": " + std::to_string(measured->rounds) + "}";
}

}  // namespace troupe::bench::matrix

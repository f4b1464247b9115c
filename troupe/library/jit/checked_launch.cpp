#include "troupe/library/jit/checked_launch.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "troupe/op/jit_report.hpp"

namespace troupe::inline v0::detail {
namespace {

std::string in_parentheses(const std::int32_t (&at)[3]) {
  const auto decimal = [&](int i) { return std::to_string(static_cast<std::uint32_t>(at[i])); };
  return "(" + decimal(0) + ", " + decimal(1) + ", " + decimal(2) + ")";
}

}  // namespace

void add_bounds(op::Launch& op) {
  std::vector<std::uint64_t> bytes;
  std::size_t next = 0;
  for (const std::byte size : op.order) {
    if (size != std::byte{0}) {
      bytes.push_back(0);
      continue;
    }
    const op::View& view = op.arrays[next++].view;
    bytes.push_back(static_cast<std::uint64_t>(op::element_count(view) * size_bytes(view.dtype)));
  }
  const auto all = std::as_bytes(std::span(bytes));
  op.order.push_back(static_cast<std::byte>(all.size()));
  op.scalars.insert(op.scalars.end(), all.begin(), all.end());
}

void begin_report(std::span<std::int32_t> words, std::string_view kernel) {
  std::ranges::fill(words, 0);
  const std::string_view name = kernel.substr(0, op::kReportedKernelBytes - 1);
  std::memcpy(words.data() + sizeof(op::OutsideReport) / sizeof(std::int32_t), name.data(), name.size());
}

Result<void> judge_report(std::span<const std::int32_t> words) {
  op::OutsideReport report;
  std::memcpy(static_cast<void*>(&report), words.data(), sizeof report);
  if (report.is_taken == 0) return {};
  report.name[sizeof report.name - 1] = '\0';
  char kernel[op::kReportedKernelBytes];
  std::memcpy(kernel, words.data() + sizeof report / sizeof(std::int32_t), sizeof kernel);
  kernel[sizeof kernel - 1] = '\0';
  const std::string name = report.name;
  const std::string who =
      "block " + in_parentheses(report.block) + ": thread " + in_parentheses(report.thread) + " touches ";
  const std::string what = name + "[" + std::to_string(report.index) + "], and " + name + " has " +
                           std::to_string(report.elements) + " elements of " + std::to_string(report.element_bytes);
  return fail(ErrorKind::invalid_argument,
              "the kernel " + std::string(kernel) + " was stopped in " + who + what + " bytes");
}

}  // namespace troupe::inline v0::detail

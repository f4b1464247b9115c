#include "bench/actors/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <ostream>
#include <thread>

#include "bench/report.hpp"

namespace troupe::bench::actors {
namespace {

constexpr std::size_t kNameColumns = 51;
constexpr std::size_t kThreadsColumns = 9;
constexpr std::size_t kFigureColumns = 17;

std::string cell(const std::string& text, std::size_t columns) {
  return text + std::string(text.size() < columns ? columns - text.size() : 1, ' ');
}

std::string to_text(const Figure& figure, const std::string& unit) {
  if (!figure.measured()) return "-";
  std::string text = to_string(figure.value, unit);
  char spread[32] = "";
  if (figure.value > 0)
    std::snprintf(spread, sizeof spread, " +-%.0f%%", 50 * (figure.high - figure.low) / figure.value);
  return text + spread;
}

std::string ratio_text(const Line& line) {
  if (!std::isfinite(line.ratio)) return "-";
  if (line.ratio >= 0.1) return to_string_rounded(line.ratio) + "x";
  char text[32];
  std::snprintf(text, sizeof text, "%.2gx", line.ratio);
  return text;
}

void print_line(std::ostream& out, const Line& line) {
  const std::string name = line.shown.name.empty() ? line.row : line.row + ", " + line.shown.name;
  std::string text = cell(name, kNameColumns) + cell(std::to_string(line.threads), kThreadsColumns);
  for (const Figure& figure : line.figures) text += cell(to_text(figure, line.shown.unit), kFigureColumns);
  out << text << ratio_text(line) << '\n';
}

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string json_of(const Figure& figure) {
  return "{\"value\": " + number(figure.value) + ", \"low\": " + number(figure.low) +
         ", \"high\": " + number(figure.high) + ", \"worst\": " + number(figure.worst) + "}";
}

std::string json_of(const Line& line) {
  return "{\"row\": \"" + line.row + "\", \"figure\": \"" + line.shown.name + "\", \"unit\": \"" + line.shown.unit +
         "\", \"threads\": " + std::to_string(line.threads) + ", \"ratio\": " + number(line.ratio) +
         ",\n     \"ours\": " + json_of(line.figures[kOurs]) + ", \"caf\": " + json_of(line.figures[kCaf]) +
         ", \"asio\": " + json_of(line.figures[kAsio]) + ", \"bare\": " + json_of(line.figures[kBare]) + "}";
}

/// What the kernel calls the processor.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.find(':') + 2, line.size()));
  return "unknown processor";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm date{};
  ::localtime_r(&now, &date);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &date);
  return text;
}

}  // namespace

std::string to_string(double value, const std::string& unit) {
  constexpr std::array<const char*, 4> kTimes = {"ns", "us", "ms", "s"};
  auto place = std::ranges::find(kTimes, unit);
  if (place == kTimes.end()) return to_string_rounded(value) + " " + unit;
  for (; value >= 9999.5 && place + 1 != kTimes.end(); ++place) value /= 1000;
  return to_string_rounded(value) + " " + *place;
}

void print_table(std::ostream& out, std::span<const Line> lines, const Sides& sides) {
  const auto head = [&](const std::string& name) {
    out << cell(name, kNameColumns) << cell("threads", kThreadsColumns) << cell("ours", kFigureColumns)
        << cell("CAF", kFigureColumns) << cell("Asio", kFigureColumns) << cell("bare threads", kFigureColumns)
        << "ratio\n"
        << std::string(kNameColumns + kThreadsColumns + kSides * kFigureColumns + 6, '-') << '\n';
  };
  const auto lost = static_cast<std::size_t>(std::ranges::count_if(lines, &Line::is_lost));
  if (lost > 0) {
    head("where we lose, the worst first");
    for (const Line& line : lines.first(lost)) print_line(out, line);
    out << '\n';
  }
  if (lost < lines.size()) {
    head("the others");
    for (const Line& line : lines.subspan(lost)) print_line(out, line);
    out << '\n';
  }
  out << lines.size() << " figures, " << lost << " lost. Less is better in all of them. Medians of the rounds; +- is "
      << "half the distance of the quartiles; ratio is how many times as good as the better of the others we are.\n";
  for (const Side side : {kCaf, kAsio})
    if (!sides[side].version.empty())
      out << "Beside " << sides[side].version << ".\n";
    else
      out << "Built without " << (side == kCaf ? "CAF" : "Boost.Asio") << ": it was not found.\n";
}

void write_json(std::ostream& out, std::span<const Line> lines, const Sides& sides, bool is_quick) {
  out << "{\n  \"machine\": {\"cpu\": \"" << processor() << "\", \"cores\": " << std::thread::hardware_concurrency()
      << ", \"date\": \"" << today() << "\"},\n  \"sides\": [\"" << sides[kOurs].version << "\", \""
      << sides[kCaf].version << "\", \"" << sides[kAsio].version
      << "\"],\n  \"quick\": " << (is_quick ? "true" : "false") << ",\n  \"lines\": [\n";
  for (std::size_t i = 0; i < lines.size(); ++i)
    out << "    " << json_of(lines[i]) << (i + 1 < lines.size() ? ",\n" : "\n");
  out << "  ]\n}\n";
}

}  // namespace troupe::bench::actors

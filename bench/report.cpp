#include "bench/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <thread>

namespace troupe::bench {
namespace {

constexpr int kNameColumns = 48;
constexpr int kFigureColumns = 18;
constexpr int kRatioColumns = 9;
constexpr int kLimitColumns = 17;

/// The text and at least one space, filled up to the column's width.
std::string cell(const std::string& text, int columns) {
  const auto width = static_cast<std::size_t>(columns);
  return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

std::string to_text(const Figure& figure, const Row& row) {
  if (!figure.measured()) return "-";
  std::string text = to_string_rounded(figure.value) + " " + row.unit;
  if (figure.value > 0 && row.pick == Pick::median) {
    char spread[32];
    std::snprintf(spread, sizeof spread, " +-%.0f%%", 50 * (figure.high - figure.low) / figure.value);
    text += spread;
  }
  return text;
}

void print_line(std::ostream& out, const std::string& name, const std::string& ours, const std::string& reference,
                const std::string& ratio, const std::string& limit, const std::string& status) {
  std::string line = cell(name, kNameColumns) + cell(ours, kFigureColumns) + cell(reference, kFigureColumns) +
                     cell(ratio, kRatioColumns) + cell(limit, kLimitColumns) + status;
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

std::string quoted(const std::string& text) {
  std::string quoted_text = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted_text += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      quoted_text += escape;
    } else {
      quoted_text += c;
    }
  }
  return quoted_text + "\"";
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

std::string json_of_references(const Outcome& outcome) {
  std::string text = "[";
  for (std::size_t i = 0; i < outcome.references.size(); ++i) {
    if (i > 0) text += ", ";
    text += "{\"name\": " + quoted(outcome.row.references.all[i].name) +
            ", \"figure\": " + json_of(outcome.references[i]) + ", \"ratio\": " + number(outcome.comparisons[i].ratio) +
            ", \"over\": " + number(outcome.comparisons[i].over) + "}";
  }
  return text + "]";
}

std::string name_of(Limit::Kind kind) {
  switch (kind) {
    case Limit::Kind::at_least_times: return "at_least_times";
    case Limit::Kind::at_most_times: return "at_most_times";
    case Limit::Kind::at_most_over: return "at_most_over";
    case Limit::Kind::at_most: return "at_most";
    case Limit::Kind::below: return "below";
    case Limit::Kind::printed: return "printed";
  }
  return "unknown";
}

std::string json_of(const Limit& limit, const std::string& unit) {
  return "{\"kind\": " + quoted(name_of(limit.kind())) + ", \"bound\": " + number(limit.bound()) +
         ", \"text\": " + quoted(limit.to_string(unit)) + "}";
}

std::string json_of(const Outcome& outcome) {
  const Row& row = outcome.row;
  const int best = outcome.best_reference;
  return "{\"name\": " + quoted(row.name) + ", \"unit\": " + quoted(row.unit) +
         ", \"better\": " + (row.better == Better::lower ? "\"lower\"" : "\"higher\"") +
         ",\n     \"ours\": " + json_of(outcome.ours) +
         ",\n     \"reference\": " + (best < 0 ? "null" : quoted(row.references.all[best].name)) +
         ", \"ratio\": " + number(outcome.with_best().ratio) +
         ",\n     \"references\": " + json_of_references(outcome) +
         ",\n     \"limit\": " + json_of(row.limit, row.unit) +
         ", \"status\": " + (outcome.status == Status::missed ? "\"missed\"" : quoted(to_string(outcome.status))) +
         ", \"why\": " + quoted(outcome.why) + "}";
}

/// "GCC 12.2.0", "Clang 19.1.7".
std::string compiler() {
#if defined(__clang__)
  return std::string("Clang ") + __clang_version__;
#else
  return std::string("GCC ") + __VERSION__;
#endif
}

}  // namespace

std::string to_string(Status status) {
  switch (status) {
    case Status::ok: return "ok";
    case Status::missed: return "MISSED";
    case Status::skipped: return "skipped";
    case Status::printed: return "printed";
  }
  return "unknown";
}

std::string to_string_rounded(double value) {
  const double size = std::abs(value);
  const int decimals = value == std::round(value) || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string to_string_compared(const Outcome& outcome, int reference) {
  const Row& row = outcome.row;
  const auto [ratio, over] = outcome.with(reference);
  if (!std::isfinite(ratio)) return "-";
  if (row.limit.kind() != Limit::Kind::at_most_over) return to_string_rounded(row.limit.as_stated(ratio)) + "x";
  return (over < 0 ? "" : "+") + to_string_rounded(over) + " " + row.unit;
}

void print_head(std::ostream& out) {
  print_line(out, "row", "ours", "reference", "ratio", "limit", "status");
  out << std::string(kNameColumns + 2 * kFigureColumns + kRatioColumns + kLimitColumns + 7, '-') << '\n';
}

void print_outcome(std::ostream& out, const Outcome& outcome) {
  const Row& row = outcome.row;
  const int best = outcome.best_reference;
  print_line(out, row.name, to_text(outcome.ours, row), best < 0 ? "-" : to_text(outcome.references[best], row),
             to_string_compared(outcome, best), row.limit.to_string(row.unit),
             to_string(outcome.status) + (outcome.is_second && outcome.status == Status::ok ? ", 2nd" : ""));
  if (row.shows_worst && outcome.ours.measured())
    print_line(out, "    the worst of " + std::to_string(row.rounds) + " rounds",
               to_string_rounded(outcome.ours.worst) + " " + row.unit, "", "", "", "");
  for (std::size_t i = 0; i < outcome.references.size(); ++i) {
    print_line(out, "    " + row.references.all[i].name, "", to_text(outcome.references[i], row),
               to_string_compared(outcome, static_cast<int>(i)), "", "");
  }
  if (!outcome.why.empty()) {
    out << "    " << to_string(outcome.status) << ": " << outcome.why << '\n';
  } else if (!row.references.why_none.empty()) {
    out << "    no reference: " << row.references.why_none << '\n';
  }
  out << std::flush;
}

void print_summary(std::ostream& out, std::span<const Outcome> outcomes) {
  const auto count = [&](Status status) { return std::ranges::count(outcomes, status, &Outcome::status); };
  out << '\n'
      << outcomes.size() << " rows: " << count(Status::ok) << " ok, " << count(Status::missed) << " missed, "
      << count(Status::skipped) << " skipped, " << count(Status::printed)
      << " without a limit. Medians; +- is half the distance of the quartiles.\n";
}

void write_json(std::ostream& out, std::span<const Outcome> outcomes, bool quick) {
  out << "{\n  \"compiler\": " << quoted(compiler()) << ",\n  \"cores\": " << std::thread::hardware_concurrency()
      << ",\n  \"quick\": " << (quick ? "true" : "false") << ",\n  \"rows\": [\n";
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    out << "    " << json_of(outcomes[i]) << (i + 1 < outcomes.size() ? ",\n" : "\n");
  }
  out << "  ]\n}\n";
}

}  // namespace troupe::bench

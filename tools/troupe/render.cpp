#include "tools/troupe/render.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

namespace troupe::tool {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kStateWidth = 7;  // of "missing"

std::string padded(std::string_view text, std::size_t width) {
  std::string result(text);
  result.resize(std::max(width, text.size()), ' ');
  return result;
}

/// The text in lines that begin with `indent` spaces.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string result;
  std::string line;
  std::istringstream words(text);
  const auto end_line = [&] { result += std::string(indent, ' ') + line + '\n'; };
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > kColumns) {
      end_line();
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  end_line();
  return result;
}

std::size_t thing_width(const Report& report) {
  std::size_t width = 0;
  for (const Section& section : report.sections)
    for (const Line& line : section.lines) width = std::max(width, line.thing.size());
  return width;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      result += c;
      continue;
    }
    std::array<char, 8> escape{};
    std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    result += escape.data();
  }
  return result + '"';
}

std::string json_line(const std::string& section, const Line& line) {
  return "{\"section\": " + quoted(section) + ", \"state\": " + quoted(name(line.state)) +
         ", \"thing\": " + quoted(line.thing) + ", \"found\": " + quoted(line.found) +
         ", \"advice\": " + quoted(line.advice) + "}";
}

}  // namespace

std::string to_text(const Report& report) {
  const std::size_t width = thing_width(report);
  std::string text = report.version + "\n";
  for (const Section& section : report.sections) {
    text += "\n" + section.title + "\n";
    for (std::size_t i = 0; i < section.lines.size(); ++i) {
      const Line& line = section.lines[i];
      text +=
          "  " + padded(name(line.state), kStateWidth) + "  " + padded(line.thing, width) + "  " + line.found + "\n";
      const bool repeated = i + 1 < section.lines.size() && section.lines[i + 1].advice == line.advice;
      if (!line.advice.empty() && !repeated) text += wrapped(line.advice, 2 + kStateWidth + 2 + 2);
    }
  }
  return text + "\n" + report.conclusion + "\n";
}

std::string to_json(const Report& report) {
  std::string lines;
  for (const Section& section : report.sections)
    for (const Line& line : section.lines) lines += (lines.empty() ? "\n  " : ",\n  ") + json_line(section.title, line);
  return "{\"version\": " + quoted(report.version) + ", \"works\": " + (report.works() ? "true" : "false") +
         ", \"conclusion\": " + quoted(report.conclusion) + ", \"lines\": [" + lines + "\n]}\n";
}

}  // namespace troupe::tool

// Twenty mistakes that people make at run time, and what they are told: docs/mistakes.md, row by row. Those that do not
// compile are in tests/compile_fail.
#include <fstream>
#include <functional>
#include <string>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class Mistakes : public DeviceTest {
 protected:
  struct Mistake {
    const char* what;
    std::function<Result<void>()> make;
  };
  template <class R>
  static Result<void> end_of(const Result<R>& result) {
    if (!result) return fail(result.error());
    return {};
  }
  std::vector<Mistake> all();

  Device device = open();
  Device another = value(system.device("host", patient()));
  const Array<float> a = filled(device, {2, 3}, 1.0f), square = filled(device, {3, 3}, 0.0f),
                     v = filled(device, {3}, 1.0f);
};

struct Impatient {
  struct Go {
    using Reply = void;
    Device device;
  };
  Result<void> on(Go message) { return message.device.nop().get(); }
};

std::vector<Mistakes::Mistake> Mistakes::all() {
  return {
      {"a product of matrices that do not fit", [&] { return device.blas().gemm(a, a, square).get(); }},
      {"an output that is an input", [&] { return device.blas().gemm(a, square, a).get(); }},
      {"a type that an op does not take",
       [&] {
         const Array<bool> mask = filled(device, {3, 3}, true);
         return device.blas().gemm(mask, mask, mask).get();
       }},
      {"too few elements", [&] { return device.write(a, std::vector<float>{1, 2, 3}).get(); }},
      {"an array that was never made", [&] { return device.fill(Array<float>(), 1.0f).get(); }},
      {"an array of another device", [&] { return device.fill(filled(another, {3}, 1.0f), 2.0f).get(); }},
      {"an extent below zero", [&] { return end_of(device.array<float>({3, -1})); }},
      {"more memory than there is", [&] { return end_of(device.array<float>({1 << 30, 1 << 30})); }},
      {"a slice beyond the end", [&] { return end_of(a.slice(1, 0, 4)); }},
      {"a shape with another number of elements", [&] { return end_of(a.reshape({4, 2})); }},
      {"an axis that is not there",
       [&] { return device.tensor().reduce(Reduction::sum, a, {2}, filled(device, {2}, 0.0f)).get(); }},
      {"an einsum with a wrong extent", [&] { return device.tensor().einsum("ik,ij->kj", a, square, square).get(); }},
      {"a plugin that is not there", [&] { return device.call_plugin("/nowhere/libmine.so", "run").get(); }},
      {"a function that a plugin does not have", [&] { return bad(device, "no_such_function").get(); }},
      {"a deadline of zero", [&] { return device.nop().deadline(Duration(0)).get(); }},
      {"waiting in a handler", [&] { return value(system.spawn<Impatient>({})).ask<Impatient::Go>(device).get(); }},
      {"a result of an op that has failed",
       [&] {
         value(bad(device, "error", {updates(v)}).submit());
         return device.wait_for(v).get();
       }},
      {"a write to what is sealed",
       [&] {
         const Array<float> weights = value(device.sealable_array<float>({4}));
         value(device.fill(weights, 1.0f).get());
         value(device.seal(weights).get());
         return device.fill(weights, 2.0f).get();
       }},
      {"an op of another device in a scope",
       [&] {
         Scope on(device);
         on.run(another.fill(filled(another, {3}, 1.0f), 2.0f));
         return on.end().get();
       }},
      {"an op after the end of its scope",
       [&] {
         Scope on(device);
         value(on.end().get());
         on.run(device.fill(a, 2.0f));
         return end_of(on.read(a).get());
       }},
  };
}

/// Whether the parts of `pattern` between its "..." come one after another in `text`, which ends with the last.
bool matches(std::string_view text, std::string_view pattern) {
  for (bool is_first = true;; is_first = false) {
    const std::size_t end = pattern.find("...");
    const std::string_view part = pattern.substr(0, end);
    if (end == std::string_view::npos) return is_first ? text == part : text.ends_with(part);
    const std::size_t at = text.find(part);
    if (at == std::string_view::npos || (is_first && at != 0)) return false;
    text.remove_prefix(at + part.size());
    pattern.remove_prefix(end + 3);
  }
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST_F(Mistakes, are_told_as_the_document_says) {
  const std::vector<std::string> document = lines_of(TROUPE_DOCS "/mistakes.md");
  const std::vector<Mistake> mistakes = all();
  EXPECT_EQ(mistakes.size(), 20U);
  for (const Mistake& mistake : mistakes) {
    const Result<void> end = mistake.make();
    ASSERT_FALSE(end) << mistake.what;
    std::string message(end.error().message());
    message = message.substr(0, message.find('\n'));
    const std::string row =
        std::string("| ") + mistake.what + " | `" + std::string(name(end.error().kind())) + "` | " + message + " |";
    EXPECT_TRUE(std::ranges::any_of(document, [&](const std::string& line) { return matches(row, line); }))
        << "docs/mistakes.md has no row\n"
        << row;
  }
}

TEST_F(Mistakes, that_do_not_compile_are_in_the_document_too) {
  const std::vector<std::string> document = lines_of(TROUPE_DOCS "/mistakes.md");
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(TROUPE_DOCS "/../tests/compile_fail")) {
    const std::string stem = file.path().stem().string();
    ++count;
    EXPECT_TRUE(std::ranges::any_of(
        document,
        [&](const std::string& line) { return line.find("compile_fail/" + stem + ".cpp") != std::string::npos; }))
        << "docs/mistakes.md has no row of " << stem;
  }
  EXPECT_GE(count, 20);
}

}  // namespace
}  // namespace troupe

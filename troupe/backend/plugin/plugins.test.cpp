#include "troupe/backend/plugin/plugins.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "troupe/core/sanitized.hpp"

namespace troupe::backend {
namespace {

/// The test plugins are built beside the test.
std::string plugin_path(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / ("lib" + name + ".so");
}

/// A path that no file has, and that the loader has not heard of: it remembers names for as long as the process lives.
std::string unused_path() {
  static int count = 0;
  return testing::TempDir() + "troupe_" + std::to_string(getpid()) + "_" + std::to_string(++count) + ".so";
}

template <class... Ts>
std::vector<std::byte> bytes_of(Ts... values) {
  std::vector<std::byte> bytes((sizeof(Ts) + ...));
  std::size_t used = 0;
  ((std::memcpy(bytes.data() + used, &values, sizeof(Ts)), used += sizeof(Ts)), ...);
  return bytes;
}

op::PluginCall bad_plugin(std::string function, std::vector<std::byte> parameters = {}) {
  return {.path = plugin_path("bad_plugin"),
          .function = std::move(function),
          .arrays = {},
          .parameters = std::move(parameters)};
}

template <class T>
PluginArgument vector_of(std::vector<T>& values, op::Access access) {
  const auto size = static_cast<std::int64_t>(values.size());
  return {.data = values.data(), .dtype = dtype_of<T>, .shape = {size}, .strides = {1}, .access = access};
}

Result<void> call(Plugins& plugins, const op::PluginCall& op, std::vector<PluginArgument> arrays = {},
                  const LogFn& log = {}) {
  bool has_refused = false;
  return plugins.call(op, arrays, nullptr, log, has_refused);
}

/// Expects an error of that kind whose sentence has all those parts.
void expect_error(const Result<void>& result, ErrorKind kind, const std::vector<std::string>& parts) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind(), kind) << result.error().to_string();
  for (const std::string& part : parts) {
    EXPECT_NE(result.error().message().find(part), std::string_view::npos)
        << "no \"" << part << "\" in: " << result.error().to_string();
  }
}

TEST(Plugins, a_function_works_on_the_arrays_in_place) {
  Plugins plugins;
  std::vector<float> values = {1, 2, 3};
  ASSERT_TRUE(call(plugins, bad_plugin("scale", bytes_of(2.0f)), {vector_of(values, op::Access::update)}));
  EXPECT_EQ(values, (std::vector<float>{2, 4, 6}));
}

TEST(Plugins, a_function_sees_shape_and_strides_in_elements) {
  Plugins plugins;
  std::vector<float> matrix(12);
  std::iota(matrix.begin(), matrix.end(), 0.0f);
  std::vector<float> out(6);
  const PluginArgument transposed_corner = {
      .data = matrix.data(), .dtype = DType::f32, .shape = {3, 2}, .strides = {1, 4}, .access = op::Access::read};
  ASSERT_TRUE(call(plugins, bad_plugin("copy"), {transposed_corner, vector_of(out, op::Access::write)}));
  EXPECT_EQ(out, (std::vector<float>{0, 4, 1, 5, 2, 6}));
}

TEST(Plugins, a_function_reads_one_array_and_writes_another_of_another_type) {
  Plugins plugins;
  std::vector<float> values = {1, 2, 3.5f};
  std::vector<double> sum(1);
  ASSERT_TRUE(
      call(plugins, bad_plugin("sum"), {vector_of(values, op::Access::read), vector_of(sum, op::Access::write)}));
  EXPECT_EQ(sum[0], 6.5);
}

TEST(Plugins, parameters_arrive_as_they_were) {
  Plugins plugins;
  std::vector<float> values(2);
  ASSERT_TRUE(
      call(plugins, bad_plugin("spin_ms", bytes_of(std::int32_t{1}, 3.0f)), {vector_of(values, op::Access::write)}));
  EXPECT_EQ(values, (std::vector<float>{3, 3}));
}

TEST(Plugins, a_call_waits_for_a_flag_that_another_thread_writes) {
  Plugins plugins;
  std::vector<std::uint32_t> flag(1);
  std::vector<float> in = {5};
  std::vector<float> out = {0};
  std::jthread writer([&] { std::atomic_ref(flag[0]).store(1, std::memory_order_release); });
  ASSERT_TRUE(
      call(plugins, bad_plugin("wait_for_flag"),
           {vector_of(flag, op::Access::read), vector_of(in, op::Access::read), vector_of(out, op::Access::write)}));
  EXPECT_EQ(out[0], 5);
}

TEST(Plugins, a_failure_carries_the_plugins_text_code_and_name) {
  Plugins plugins;
  const Result<void> result = call(plugins, bad_plugin("error"));
  expect_error(result, ErrorKind::library_error, {"the plugin said no"});
  EXPECT_EQ(result.error().origin().library, "bad_plugin");
  EXPECT_EQ(result.error().origin().native_code, 42);
  EXPECT_EQ(result.error().origin().op, "plugin.call error");
}

TEST(Plugins, a_failure_without_a_text_names_the_function_and_the_status) {
  Plugins plugins;
  const Result<void> result = call(plugins, bad_plugin("error", bytes_of(std::int32_t{-3})));
  expect_error(result, ErrorKind::library_error, {"error", "-3"});
  EXPECT_EQ(result.error().origin().native_code, -3);
}

TEST(Plugins, a_refusal_is_told_from_a_failure) {
  Plugins plugins;
  bool has_refused = false;
  expect_error(plugins.call(bad_plugin("refuse"), {}, nullptr, {}, has_refused), ErrorKind::invalid_argument,
               {"refuse takes one array"});
  EXPECT_TRUE(has_refused);
  has_refused = false;
  expect_error(plugins.call(bad_plugin("error"), {}, nullptr, {}, has_refused), ErrorKind::library_error,
               {"the plugin said no"});
  EXPECT_FALSE(has_refused);
}

TEST(Plugins, what_a_function_logs_goes_where_the_caller_says) {
  Plugins plugins;
  std::vector<std::pair<LogLevel, std::string>> lines;
  const LogFn log = [&](LogLevel level, std::string_view text) { lines.emplace_back(level, text); };
  EXPECT_FALSE(call(plugins, bad_plugin("error"), {}, log));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].first, LogLevel::warning);
  EXPECT_EQ(lines[0].second, "about to say no");
}

TEST(Plugins, an_exception_becomes_a_library_error) {
  Plugins plugins;
  const Result<void> result = call(plugins, bad_plugin("throw"));
  expect_error(result, ErrorKind::library_error, {"throw", "threw: nobody catches this"});
  EXPECT_EQ(result.error().origin().library, "bad_plugin");
}

TEST(Plugins, an_exhausted_memory_becomes_out_of_memory_and_the_next_call_works) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's allocator ends the process where the ordinary one throws";
  Plugins plugins;
  const Result<void> result = call(plugins, bad_plugin("memory", bytes_of(std::int64_t{64} << 20)));
  expect_error(result, ErrorKind::out_of_memory, {"memory"});
  EXPECT_EQ(result.error().origin().op, "plugin.call memory");
  std::vector<float> values = {1};
  EXPECT_TRUE(call(plugins, bad_plugin("scale", bytes_of(2.0f)), {vector_of(values, op::Access::update)}));
}

TEST(Plugins, an_unknown_function_is_refused_with_the_names_there_are) {
  Plugins plugins;
  expect_error(call(plugins, bad_plugin("scael")), ErrorKind::invalid_argument,
               {plugin_path("bad_plugin"), "no function \"scael\"", "scale, copy, sum"});
}

TEST(Plugins, a_missing_file_is_refused_and_looked_for_again) {
  Plugins plugins;
  const std::string path = unused_path();
  op::PluginCall op = bad_plugin("spin_ms", bytes_of(std::int32_t{0}));
  op.path = path;
  expect_error(call(plugins, op), ErrorKind::invalid_argument, {path, "No such file"});
  std::filesystem::create_symlink(plugin_path("bad_plugin"), path);
  EXPECT_TRUE(call(plugins, op));
  std::filesystem::remove(path);
}

TEST(Plugins, a_file_that_is_no_shared_object_is_refused) {
  Plugins plugins;
  const std::string path = unused_path();
  std::ofstream(path) << "this is not a shared object, and it is long enough for the loader to look at its header\n";
  expect_error(plugins.load(path), ErrorKind::invalid_argument, {path, "cannot be loaded"});
  std::filesystem::remove(path);
}

TEST(Plugins, a_shared_object_without_the_symbol_is_refused_each_time) {
  Plugins plugins;
  const std::string path = plugin_path("not_a_plugin");
  for (int i = 0; i < 2; ++i) expect_error(plugins.load(path), ErrorKind::invalid_argument, {path, "troupe_plugin"});
}

TEST(Plugins, another_version_of_the_interface_is_refused) {
  Plugins plugins;
  const std::string path = plugin_path("other_abi_plugin");
  expect_error(plugins.load(path), ErrorKind::invalid_argument, {path, "version 999", "version 1"});
}

TEST(Plugins, a_table_that_cannot_be_is_refused) {
  const TroupeFunction unnamed = {.name = nullptr, .call = nullptr};
  const TroupePlugin good = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "good", 0, nullptr};
  EXPECT_TRUE(check(&good, "p.so"));
  expect_error(check(nullptr, "p.so"), ErrorKind::invalid_argument, {"p.so", "no table"});
  TroupePlugin bad = good;
  bad.magic = 0xabad1dea;
  expect_error(check(&bad, "p.so"), ErrorKind::invalid_argument, {"p.so", "0xabad1dea", "0x50555254"});
  bad = good;
  bad.name = nullptr;
  expect_error(check(&bad, "p.so"), ErrorKind::invalid_argument, {"p.so", "no name"});
  bad = good;
  bad.function_count = 1;
  expect_error(check(&bad, "p.so"), ErrorKind::invalid_argument, {"p.so", "functions are missing"});
  bad.functions = &unnamed;
  expect_error(check(&bad, "p.so"), ErrorKind::invalid_argument, {"p.so", "no name or no address"});
  bad.function_count = kMaxPluginFunctions + 1;
  expect_error(check(&bad, "p.so"), ErrorKind::invalid_argument, {"p.so", "4097", "4096"});
}

TEST(Plugins, a_path_without_a_slash_is_looked_up_by_the_loader) {
  Plugins plugins;
  expect_error(plugins.load("libm.so.6"), ErrorKind::invalid_argument, {"libm.so.6 is no plugin"});
  expect_error(plugins.load("libtroupe_nowhere.so"), ErrorKind::invalid_argument, {"libtroupe_nowhere.so", "No such"});
}

TEST(Plugins, a_path_that_means_something_else_to_the_loader_is_refused) {
  Plugins plugins;
  expect_error(plugins.load(""), ErrorKind::invalid_argument, {"empty"});
  expect_error(plugins.load(std::string("a\0b", 3)), ErrorKind::invalid_argument, {"\"a\"", "zero byte"});
}

TEST(Plugins, a_function_of_any_name_takes_what_no_other_does) {
  Plugins plugins;
  const auto call_of = [](std::string function) -> op::PluginCall {
    return {.path = plugin_path("any_plugin"), .function = std::move(function), .arrays = {}, .parameters = {}};
  };
  EXPECT_TRUE(call(plugins, call_of("named")));
  for (const std::string name : {"module.function", "*", "name"})
    expect_error(call(plugins, call_of(name)), ErrorKind::invalid_argument, {name});
}

TEST(Plugins, preparing_says_whether_the_plugin_is_new) {
  Plugins plugins;
  EXPECT_TRUE(*plugins.prepare(bad_plugin("scale")));
  EXPECT_FALSE(*plugins.prepare(bad_plugin("copy")));
  EXPECT_FALSE(plugins.prepare(bad_plugin("nothing")).has_value());
}

TEST(Plugins, too_many_arrays_or_parameters_are_refused) {
  Plugins plugins;
  EXPECT_FALSE(call(plugins, bad_plugin("copy"), std::vector<PluginArgument>(op::kMaxPluginArrays + 1)));
  EXPECT_FALSE(call(plugins, bad_plugin("copy", std::vector<std::byte>(op::kMaxParameterBytes + 1))));
}

TEST(Plugins, beyond_the_limit_no_more_are_loaded_and_the_loaded_go_on) {
  Plugins plugins(1);
  const op::PluginCall op = bad_plugin("spin_ms", bytes_of(std::int32_t{0}));
  ASSERT_TRUE(call(plugins, op));
  expect_error(plugins.load("libm.so.6"), ErrorKind::out_of_memory, {"libm.so.6", "limit"});
  EXPECT_TRUE(call(plugins, op));
}

TEST(Plugins, threads_may_make_the_first_call_at_once) {
  Plugins plugins(1);
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          std::vector<float> values = {1, 2};
          const Result<void> result =
              call(plugins, bad_plugin("scale", bytes_of(3.0f)), {vector_of(values, op::Access::update)});
          if (result && values == std::vector<float>{3, 6}) ++done;
        }
      });
    }
  }
  EXPECT_EQ(done.load(), 200);
}

}  // namespace
}  // namespace troupe::backend

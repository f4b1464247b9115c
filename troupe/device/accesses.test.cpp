// What a program's own code may do with its arrays: one array by two pointers, a refusal that spoils nothing. And calls
// that have a name, stand in a vector, or are awaited each by each.
#include <vector>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class Accesses : public DeviceTest {
 protected:
  template <class R>
  static std::string text_of(const Result<R>& end) {
    return end ? "no error" : end.error().to_string();
  }
  static std::uint_least32_t here(std::source_location where = std::source_location::current()) { return where.line(); }

  Device device = open();
};

TEST_F(Accesses, one_array_may_be_two_arguments_when_one_of_them_is_read) {
  const Array<float> a = filled(device, {4}, 3.0f);
  EXPECT_TRUE(bad(device, "copy", {reads(a), writes(a)}).get());
  EXPECT_TRUE(bad(device, "copy", {reads(a), updates(a)}).get());
  EXPECT_TRUE(bad(device, "copy", {updates(a), reads(a)}).get());
  EXPECT_TRUE(bad(device, "copy", {updates(a), writes_part(a)}).get());
  EXPECT_TRUE(all_equal(device, a, 3.0f));
  const Result<void> twice = bad(device, "copy", {writes(a), writes(a)}).get();
  EXPECT_EQ(kind_of(twice), ErrorKind::invalid_argument);
  EXPECT_NE(text_of(twice).find("overlap"), std::string::npos) << text_of(twice);
  const Result<void> other_views = bad(device, "copy", {reads(a), writes(value(a.slice(0, -1, -1, -1)))}).get();
  EXPECT_EQ(kind_of(other_views), ErrorKind::invalid_argument) << "the elements are not at the same places";
}

TEST_F(Accesses, by_two_pointers_an_op_works_in_place) {
  const Array<float> whole = filled(device, {4}, 1.0f), never_written = value(device.array<float>({4}));
  EXPECT_EQ(kind_of(bad(device, "copy", {reads(never_written), writes(never_written)}).get()),
            ErrorKind::buffer_tainted)
      << "it is read, and empty";
  EXPECT_EQ(kind_of(bad(device, "error", {reads(whole), writes(whole)}).get()), ErrorKind::library_error);
  EXPECT_EQ(whole.content(), Content::unknown);
  EXPECT_EQ(kind_of(bad(device, "copy", {reads(whole), writes(whole)}).get()), ErrorKind::buffer_tainted);
}

TEST_F(Accesses, what_works_in_place_by_two_pointers_is_not_run_again) {
  Gate gate = make_gate(device);
  const Array<float> a = filled(device, {4}, 1.0f), b = filled(device, {4}, 0.0f);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(a), writes(a)}).submit());
  gate.wait_until_begun();
  kill_worker(device);
  gate.open();
  EXPECT_EQ(kind_of(device.wait_for(a).get()), ErrorKind::buffer_tainted);
  gate = make_gate(device);
  value(device.fill(a, 1.0f).get());
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(a), writes(b)}).submit());
  gate.wait_until_begun();
  kill_worker(device);
  gate.open();
  EXPECT_TRUE(all_equal(device, b, 1.0f)) << "with two arrays it is";
}

TEST_F(Accesses, a_plugin_that_refuses_its_arguments_taints_nothing) {
  const Array<float> a = filled(device, {4}, 5.0f);
  const Result<void> end = bad(device, "refuse", {updates(a)}).get();
  EXPECT_EQ(kind_of(end), ErrorKind::invalid_argument);
  EXPECT_NE(text_of(end).find("refuse takes one array [library bad_plugin, code 7, op plugin.call refuse"),
            std::string::npos)
      << text_of(end);
  EXPECT_TRUE(all_equal(device, a, 5.0f));
  ASSERT_TRUE(bad(device, "refuse", {writes(a)}).submit());  // nobody looks at it
  EXPECT_EQ(kind_of(device.read(a).get()), ErrorKind::buffer_tainted);
  EXPECT_EQ(a.content(), Content::skipped) << "it holds what it held, and whoever reads it is told";
  ASSERT_TRUE(a.accept_skipped());
  EXPECT_TRUE(all_equal(device, a, 5.0f));
}

TEST_F(Accesses, await_each_says_at_once_which_op_fails) {
  const Device patient_one = open({.max_restarts = 1000, .await_each = true});
  const Array<float> a = filled(patient_one, {4}, 1.0f);
  const Result<void> end = bad(patient_one, "error", {writes(a)}).submit();
  EXPECT_EQ(kind_of(end), ErrorKind::library_error);
  EXPECT_EQ(end.error().origin().where.line(), here() - 2);
  EXPECT_EQ(kind_of(patient_one.fill(a, 2.0f).submit()), static_cast<ErrorKind>(255));
  EXPECT_EQ(patient_one.stats().waiting, 0U);
  Scope on(patient_one);
  on.run(bad(patient_one, "error", {writes(a)}));
  EXPECT_TRUE(on.error()) << "the scope has waited for it";
  EXPECT_EQ(on.error()->origin().where.line(), here() - 2);
}

TEST_F(Accesses, await_each_waits_in_a_task_too) {
  const Device patient_one = open({.max_restarts = 1000, .await_each = true});
  const auto task = [](Device gpu) -> Task<Result<bool>> {
    const Array<float> a = CO_TRY(gpu.array<float>({4}));
    Scope on(gpu);
    on.run(bad(gpu, "error", {writes(a)}));
    const bool was_told_at_once = on.error().has_value();
    const Result<void> end = co_await gpu.call_plugin(beside("libbad_plugin.so"), "error", writes(a)).submit();
    co_return was_told_at_once&& kind_of(end) == ErrorKind::library_error;
  };
  EXPECT_TRUE(value(system.run(task(patient_one))));
}

TEST_F(Accesses, a_call_that_has_a_name_can_be_told_more) {
  const Array<float> a = filled(device, {4}, 1.0f);
  Call<void> call = device.fill(a, 2.0f);
  call.deadline(std::chrono::seconds(20)).wait_at_most(std::chrono::seconds(20));
  call.try_now();
  call.cancel_on(std::stop_token());
  EXPECT_TRUE(std::move(call).get());
  Call<void> late = device.fill(a, 3.0f);
  late.deadline(Duration(0));
  EXPECT_EQ(kind_of(std::move(late).get()), ErrorKind::deadline_exceeded);
}

TEST_F(Accesses, calls_in_a_vector_are_awaited_together) {
  const auto task = [](Device gpu) -> Task<Result<float>> {
    std::vector<Array<float>> arrays;
    std::vector<Call<void>> fills;
    for (int i = 0; i < 8; ++i) {
      arrays.push_back(CO_TRY(gpu.array<float>({4})));
      fills.push_back(gpu.fill(arrays.back(), static_cast<float>(i)));
    }
    for (Result<void>& end : co_await when_all(std::move(fills))) CO_TRY(std::move(end));
    std::vector<Call<HostArray<float>>> reads;
    for (const Array<float>& array : arrays) reads.push_back(gpu.read(array));
    float sum = 0;
    for (Result<HostArray<float>>& read : co_await when_all(std::move(reads))) sum += CO_TRY(std::move(read))[0];
    std::vector<Call<void>> nops;
    nops.push_back(gpu.nop());
    CO_TRY((co_await when_any(std::move(nops))).value);
    co_return sum;
  };
  EXPECT_EQ(value(system.run(task(device))), 28.0f);
}

TEST_F(Accesses, a_call_of_several_ops_has_the_line_that_calls_it) {
  const Array<float> a = filled(device, {4}, 1.0f);
  std::vector<float> few(3);
  const Result<void> end = device.read_into(a, few).get();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().origin().where.line(), here() - 2);
  EXPECT_FALSE(bad(device, "error", {writes(a)}).get());
  std::vector<float> four(4);
  const auto task = [](Device gpu, Array<float> from, std::vector<float>& into) -> Task<Result<void>> {
    CO_TRY(co_await gpu.read_into(from, into));
    co_return {};
  };
  const Result<void> tainted = system.run(task(device, a, four));
  EXPECT_EQ(kind_of(tainted), ErrorKind::buffer_tainted);
  EXPECT_EQ(tainted.error().origin().where.line(), here() - 5);
}

}  // namespace
}  // namespace troupe

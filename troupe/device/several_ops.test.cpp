// A call that is made of several ops: they are submitted together, and the call has one end.
#include "troupe/device/device_fixture.test.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/plugin.hpp"

namespace troupe {
namespace {

class SeveralOps : public DeviceTest {
 protected:
  using OpCallPtr = detail::IntrusivePtr<detail::OpCall>;

  OpCallPtr plugin(const char* function, const std::vector<ArrayUse>& uses) {
    op::PluginCall op{.path = beside("libbad_plugin.so"), .function = function, .arrays = {}, .parameters = {}};
    std::vector<const AnyArray*> arrays;
    for (const ArrayUse& use : uses) {
      op.arrays.push_back({.access = use.access(), .view = use.array().view()});
      arrays.push_back(&use.array());
    }
    return value(DeviceParts::make_op_call(device, op::info_of<op::PluginCall>(), &op, arrays));
  }
  OpCallPtr copy(const AnyArray& from, const AnyArray& to) {
    const op::Copy op{.in = from.view(), .out = to.view()};
    const std::array arrays{&from, &to};
    return value(DeviceParts::make_op_call(device, op::info_of<op::Copy>(), &op, arrays));
  }
  /// One call of all, in their order.
  Call<void> call_of(const std::vector<OpCallPtr>& ops) {
    for (std::size_t i = 1; i < ops.size(); ++i) ops[i]->before = ops[i - 1];
    return {DeviceParts::state(device), ops.back()};
  }

  Device device = open();
  Array<float> a = filled(device, {100}, 1.0f);
  Array<float> b = filled(device, {100}, 2.0f);
  Array<float> c = filled(device, {100}, 3.0f);
};

TEST_F(SeveralOps, run_in_their_order) {
  ASSERT_TRUE(call_of({copy(a, b), copy(b, c)}).get());
  EXPECT_TRUE(all_equal(device, c, 1.0f));
}

TEST_F(SeveralOps, are_submitted_together_and_nobody_waits) {
  ASSERT_TRUE(call_of({copy(b, a), copy(a, c)}).submit());
  EXPECT_TRUE(all_equal(device, c, 2.0f));
}

TEST_F(SeveralOps, end_in_the_error_of_the_first_that_failed) {
  const Result<void> end = call_of({copy(b, c), plugin("error", {writes(a)}), copy(a, b), copy(b, c)}).get();
  ASSERT_EQ(kind_of(end), ErrorKind::library_error);
  EXPECT_NE(end.error().message().find("the plugin said no"), std::string_view::npos) << end.error().to_string();
  EXPECT_EQ(kind_of(device.read(c).get()), ErrorKind::buffer_tainted);
}

TEST_F(SeveralOps, taint_what_they_write_when_nobody_waits_and_one_fails) {
  ASSERT_TRUE(call_of({plugin("error", {writes(a)}), copy(a, c)}).submit());
  EXPECT_EQ(kind_of(device.read(c).get()), ErrorKind::buffer_tainted);
}

TEST_F(SeveralOps, do_not_begin_once_the_caller_has_given_up) {
  Gate gate = make_gate(device);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(b), writes(a)}).submit());
  gate.wait_until_begun();
  const Array<float> between = filled(device, {100}, 0.0f);
  const auto call = [&] { return call_of({copy(a, between), copy(between, c)}); };
  EXPECT_EQ(kind_of(call().wait_at_most(std::chrono::milliseconds(20)).get()), ErrorKind::timeout);
  EXPECT_EQ(kind_of(call().deadline(std::chrono::milliseconds(20)).get()), ErrorKind::deadline_exceeded);
  gate.open();
  EXPECT_TRUE(all_equal(device, a, 2.0f));
  EXPECT_TRUE(all_equal(device, c, 3.0f));
  EXPECT_EQ(between.content(), Content::skipped);
  ASSERT_TRUE(between.accept_skipped());
  EXPECT_TRUE(all_equal(device, between, 0.0f));
}

TEST_F(SeveralOps, go_on_in_the_next_worker) {
  Gate gate = make_gate(device);
  ASSERT_TRUE(call_of({plugin("wait_for_flag", {reads(gate.flag), reads(b), writes(a)}), copy(a, c)}).submit());
  gate.wait_until_begun();
  kill_worker(device);
  gate.open();
  EXPECT_TRUE(all_equal(device, c, 2.0f));
}

TEST_F(SeveralOps, end_at_once_when_the_device_is_closed) {
  Call<void> late = call_of({copy(a, b), copy(b, c)});
  device.close();
  EXPECT_EQ(kind_of(std::move(late).get()), ErrorKind::stopped);
}

TEST_F(SeveralOps, give_their_memory_back) {
  const std::uint64_t used = device.stats().memory.used_bytes;
  {
    const Array<float> between = value(device.array<float>({100}));
    const Call<void> dropped = call_of({copy(a, between), copy(between, c)});
  }
  EXPECT_EQ(device.stats().memory.used_bytes, used);
  std::optional<Array<float>> between = value(device.array<float>({100}));
  Call<void> call = call_of({copy(a, *between), copy(*between, c)});
  between.reset();
  ASSERT_TRUE(std::move(call).get());
  EXPECT_EQ(device.stats().memory.used_bytes, used) << "although the call still lives";
}

}  // namespace
}  // namespace troupe

// An array that nobody has written is empty, and whoever reads it is told so.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class EmptyArrays : public DeviceTest {
 protected:
  static std::string text_of(const Result<void>& end) { return end ? "no error" : std::string(end.error().message()); }

  Device device = open();
  Array<float> a = value(device.array<float>({100}));
  Array<float> b = filled(device, {100}, 1.0f);
};

TEST_F(EmptyArrays, cannot_be_read) {
  EXPECT_EQ(a.content(), Content::empty);
  const Result<HostArray<float>> read = device.read(a).get();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), ErrorKind::buffer_tainted);
  const Result<void> copied = device.copy(a, b).get();
  EXPECT_EQ(text_of(copied), "in is empty: nothing has been written to it yet");
  EXPECT_EQ(b.content(), Content::skipped);
  value(b.accept_skipped());
  EXPECT_TRUE(all_equal(device, b, 1.0f));
  EXPECT_EQ(text_of(device.blas().axpy(2.0, b, a).get()), "y is empty: nothing has been written to it yet");
  value(a.accept_skipped());
  EXPECT_EQ(a.content(), Content::empty) << "nobody has written it";
}

TEST_F(EmptyArrays, leave_a_trace_in_what_is_computed_from_them) {
  value(device.copy(a, b).submit());
  const Result<HostArray<float>> read = device.read(b).get();
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("memory.copy at empty.test.cpp:"), std::string::npos) << read.error().message();
  EXPECT_NE(read.error().message().find("in is empty: nothing has been written to it yet"), std::string::npos)
      << read.error().message();
}

TEST_F(EmptyArrays, are_written_by_what_was_submitted_before) {
  for (int i = 0; i < 1000; ++i) {
    const Array<float> made = value(device.array<float>({100})), next = value(device.array<float>({100}));
    value(device.fill(made, static_cast<float>(i)).submit());
    value(device.copy(made, next).submit());
    ASSERT_TRUE(device.wait_for(next).get());
    ASSERT_EQ(next.content(), Content::whole);
  }
}

TEST_F(EmptyArrays, are_not_empty_when_a_part_is_written) {
  const Array<float> wide = value(device.array<float>({10, 10}));
  value(device.copy(value(b.slice(0, 0, 10)), value(wide.select(1, 3))).get());
  EXPECT_EQ(wide.content(), Content::whole);
  EXPECT_TRUE(device.read(wide).get());
}

TEST_F(EmptyArrays, may_be_updated_by_code_of_the_program) {
  EXPECT_TRUE(bad(device, "print", {updates(a)}).get()) << "many say so of all that they write";
  EXPECT_TRUE(device.read(a).get());
  const Array<float> other = value(device.array<float>({100}));
  EXPECT_EQ(text_of(bad(device, "print", {reads(other)}).get()),
            "array 0 is empty: nothing has been written to it yet");
}

TEST_F(EmptyArrays, of_which_a_part_is_written_are_written_again_after_a_crash) {
  Gate gate = make_gate(device);
  Result<void> end;
  std::jthread waiter([&] { end = bad(device, "wait_for_flag", {reads(gate.flag), reads(b), writes_part(a)}).get(); });
  gate.wait_until_begun();
  kill_worker(device);
  gate.open();
  waiter.join();
  EXPECT_TRUE(end) << end.error().to_string();
  EXPECT_TRUE(all_equal(device, a, 1.0f));
}

TEST_F(EmptyArrays, stay_unreadable_when_their_first_write_fails) {
  EXPECT_EQ(kind_of(bad(device, "error", {writes(a)}).get()), ErrorKind::library_error);
  EXPECT_EQ(a.content(), Content::unknown);
  EXPECT_NE(text_of(device.copy(a, b).get()).find("ended in library_error: the plugin said no"), std::string::npos);
  value(device.fill(a, 1.0f).get());
  EXPECT_EQ(a.content(), Content::whole);
}

TEST_F(EmptyArrays, are_not_of_the_app) {
  EXPECT_TRUE(device.copy(value(device.host_array<float>({100})), b).get()) << "it may have written its own memory";
}

TEST_F(EmptyArrays, without_elements_have_nothing_to_be_written) {
  const Array<float> none = value(device.array<float>({0}));
  EXPECT_EQ(none.content(), Content::whole);
  EXPECT_TRUE(device.read(none).get());
}

TEST_F(EmptyArrays, are_empty_again_when_their_memory_is_used_again) {
  for (int i = 0; i < 3; ++i) {
    const Array<float> made = value(device.array<float>({50}));
    EXPECT_EQ(made.content(), Content::empty);
    value(device.fill(made, 1.0f).get());
  }
}

TEST_F(EmptyArrays, fail_a_scope) {
  Scope on(device);
  const Array<float> out = on.eval(a + 1.0f);
  const Result<HostArray<float>> read = on.read(out).get();
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("is empty: nothing has been written to it yet"), std::string::npos)
      << read.error().message();
}

}  // namespace
}  // namespace troupe

// What can be known of an array without waiting, and without a lock.
#include "troupe/device/device_fixture.test.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/engine_fixture.test.hpp"
#include "troupe/device/make_call.hpp"

namespace troupe {
namespace {

TEST_F(EngineTest, takes_nothing_for_settled_that_is_being_written_or_waits_or_was_cut_off) {
  const detail::IntrusivePtr<detail::VaultBlock> written = block(), read = block(), fresh = block();
  EXPECT_TRUE(engine.is_settled(*written));
  submit(0, read, written);
  EXPECT_FALSE(engine.is_settled(*written));
  EXPECT_TRUE(engine.is_settled(*read));
  EXPECT_TRUE(engine.is_settled(*fresh));
  engine.retire_active();
  EXPECT_FALSE(engine.is_settled(*written));
  EXPECT_FALSE(engine.is_settled(*fresh)) << "nobody serves, so ops on it may wait";
  engine.take_over(1, 2);
  engine.reaped(0, Error(ErrorKind::worker_crashed));
  EXPECT_FALSE(engine.is_settled(*written)) << "it is written again";
  EXPECT_TRUE(engine.is_settled(*fresh));
  fresh->taint(fresh->range(), Error(ErrorKind::worker_crashed));
  EXPECT_FALSE(engine.is_settled(*fresh));
}

class Settled : public DeviceTest {
 protected:
  static bool is_settled(const Device& device, const AnyArray& array) {
    return DeviceParts::state(device)->engine().is_settled(*array.block());
  }
};

TEST_F(Settled, is_what_has_been_waited_for) {
  const Device device = open();
  const Array<float> array = value(device.array<float>({100}));
  EXPECT_FALSE(is_settled(device, array)) << "nobody has written it";
  value(device.fill(array, 1.0f).get());
  eventually([&] { return is_settled(device, array); });
}

TEST_F(Settled, is_not_what_failed_without_anybody_waiting) {
  const Device device = open();
  const Array<float> singular = filled(device, {2, 2}, 0.0f), b = filled(device, {2, 2}, 1.0f);
  const Array<float> x = filled(device, {2, 2}, 1.0f);
  ASSERT_TRUE(device.solver().solve(singular, b, x).submit());
  EXPECT_FALSE(device.wait_for(x).get());
  EXPECT_FALSE(is_settled(device, x));
}

}  // namespace
}  // namespace troupe

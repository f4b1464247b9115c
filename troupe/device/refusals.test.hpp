// What the tables of refusals share: a device's fixture, and how a refusal is compared. Its text is compared whole, for
// it is what a user reads.
#pragma once

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {

class RefusalTest : public DeviceTest {
 protected:
  template <class R>
  void refused(const Result<R>& result, std::string_view text, ErrorKind kind = ErrorKind::invalid_argument) {
    ASSERT_FALSE(result) << "expected: " << text;
    EXPECT_EQ(result.error().message(), text);
    EXPECT_EQ(name(result.error().kind()), name(kind)) << text;
  }
};

}  // namespace troupe

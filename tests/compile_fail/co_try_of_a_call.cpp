// A call gives its result when it is awaited, and not before.
// expect: CO_TRY takes a Result, and this is still to be awaited: CO_TRY\(co_await ...\)
#include "troupe/troupe.hpp"

troupe::Task<troupe::Result<float>> first(troupe::Device device, troupe::Array<float> array) {
#ifdef TROUPE_FIXED
  const troupe::HostArray<float> read = CO_TRY(co_await device.read(array));
  co_return read[0];
#else
  CO_TRY(device.read(array));
  co_return 0;
#endif
}

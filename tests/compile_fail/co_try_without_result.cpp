// CO_TRY needs somewhere to return the error to.
// expect: CO_TRY stands in a coroutine that returns Task<Result<...>>
#include "troupe/troupe.hpp"

#ifdef TROUPE_FIXED
troupe::Task<troupe::Result<int>> doubled(troupe::Result<int> result) { co_return 2 * CO_TRY(result); }
#else
troupe::Task<int> doubled(troupe::Result<int> result) { co_return 2 * CO_TRY(result); }
#endif

/* In the place of the C library's, whose `assert` would end the worker. */
#undef assert
#ifdef NDEBUG
#define assert(condition) static_cast<void>(0)
#else
#define assert(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : troupe_assert_failed(#condition, __LINE__))
#endif

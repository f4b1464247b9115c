// Whether a sanitizer is compiled in. A sanitizer maps terabytes, keeps things for each thread, and reports crashes in
// its own way, so some code must take another path and some tests cannot run.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TROUPE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TROUPE_SANITIZED 1
#endif
#endif
#ifndef TROUPE_SANITIZED
#define TROUPE_SANITIZED 0
#endif

namespace troupe::inline v0 {

inline constexpr bool kSanitized = TROUPE_SANITIZED != 0;

}  // namespace troupe::inline v0

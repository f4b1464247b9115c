// Stand-ins for the functions of NVIDIA's libraries: each is counted, may fail, and does nothing else. They are made
// from their names alone and take whatever they are called with, which a C function of this machine may.
#pragma once

#include "tests/fake_cuda/fault.hpp"

namespace fake_cuda {

/// What a library answers where the driver has that code.
struct Statuses {
  int no_memory;
  int invalid;
  int failed;  // what was launched
  int internal;
};

constexpr int status_of(int code, const Statuses& statuses) noexcept {
  if (code == 0) return 0;
  if (code == 1) return statuses.invalid;
  if (code == 2) return statuses.no_memory;
  return is_sticky(code) ? statuses.failed : statuses.internal;
}

/// Handles and descriptors: something to free, so that one that is forgotten is noticed.
inline int create(const char* function, void** handle, const Statuses& statuses) {
  if (const int code = fake_cuda_enter(function)) return status_of(code, statuses);
  *handle = std::malloc(1);
  fake_cuda_alive(Kind::handle, 1);
  return 0;
}
inline int destroy(const char* function, void* handle, const Statuses& statuses) {
  const int code = fake_cuda_enter(function);
  std::free(handle);
  fake_cuda_alive(Kind::handle, -1);
  return status_of(code, statuses);
}

}  // namespace fake_cuda

#define FAKE_EXPORT extern "C" [[gnu::visibility("default")]]
#define STAND_IN(name) \
  FAKE_EXPORT int name() { return fake_cuda::status_of(fake_cuda_enter(#name), kStatuses); }
#define STAND_IN_CREATE(name) \
  FAKE_EXPORT int name(void** handle) { return fake_cuda::create(#name, handle, kStatuses); }
/// What is made by means of a handle.
#define STAND_IN_CREATE_BY(name) \
  FAKE_EXPORT int name(void*, void** made) { return fake_cuda::create(#name, made, kStatuses); }
#define STAND_IN_DESTROY(name) \
  FAKE_EXPORT int name(void* handle) { return fake_cuda::destroy(#name, handle, kStatuses); }
#define STAND_IN_TYPED(before, after) \
  STAND_IN(before##S##after)          \
  STAND_IN(before##D##after)          \
  STAND_IN(before##C##after)          \
  STAND_IN(before##Z##after)
/// The library's version, as `troupe doctor` asks for it: 13.0.0, 12.0.0.
#define STAND_IN_PROPERTY(name, major)          \
  FAKE_EXPORT int name(int which, int* value) { \
    *value = which == 0 ? major : 0;            \
    return 0;                                   \
  }

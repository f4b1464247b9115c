// The C interface of a plugin: a shared object with the user's own ops, which a worker loads and calls with arrays in
// the vault. C, so that any compiler and any language can make one, and so that it stays the same when Troupe changes.
// A plugin that crashes ends its worker and nothing else: its caller gets an error, everybody else goes on.
//
//   #include <troupe/plugin.h>
//
//   static TroupeStatus negate(const TroupeCall* call) {
//     if (call->array_count != 1 || call->arrays[0].dtype != TROUPE_F32 || call->arrays[0].rank != 1) {
//       call->set_error(call, 0, "negate needs one vector of f32");
//       return TROUPE_REFUSED;
//     }
//     const TroupeArray* a = &call->arrays[0];
//     for (int64_t i = 0; i < a->shape[0]; ++i) {
//       float* element = (float*)a->data + i * a->strides[0];
//       *element = -*element;
//     }
//     return TROUPE_OK;
//   }
//   static const TroupeFunction functions[] = {{"negate", negate}};
//   static const TroupePlugin plugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "example", 1, functions};
//   const TroupePlugin* troupe_plugin(void) { return &plugin; }
//
//   cc -shared -fPIC -o example.so example.c
//
// Threads. A function may be called from any of the worker's threads and from several at once: one call per lane at a
// time, but lanes run side by side. What a plugin keeps between calls it protects itself. The worker never unloads a
// plugin and may die at any moment, so nothing that matters may live in a plugin: keep caches only.
//
// Pointers. Everything a call points to (the call itself, arrays, shapes, parameters) is gone once the function has
// returned. A function must not keep any of it, nor use it from another thread past its return. On the host backend the
// work is done when the function returns; on CUDA the function puts its work on `lane`, and need not wait for it.
//
// Exceptions. A function written in C++ may throw: a `std::bad_alloc` becomes `out_of_memory`, all others a
// `library_error` with their `what()`. An exception on a thread of the plugin's own ends the worker, as everywhere.
#ifndef TROUPE_PLUGIN_H
#define TROUPE_PLUGIN_H

#include <stdint.h>

// NOLINTBEGIN(readability-identifier-naming, modernize-use-using, modernize-redundant-void-arg): this is C

#ifdef __cplusplus
extern "C" {
#endif

#define TROUPE_PLUGIN_MAGIC UINT32_C(0x50555254)  // "TRUP", on a little-endian machine
#define TROUPE_PLUGIN_ABI_VERSION UINT32_C(1)

/// What a function returns: TROUPE_OK, or any other number for a failure. After a failure, what the call writes is
/// unknown to Troupe. A function that refuses its arguments before it has written anything returns TROUPE_REFUSED: its
/// caller gets `invalid_argument`, and the arrays are as good as they were. Who writes, and then says that, spoils them
/// unnoticed. A worker that does not know it yet takes it for a failure.
typedef int32_t TroupeStatus;
enum { TROUPE_OK = 0, TROUPE_FAILED = 1, TROUPE_REFUSED = 1414682197 };

/// Types of elements. The small floats are bit patterns of their size, `bool` is a byte that is 0 or 1, and complex
/// numbers are two floats (C64) or two doubles (C128), the real part first.
enum {
  TROUPE_F64 = 0,
  TROUPE_F32 = 1,
  TROUPE_F16 = 2,
  TROUPE_BF16 = 3,
  TROUPE_F8E4M3 = 4,
  TROUPE_F8E5M2 = 5,
  TROUPE_I8 = 6,
  TROUPE_U8 = 7,
  TROUPE_I16 = 8,
  TROUPE_I32 = 9,
  TROUPE_U32 = 10,
  TROUPE_I64 = 11,
  TROUPE_U64 = 12,
  TROUPE_BOOL = 13,
  TROUPE_C64 = 14,
  TROUPE_C128 = 15,
  TROUPE_U16 = 16
};

/// What the caller declared that the function does with an array. Troupe orders ops by it and decides by it what can be
/// done again after a crash: a function that writes an array it only said to read makes other ops read garbage.
enum { TROUPE_READ = 0, TROUPE_WRITE = 1, TROUPE_UPDATE = 2, TROUPE_WRITE_PART = 3 };

enum { TROUPE_LOG_DEBUG = 0, TROUPE_LOG_INFO = 1, TROUPE_LOG_WARNING = 2, TROUPE_LOG_ERROR = 3 };

/// An array in the vault: element [0, 0, ...] is at `data`, neighbours along dimension d are strides[d] elements apart.
typedef struct TroupeArray {
  void* data;
  uint32_t dtype;          // TROUPE_F64, ...
  uint32_t rank;           // how many numbers `shape` and `strides` have; 0 is a single element
  const int64_t* shape;    // elements along each dimension, outermost first
  const int64_t* strides;  // in elements, not bytes; may be zero or negative
  uint32_t access;         // TROUPE_READ, TROUPE_WRITE, TROUPE_UPDATE or TROUPE_WRITE_PART
} TroupeArray;

/// One call. Later versions may append fields: a field is there when it lies within the first `struct_size` bytes.
typedef struct TroupeCall {
  uint32_t struct_size;
  uint32_t array_count;
  const TroupeArray* arrays;
  const void* parameters;  // the bytes that the caller gave, as they were; aligned to 16
  uint64_t parameter_bytes;
  void* lane;  // the native lane: null on the host backend, a CUstream on CUDA

  /// Hands a sentence to the worker's log. Only on the thread of the call, before it returns, with the very pointer
  /// that the function was given.
  void (*log)(const struct TroupeCall* call, int level, const char* text);

  /// Says why the function is about to return something other than TROUPE_OK; the last one counts, and the text is
  /// copied (its first 1023 bytes). `native_code` is the plugin's own number, 0 for none. The same rules as for `log`.
  void (*set_error)(const struct TroupeCall* call, int64_t native_code, const char* text);

  const char* function;  // the name by which the caller calls it
} TroupeCall;

/// A function of a plugin, and the name by which programs call it. One that is named "*" takes the calls of all names
/// that the table does not have, and finds them in `TroupeCall::function`: for plugins that run other people's
/// functions.
typedef struct TroupeFunction {
  const char* name;
  TroupeStatus (*call)(const TroupeCall* call);
} TroupeFunction;

/// What a plugin is: its name for error messages, and its functions. Must stay as it is while the process lives.
typedef struct TroupePlugin {
  uint32_t magic;        // TROUPE_PLUGIN_MAGIC
  uint32_t abi_version;  // TROUPE_PLUGIN_ABI_VERSION
  const char* name;
  uint32_t function_count;
  const TroupeFunction* functions;
} TroupePlugin;

/// The one symbol that a plugin exports. Called once after loading.
__attribute__((visibility("default"))) const TroupePlugin* troupe_plugin(void);

#ifdef __cplusplus
}
#endif

// NOLINTEND(readability-identifier-naming, modernize-use-using, modernize-redundant-void-arg)

#endif  // TROUPE_PLUGIN_H

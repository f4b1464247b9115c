/* What a worker and a kernel compiled for the CPU know of each other. Both include this file. */
#ifndef TROUPE_KERNEL_ABI_H
#define TROUPE_KERNEL_ABI_H
#include <stdint.h>

/* One for each kernel of a program, side by side in the section `troupe_kernels`. */
struct troupe_kernel_record {
  const void* address;
  void (*thread)(void** arguments); /* runs the kernel for the thread that is set */
  const uint32_t* sizes;            /* of its parameters, in bytes */
  uint32_t count;                   /* of them */
  int32_t instance;                 /* 1, 2, ... of those that were wanted; 0 of others */
};

/* One for each variable of a program that a launch may set, side by side in the section `troupe_variables`. */
struct troupe_variable_record {
  void* address;
  uint64_t size_bytes;
  int32_t is_constant; /* no kernel writes it */
  int32_t is_const;    /* nobody does */
};

/* What is given to the function `troupe_run_blocks` of a program. */
struct troupe_kernel_launch {
  const struct troupe_kernel_record* kernel;
  void** arguments;
  uint32_t blocks[3];
  uint32_t threads[3];
  uint64_t shared_bytes;
  void* worker; /* for what follows */
  /* The upper end of the stack of fiber `number` of the calling thread. */
  void* (*stack)(void* worker, uint32_t number);
  /* Dynamic shared memory of the calling thread, the same at every call. */
  void* (*shared)(void* worker);
  void (*print)(void* worker, const char* text, uint64_t size_bytes);
  /* The launch is wrong; its other blocks need not run. */
  void (*fail)(void* worker, const char* message);
  int (*has_failed)(void* worker);
};

/* Runs the blocks from `begin` to before `end`, in the order of x, y, z. Several threads may call it at once. */
typedef void (*troupe_run_blocks_function)(const struct troupe_kernel_launch* launch, uint64_t begin, uint64_t end);

#define TROUPE_KERNEL_MAX_THREADS 1024
#define TROUPE_KERNEL_MAX_SHARED_BYTES (227 * 1024)
#endif

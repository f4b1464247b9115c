// A device: an accelerator's stable address. It never changes, whatever becomes of the workers behind it. Copies are
// the same device; when the last one is gone its workers end, and what is still under way ends in `stopped`. Arrays may
// outlive it.
//
//   Device gpu = value(system.device(0));
//   Array<float> a = value(gpu.array<float>({1024, 1024}));
//   value(gpu.fill(a, 1.0f).get());
//
// Everything is checked here, before it reaches a worker: shapes, types, bounds, aliasing, and to which device the
// memory belongs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/actor/ref.hpp"
#include "troupe/actor/system.hpp"
#include "troupe/device/array.hpp"
#include "troupe/device/call.hpp"
#include "troupe/device/device_options.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

class Blas;
class Dnn;
class Fft;
class Jit;
class Matmul;
class Primitives;
class Random;
class Solver;
class Sparse;
class Tensor;

namespace detail {
class DeviceState;
}  // namespace detail

/// An array for your plugin or kernel, and what that does with it: `reads(a)`, `writes(b)`, `updates(c)`,
/// `writes_part(d)`.
class ArrayUse {
 public:
  ArrayUse(op::Access access, AnyArray array) noexcept : access_(access), array_(std::move(array)) {}
  /// What the plugin or kernel does with it.
  op::Access access() const noexcept { return access_; }
  const AnyArray& array() const noexcept { return array_; }

 private:
  op::Access access_;
  AnyArray array_;
};
/// An array that a plugin or a kernel reads.
inline ArrayUse reads(AnyArray array) { return {op::Access::read, std::move(array)}; }
/// An array that a plugin or a kernel writes, all of it, without reading it.
inline ArrayUse writes(AnyArray array) { return {op::Access::write, std::move(array)}; }
/// An array that a plugin or a kernel reads and writes.
inline ArrayUse updates(AnyArray array) { return {op::Access::update, std::move(array)}; }
/// An array of which a plugin or a kernel writes some elements, such as a triangle, and reads none. If it is run again
/// after a crash, it writes the same ones.
inline ArrayUse writes_part(AnyArray array) { return {op::Access::part, std::move(array)}; }

/// The stable address of an accelerator: it stays, whatever becomes of the workers behind it.
class Device {
 public:
  /// Opens a device of this machine; `info` is one of `System::devices()`. Waits in the calling thread until its first
  /// worker serves, a few milliseconds on the CPU.
  static Result<Device> open(System& system, const DeviceInfo& info, const DeviceOptions& options = {});

  /// What it was opened with.
  const DeviceInfo& info() const noexcept;
  /// How many workers it has had.
  std::int64_t generation() const noexcept;
  /// `actor` is told a `GenerationChanged` whenever a worker has taken over after another was lost.
  template <class A>
  void watch_generation(const Ref<A>& actor) const {
    events().subscribe<GenerationChanged>(actor);
  }
  /// What it has counted so far: ops, workers, memory. Any thread.
  DeviceStats stats() const;
  /// The same device, for a caller of that name: the workers that its ops cost are charged to this name alone. Past its
  /// budget (`DeviceOptions::crash_budget`) its ops end in `over_budget`. Without a name, each actor and each thread
  /// that submits is a caller of its own.
  Device as(std::string_view account) const;
  /// The id of the serving worker's process; 0 when there is none, and for `Isolation::thread`.
  int worker_pid() const noexcept;
  /// Kills the serving worker as `kill -9` would, so that you can see what happens. False when none serves.
  bool kill_worker() const noexcept;
  /// Ends the workers now, and waits for that; whatever is under way ends in `stopped`. Do not call it inside a
  /// handler.
  void close();

  // ---- memory ----

  /// Memory of the device. It is empty: an op that reads it before anything is written to it ends in `buffer_tainted`,
  /// but for what a plugin or kernel updates. `invalid_argument` for a shape that is not valid, `out_of_memory` with
  /// the figures.
  template <Element T>
  Result<Array<T>> array(const Shape& shape) const {
    Result<Array<T>> array{Array<T>()};
    if (Result<void> made = allocate(*array, shape); !made) array = fail(std::move(made).error());
    return array;
  }
  /// The same of a type that is known at run time.
  Result<AnyArray> array(DType dtype, const Shape& shape) const;
  /// Memory that the driver moves between the machine and the GPU as it sees fit; never more than the GPU has free. It
  /// dies with the worker: after a take-over its arrays answer `buffer_stale`; make them anew.
  template <Element T>
  Result<Array<T>> managed_array(const Shape& shape) const {
    Result<Array<T>> array{Array<T>()};
    if (Result<void> made = allocate_managed(*array, shape); !made) array = fail(std::move(made).error());
    return array;
  }
  /// Memory of the device that can be sealed: an array in a chunk of its own, whose size is a multiple of 2 MiB. Make
  /// many small arrays as slices of one. `unsupported` where memory dies with its worker.
  template <Element T>
  Result<Array<T>> sealable_array(const Shape& shape) const {
    Result<Array<T>> array{Array<T>()};
    if (Result<void> made = allocate_sealable(*array, shape); !made) array = fail(std::move(made).error());
    return array;
  }
  /// Memory that this process and the workers share.
  template <Element T>
  Result<HostArray<T>> host_array(const Shape& shape) const {
    Array<T> array;
    TROUPE_TRY(allocate_host(array, shape));
    return HostArray<T>::from(array);
  }

  // ---- ops ----

  /// Every element becomes `value`, converted to the array's type by the rules of `convert`.
  template <Element T>
  Call<void> fill(const AnyArray& array, T value) const {
    return fill_with(array, op::Scalar(value));
  }
  /// Copies `from` to `to`, also between device and host arrays. Both have the same shape and type, and any strides;
  /// their memory must not overlap.
  Call<void> copy(const AnyArray& from, const AnyArray& to) const;
  /// The same with a conversion of the elements.
  Call<void> cast(const AnyArray& from, const AnyArray& to) const;

  /// Writes an array from shared memory, which must stay as it is until the call has ended.
  template <Element T>
  Call<void> write(const Array<T>& to, const HostArray<T>& from) const {
    return named(copy(from, to), "write");
  }
  /// Writes an array from ordinary memory, in row-major order: from a vector, an array, a span or any other range whose
  /// elements lie side by side and have the array's type. They are copied before this returns. A large array is copied
  /// piece by piece by several threads, and its pieces are submitted then, whether the call is awaited or not.
  template <Element T>
  Call<void> write(const Array<T>& to, std::span<const T> from) const {
    return write_elements(to, std::as_bytes(from), from.size());
  }
  /// The same from a vector, or from numbers in braces.
  template <Element T>
  Call<void> write(const Array<T>& to, const std::vector<T>& from) const {
    static_assert(detail::ContiguousOf<const std::vector<T>&, T>,
                  "a std::vector<bool> packs bits, so its elements do not lie side by side: use a std::array<bool, n>, "
                  "or a HostArray<bool>");
    if constexpr (detail::ContiguousOf<const std::vector<T>&, T>)
      return write(to, std::span<const T>(from));
    else
      return fail(ErrorKind::invalid_argument);
  }
  /// The same from an array, or from any other range whose elements lie side by side.
  template <Element T, class Elements>
  Call<void> write(const Array<T>& to, const Elements& from) const {
    static_assert(detail::Contiguous<const Elements&>,
                  "write takes elements that lie side by side in memory: a std::vector, a std::array, a std::span, a "
                  "HostArray");
    static_assert(!detail::Contiguous<const Elements&> || detail::ContiguousOf<const Elements&, T>,
                  "write takes elements of the array's own type: Array<float> takes floats. To convert, write an array "
                  "of the other type and cast it");
    if constexpr (detail::ContiguousOf<const Elements&, T>)
      return write(to, std::span<const T>(from));
    else
      return fail(ErrorKind::invalid_argument);
  }
  /// Reads an array into fresh shared memory, in row-major order.
  template <Element T>
  Call<HostArray<T>> read(const Array<T>& from) const {
    Result<HostArray<T>> into = host_array<T>(from.shape());
    if (!into) return fail(std::move(into).error());
    Call<void> copied = read(from, *into);
    return {std::move(copied), std::move(*into)};
  }
  /// Reads an array into shared memory that is there already.
  template <Element T>
  Call<void> read(const Array<T>& from, const HostArray<T>& into) const {
    return named(copy(from, into), "read");
  }

  /// Reads an array into ordinary memory, in row-major order: into a vector, an array, a span; a large one piece by
  /// piece, by several threads. The memory must stay until the call has ended.
  template <Element T>
  detail::TaskCall<void> read_into(const Array<T>& from, std::span<T> into) const {
    return {state(), read_elements(*this, from, std::as_writable_bytes(into), into.size())};
  }
  /// The same into a vector, an array or another range that can be written.
  template <Element T, class Elements>
  detail::TaskCall<void> read_into(const Array<T>& from, Elements&& into) const {
    return read_into(from, writable<T>(std::forward<Elements>(into)));
  }

  /// The same of elements of any type, as bytes: `write_bytes` copies them before it returns, as `write` does, and
  /// `read_bytes` is `read_into`. There must be as many as the array has, without gaps.
  Call<void> write_bytes(const AnyArray& to, std::span<const std::byte> bytes) const;
  /// Reads the elements as bytes; the memory must stay until the call has ended.
  detail::TaskCall<void> read_bytes(const AnyArray& from, std::span<std::byte> into) const;

  /// Ends when all ops that were submitted before and write the array have ended; in `buffer_tainted` when something of
  /// it is unknown then. Use it to submit a chain of ops and to await only its end.
  Call<void> wait_for(const AnyArray& array) const;

  /// When this has ended, no worker can change the memory of a `sealable_array`, whatever runs there: every worker, now
  /// and later, maps it for reading only. Ops that were submitted before have ended by then; later ops that would write
  /// the memory, through any handle or view, are refused. `buffer_tainted`, and not sealed, when something of it is
  /// unknown. A caller that stops waiting does not stop it.
  Call<void> seal(const AnyArray& array) const;
  /// When this has ended, the memory can be written again.
  Call<void> unseal(const AnyArray& array) const;

  /// Calls a function of a plugin, a shared object that the worker loads (see troupe/plugin.h):
  /// `co_await gpu.call_plugin(path, "negate", reads(x), writes(y))`.
  template <class... More>
    requires(std::same_as<More, ArrayUse> && ...)
  Call<void> call_plugin(const std::string& path, const std::string& function, ArrayUse first, More... more) const {
    return call_plugin(path, function, std::span<const std::byte>(), std::move(first), std::move(more)...);
  }
  /// The same with a list that is made at run time, or in braces; those g++ 12 cannot compile inside a `co_await`.
  Call<void> call_plugin(const std::string& path, const std::string& function, std::vector<ArrayUse> arrays = {},
                         std::span<const std::byte> parameters = {}) const;
  /// The same with parameters: `call_plugin(path, "scale", parameters, updates(x))`.
  template <class... More>
    requires(std::same_as<More, ArrayUse> && ...)
  Call<void> call_plugin(const std::string& path, const std::string& function, std::span<const std::byte> parameters,
                         ArrayUse first, More... more) const {
    std::vector<ArrayUse> arrays;
    arrays.reserve(1 + sizeof...(more));
    arrays.push_back(std::move(first));
    (arrays.push_back(std::move(more)), ...);
    return call_plugin(path, function, std::move(arrays), parameters);
  }
  /// Does nothing: a round trip to the worker and back.
  Call<void> nop() const;

  /// Linear algebra (troupe/library/blas/blas.hpp).
  Blas blas() const;
  /// Multiplication with an epilogue (troupe/library/matmul/matmul.hpp).
  Matmul matmul() const;
  /// Factorizations, linear systems, singular values, eigenvalues (troupe/library/solver/solver.hpp).
  Solver solver() const;
  /// Sparse matrices (troupe/library/sparse/sparse.hpp).
  Sparse sparse() const;
  /// Contractions, reductions and functions of elements (troupe/library/tensor/tensor.hpp).
  Tensor tensor() const;
  /// Fourier transforms (troupe/library/fft/fft.hpp).
  Fft fft() const;
  /// Random numbers (troupe/library/random/random.hpp).
  Random random() const;
  /// Scans, sorts, searches, selections (troupe/library/primitives/primitives.hpp).
  Primitives primitives() const;
  /// Layers of neural networks and their gradients (troupe/library/dnn/dnn.hpp).
  Dnn dnn() const;
  /// Kernels of one's own (troupe/library/jit/jit.hpp).
  Jit jit() const;

 private:
  friend class DeviceParts;
  class Handle;
  explicit Device(std::shared_ptr<Handle> handle, std::uint64_t account = 0) noexcept
      : handle_(std::move(handle)), account_(account) {}

  /// The memory of a range, for an array to be read into.
  template <class T, class Elements>
  static std::span<T> writable(Elements&& into) {
    using Given = Elements&&;
    static_assert(detail::Contiguous<Given>,
                  "an array is read into elements that lie side by side in memory: a std::vector, a std::array, a "
                  "std::span, a HostArray");
    static_assert(!detail::Contiguous<Given> || detail::ContiguousOf<Given, T>,
                  "an array is read into elements of its own type: Array<float> into floats. To convert, cast the "
                  "array first");
    static_assert(!detail::ContiguousOf<Given, T> || detail::WritableOf<Given, T>,
                  "an array is read into elements that can be written, and these are const");
    static_assert(!detail::WritableOf<Given, T> || detail::Lasting<Elements>,
                  "an array is read into memory that is there afterwards, and this is a temporary: give it a name");
    if constexpr (detail::WritableOf<Given, T>)
      return std::span<T>(into);
    else
      return {};
  }

  const std::shared_ptr<detail::DeviceState>& state() const noexcept;
  EventStream& events() const noexcept;
  Result<void> allocate(AnyArray& array, const Shape& shape) const;
  Result<void> allocate_host(AnyArray& array, const Shape& shape) const;
  Result<void> allocate_managed(AnyArray& array, const Shape& shape) const;
  Result<void> allocate_sealable(AnyArray& array, const Shape& shape) const;
  static Call<void> named(Call<void> call, const char* name) noexcept {
    call.set_name(name);
    return call;
  }
  Call<void> fill_with(const AnyArray& array, const op::Scalar& value) const;
  Call<void> write_elements(const AnyArray& to, std::span<const std::byte> bytes, std::size_t count) const;
  static Task<Result<void>> read_elements(Device device, AnyArray from, std::span<std::byte> into, std::size_t count);
  static Task<Result<void>> read_as_bytes(Device device, AnyArray from, std::span<std::byte> into);

  std::shared_ptr<Handle> handle_;  // shared by all copies: the last one closes the device
  std::uint64_t account_ = 0;       // 0: whoever submits
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop

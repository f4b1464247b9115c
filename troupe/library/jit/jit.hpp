// Your own kernels, in CUDA C++, compiled at run time in a process of its own: for a GPU by NVRTC, for the CPU by the
// system's C++ compiler. Launches are ops like any other: ordered by what they say they read and write, stopped by a
// deadline, tried alone after a crash. A kernel that touches memory outside of its arrays can spoil what is in the
// vault, as anywhere in CUDA; one that faults costs its own caller and nobody else.
//
//   Program program = CO_TRY(co_await gpu.jit().compile(R"(
//     __global__ void saxpy(int n, float a, const float* x, float* y) {
//       for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
//     })"));
//   CO_TRY(co_await gpu.jit().launch(program, "saxpy", {.blocks = 64, .threads = 256}, n, 2.0f, reads(x), updates(y)));
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/library/jit/kernel_arguments.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace wire {
struct CompiledImage;
}

namespace detail {

struct ProgramData;
struct ProgramKernel;

/// Extents along up to three axes: `256`, or `{16, 16}`.
struct GridExtents {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is the extents of a line
  constexpr GridExtents(std::uint32_t along_x = 1, std::uint32_t along_y = 1, std::uint32_t along_z = 1) noexcept
      : x(along_x), y(along_y), z(along_z) {}
};

}  // namespace detail

/// How many blocks of how many threads a kernel is launched with.
struct Grid {
  detail::GridExtents blocks = 1;   // one to three numbers
  detail::GridExtents threads = 1;  // in each block
  std::uint32_t shared_bytes = 0;   // of dynamic shared memory, for each block
  /// As many blocks along x as the device runs at once, in place of `blocks.x`: for kernels that go through all of
  /// their work in steps of the grid.
  bool fills_device = false;
  /// All blocks are there at once and may wait for each other (`cooperative_groups::this_grid().sync()`). GPUs only.
  bool cooperative = false;
  /// How many blocks are a cluster, which share their shared memory: at most 8, or 16 where the GPU can. From compute
  /// capability 9.0 on.
  detail::GridExtents cluster = 1;
};

/// What the compiler can be told.
struct CompileOptions {
  /// NVRTC's, with spaces between them: "-DWIDTH=4 --use_fast_math". What has spaces in it is in quotation marks.
  std::string_view flags = {};
  /// The kernels to make of templates, with commas between them: "scale<float>, scale<double>". So they are launched.
  std::string_view instances = {};
  Duration timeout = std::chrono::minutes(1);  // the compiler is stopped then
  /// Checked mode, to find mistakes: an access outside an array ends the kernel's thread before anything is read or
  /// written, and the launch ends in `invalid_argument` with kernel, array, index, block and thread. docs/gpu.md says
  /// what cannot be checked, and what it costs.
  bool checked = false;
  bool cached = true;  // what was compiled before is taken from the disk, and what is compiled now is kept there
};
static_assert(std::is_trivially_destructible_v<Grid> && std::is_trivially_destructible_v<CompileOptions>,
              "safe inside a co_await with g++ 12");

/// A source with headers that are texts, not files, and with flags one by one:
///   KernelSource source(kMain);
///   source.add_header("tile.cuh", kTile);        // which the source includes by that name
///   source.add_flag("-DTITLE=\"two words\"");     // as the compiler is to see it: no quotation marks, no blanks count
class KernelSource {
 public:
  explicit KernelSource(std::string text) : text_(std::move(text)) {}
  /// `name` is what stands between the quotation marks or angle brackets of `#include`. It comes before all files.
  KernelSource& add_header(std::string name, std::string text) {
    headers_.emplace_back(std::move(name), std::move(text));
    return *this;
  }
  /// One more flag, as the compiler is to see it.
  KernelSource& add_flag(std::string_view flag);

 private:
  friend class Jit;
  std::string text_;
  std::vector<std::pair<std::string, std::string>> headers_;  // name and text
  std::string flags_;                                         // quoted
};

class AnyKernel;

/// Compiled kernels for one device. Copies are the same program; launches under way keep it alive.
class Program {
 public:
  Program() = default;
  /// The compiler's warnings.
  const std::string& log() const noexcept;
  /// Its kernels and what they take: "saxpy(int, float, float const*, float*)"; of one whose types are not known, which
  /// is in an `extern "C"` block, the name alone.
  std::vector<std::string> kernels() const;
  /// The names of its `__constant__` and `__device__` variables; a compiler leaves out those that no kernel uses.
  std::vector<std::string> variables() const;
  /// The compiled image; `Jit::load` makes the same program of it. It lives as long as the program.
  std::span<const std::byte> image() const noexcept;
  /// How large the compiled image is.
  std::int64_t size_bytes() const noexcept { return static_cast<std::int64_t>(image().size()); }

  /// A kernel, looked up once. `invalid_argument` says which kernels there are.
  Result<AnyKernel> kernel(std::string_view name) const;
  /// The same by the signature that it has in its source, with the element types of arrays. A `const` pointer takes an
  /// array that is read, another one an array that is updated, so that a launch needs no more than the arrays:
  ///   const auto saxpy = CO_TRY(program.kernel<void(int, float, const float*, float*)>("saxpy"));
  ///   CO_TRY(co_await gpu.jit().launch(saxpy, {.blocks = 64, .threads = 256}, n, 2.0f, x, y));
  /// `invalid_argument` when the kernel has another one. What does not fit does not compile.
  template <class Signature>
  Result<Kernel<Signature>> kernel(std::string_view name) const;

 private:
  friend class Jit;
  std::shared_ptr<detail::ProgramData> data_;
};

/// A kernel of a program. Copies are the same kernel, and keep the program.
class AnyKernel {
 public:
  AnyKernel() = default;

 private:
  friend class Jit;
  friend class Program;
  Result<void> check(std::span<const detail::KernelArgument> parameters) const;

  std::string name_;
  std::shared_ptr<detail::ProgramData> program_;
  const detail::ProgramKernel* found_ = nullptr;  // in it; null when its image does not say
};

/// A kernel whose arguments are checked when the program that launches it is compiled.
template <class... Parameters>
class Kernel<void(Parameters...)> {
 public:
  Kernel() = default;

 private:
  friend class Jit;
  friend class Program;
  explicit Kernel(AnyKernel kernel) : kernel_(std::move(kernel)) {}
  AnyKernel kernel_;
};

template <class Signature>
Result<Kernel<Signature>> Program::kernel(std::string_view name) const {
  AnyKernel found = TROUPE_TRY(kernel(name));
  TROUPE_TRY(found.check(detail::kParametersOf<Signature>));
  return Kernel<Signature>(std::move(found));
}

/// Kernels of your own on a device, compiled at run time: `gpu.jit()`.
class Jit {
 public:
  explicit Jit(Device device) noexcept : device_(std::move(device)) {}

  /// Compiles for this device. Kernels of templates are made when `instances` names them. `invalid_argument` with the
  /// compiler's log when the source is wrong, `timeout`, `unsupported` when there is no compiler and, on the host
  /// device, for what a CPU cannot do (docs/gpu.md has the list). There the flag "-arch=sm_90" has NVRTC compile for
  /// such a GPU, to see whether it takes the source; what comes of it cannot be launched. What has been compiled is
  /// kept in the folder $TROUPE_PROGRAMS, or else in ~/.cache/troupe/programs, for this and other processes.
  detail::TaskCall<Program> compile(std::string source, CompileOptions options = {}) const;
  /// The same of a source with headers and flags of its own; those of `options` come first.
  detail::TaskCall<Program> compile(KernelSource source, CompileOptions options = {}) const;
  /// A program of an image that was compiled before, here or by nvcc: a cubin, a fatbin or PTX for this GPU, or what
  /// `Program::image` gave on the host device. `invalid_argument` for anything else.
  Result<Program> load(std::span<const std::byte> image) const;

  /// A kernel is found by its name, with its namespaces where that is needed: "saxpy", "scale<float>", "mine::scale".
  /// An argument is `reads(array)`, `writes(array)`, `updates(array)` (a pointer to the first element of an array whose
  /// elements lie side by side), `nullptr`, a number, a `KernelStruct`, and more generally anything of at most 248
  /// bytes that can be copied as bytes. Their number, sizes and types are checked against the kernel's, the types
  /// unless it is in an `extern "C"` block. `invalid_argument` for an impossible grid, for an argument of another type,
  /// and for a kernel that does not exist; `unsupported` for a grid that this device cannot run.
  template <class... Arguments>
  Call<void> launch(const Program& program, std::string_view kernel, const Grid& grid,
                    const Arguments&... arguments) const {
    return launch(program, kernel, grid, listed(arguments...));
  }
  /// The same with a list that was made at run time.
  Call<void> launch(const Program& program, std::string_view kernel, const Grid& grid, KernelArguments arguments) const;
  /// The same of a kernel that was looked up.
  template <class... Arguments>
  Call<void> launch(const AnyKernel& kernel, const Grid& grid, const Arguments&... arguments) const {
    return launch(kernel, grid, listed(arguments...));
  }
  Call<void> launch(const AnyKernel& kernel, const Grid& grid, KernelArguments arguments) const;
  /// The same by its signature. An array is read where the pointer is `const`, and else updated, unless `reads(x)`,
  /// `writes(x)` or `updates(x)` says what is done with it.
  template <class... Parameters, class... Arguments>
  Call<void> launch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, const Arguments&... arguments) const {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "the kernel takes another number of arguments than are given");
    KernelArguments all;
    if constexpr (sizeof...(Parameters) == sizeof...(Arguments))
      (detail::ParameterOf<Parameters>::add(all, arguments), ...);
    return launch(kernel.kernel_, grid, std::move(all));
  }

  /// Sets a `__constant__` or `__device__` variable of a program from an array with as many bytes as it has. Kernels
  /// that are launched after this was submitted see it, also when another worker has taken over: the value is kept
  /// outside of workers. From then on a launch of this program copies what it may have changed of a `__device__`
  /// variable, so that this survives, too; launches of the program then run one after another. `invalid_argument` says
  /// which variables there are.
  Call<void> set(const Program& program, std::string_view variable, const AnyArray& from) const;
  /// The same from elements in ordinary memory that lie side by side (a vector, an array), or from one value or struct.
  /// They are copied before this returns.
  template <class Value>
    requires(!std::derived_from<Value, AnyArray>)
  Call<void> set(const Program& program, std::string_view variable, const Value& value) const {
    if constexpr (std::ranges::contiguous_range<const Value>) {
      static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<const Value>>,
                    "a variable is set from what can be copied as bytes");
      return set_bytes(program, variable, std::as_bytes(std::span(value)));
    } else {
      static_assert(std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value>,
                    "a variable is set from what can be copied as bytes, and no pointer");
      return set_bytes(program, variable, std::as_bytes(std::span(&value, 1)));
    }
  }
  /// Copies into an array what a variable holds that was set before: after all launches that were submitted before.
  Call<void> get(const Program& program, std::string_view variable, const AnyArray& into) const;

 private:
  template <class... Arguments>
  static KernelArguments listed(const Arguments&... arguments) {
    KernelArguments all;
    (all.add(arguments), ...);
    return all;
  }
  static Task<Result<Program>> compile_on(Device device, KernelSource source, std::string flags, std::string instances,
                                          Duration timeout, bool checked, bool cached);
  Call<void> launch_found(const detail::ProgramData& program, const detail::ProgramKernel* found,
                          std::string_view kernel, const Grid& grid, KernelArguments arguments) const;
  static Result<Program> program_of(const Device& device, const wire::CompiledImage& image);
  Call<void> set_bytes(const Program& program, std::string_view variable, std::span<const std::byte> bytes) const;

  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop

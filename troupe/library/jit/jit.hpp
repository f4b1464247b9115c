// Your own kernels, in CUDA C++, compiled at run time in a process of its own: for a GPU by NVRTC, for the CPU by the
// system's C++ compiler. Launches are ops like any
// other: ordered by what they say they read and write, stopped by a deadline, tried alone after a crash. A kernel that
// touches memory outside of its arrays can spoil what is in the vault, as anywhere in CUDA; one that faults costs its
// own caller and nobody else.
//
//   Program program = CO_TRY(co_await gpu.jit().compile(R"(
//     __global__ void saxpy(int n, float a, const float* x, float* y) {
//       for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
//     })"));
//   CO_TRY(co_await gpu.jit().launch(program, "saxpy", {.blocks = 64, .threads = 256}, n, 2.0f, reads(x), updates(y)));
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace wire {
struct CompiledImage;
}

namespace detail {

class ProgramKernels;

/// What an argument of a launch is.
enum class ArgumentKind : std::uint8_t { array, integer, floating, null, other };
template <class T>
inline constexpr ArgumentKind kArgumentKind = std::is_floating_point_v<T>                  ? ArgumentKind::floating
                                              : std::is_integral_v<T> || std::is_enum_v<T> ? ArgumentKind::integer
                                              : std::is_same_v<T, std::nullptr_t>          ? ArgumentKind::null
                                                                                           : ArgumentKind::other;

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

/// Compiled kernels for one device. Copies are the same program; launches under way keep it alive.
class Program {
 public:
  Program() = default;
  /// The compiler's warnings.
  const std::string& log() const noexcept { return log_; }
  /// Its kernels and what they take: "saxpy(int, float, float const*, float*)"; of one whose types are not known, which
  /// is in an `extern "C"` block, the name alone.
  std::vector<std::string> kernels() const;
  /// How large the compiled image is.
  std::int64_t size_bytes() const noexcept { return image_.size(); }

 private:
  friend class Jit;
  std::uint64_t name_ = 0;
  HostArray<std::uint8_t> image_;
  std::shared_ptr<const detail::ProgramKernels> kernels_;
  std::string log_;
};

/// The arguments of a launch, one after another, when their number is known at run time only:
///   KernelArguments arguments;
///   for (const Array<float>& weight : weights) arguments.add(reads(weight));
///   arguments.add(0.1f);
class KernelArguments {
 public:
  /// Appends an array, and what the kernel does with it: `reads(a)`, `writes(a)`, `updates(a)`.
  void add(const ArrayUse& array) {
    order_.push_back(std::byte{0});
    kinds_.push_back(detail::ArgumentKind::array);
    arrays_.push_back(array);
  }
  /// Appends a number, or anything else of at most 128 bytes that can be copied as bytes.
  template <class T>
  void add(const T& scalar) {
    static_assert(!std::derived_from<T, AnyArray>, "say what the kernel does with it: reads(a), writes(a), updates(a)");
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMaxScalarBytes && !std::is_pointer_v<T>,
                  "an argument is an array, or at most 128 bytes that can be copied, and no pointer");
    order_.push_back(static_cast<std::byte>(sizeof(T)));
    kinds_.push_back(detail::kArgumentKind<T>);
    const auto bytes = std::as_bytes(std::span(&scalar, 1));
    scalars_.insert(scalars_.end(), bytes.begin(), bytes.end());
  }

 private:
  friend class Jit;
  static constexpr std::size_t kMaxScalarBytes = 128;
  std::vector<ArrayUse> arrays_;
  std::vector<std::byte> order_;             // of each: its size, or 0 for an array
  std::vector<detail::ArgumentKind> kinds_;  // of each
  std::vector<std::byte> scalars_;
};

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

  /// A kernel is found by its name, with its namespaces where that is needed: "saxpy", "scale<float>", "mine::scale".
  /// An argument is `reads(array)`, `writes(array)`, `updates(array)` (a pointer to the first element of an array whose
  /// elements lie side by side), `nullptr` or a number, and more generally anything of at most 128 bytes that can be
  /// copied as bytes. Their number, sizes and types are checked against the kernel's, the types unless it is in an
  /// `extern "C"` block. `invalid_argument` for an impossible grid, for an argument of another type, and for a kernel
  /// that does not exist.
  template <class... Arguments>
  Call<void> launch(const Program& program, std::string_view kernel, const Grid& grid,
                    const Arguments&... arguments) const {
    KernelArguments all;
    (all.add(arguments), ...);
    return launch(program, kernel, grid, std::move(all));
  }
  /// The same with a list that was made at run time.
  Call<void> launch(const Program& program, std::string_view kernel, const Grid& grid, KernelArguments arguments) const;

 private:
  static Task<Result<Program>> compile_on(Device device, std::string source, std::string flags, std::string instances,
                                          Duration timeout, bool checked, bool cached);
  static Result<Program> load(const Device& device, const wire::CompiledImage& image);

  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop

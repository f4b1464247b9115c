// Which kernels and variables a compiled program has, and what the kernels take: read from the image. A kernel of C++
// has the types of its parameters in its symbol, so launches are checked against them before they are made. The image
// is not believed: what cannot be read has no kernels, and then nothing is checked here.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/element.hpp"
#include "troupe/core/result.hpp"
#include "troupe/library/jit/kernel_arguments.hpp"
#include "troupe/op/view.hpp"

namespace troupe::inline v0::detail {

/// One parameter of a kernel, by its type.
struct KernelParameter {
  std::string type;                         // as the compiler spells it: "float const*"
  bool is_pointer = false;                  // else it is passed by value
  bool is_const = false;                    // what it points to
  std::uint32_t elements = ~0U;             // what it may point to: bit i is `DType` i
  ArgumentKind kind = ArgumentKind::other;  // of what is passed by value
  std::size_t size = 0;                     // of that; 0 for a type that is not known here
};

/// `text` is what the compiler has between two commas of a signature.
KernelParameter parameter_of(std::string_view text);

struct ProgramKernel {
  std::string symbol;
  std::string name;       // "scale<float>"
  std::string signature;  // "scale<float>(int, float*)"; of a kernel that is `extern "C"`, its name
  std::optional<std::vector<KernelParameter>> parameters;
  bool is_checked = false;  // it takes what checked_launch.hpp adds, too
};

/// A `__constant__` or `__device__` variable.
struct ProgramVariable {
  std::string symbol;
  std::string name;  // "mine::weights"
  std::uint64_t size_bytes = 0;
  bool is_constant = false;  // no kernel writes it
};

/// The kernels of one program, found by any of their names. Immutable.
class ProgramKernels {
 public:
  ProgramKernels() = default;
  /// `instances` has two lines for each template that was asked for: how the user wrote it, and its symbol.
  ProgramKernels(std::span<const std::byte> image, std::string_view instances);

  /// False for what is no ELF image, such as PTX: then a worker finds out what there is.
  bool is_readable() const noexcept { return is_readable_; }
  /// In the image's order; none when it cannot be read.
  std::span<const ProgramKernel> all() const noexcept { return kernels_; }
  std::span<const ProgramVariable> variables() const noexcept { return variables_; }
  /// A kernel by its name, with or without its namespaces, as the user wrote it, by its signature or by its symbol;
  /// `invalid_argument` says which there are. Null when the image could not be read.
  Result<const ProgramKernel*> find(std::string_view call, std::string_view name) const;
  /// The same of a variable. None has a signature.
  Result<const ProgramVariable*> find_variable(std::string_view call, std::string_view name) const;

 private:
  struct Spelling {
    std::string text;
    int rank = 0;  // of those for one text the lowest counts
    std::size_t kernel = 0;
    friend auto operator<=>(const Spelling&, const Spelling&) = default;
  };
  std::string list() const;
  std::string list_of_variables() const;

  bool is_readable_ = false;
  std::vector<ProgramKernel> kernels_;
  std::vector<ProgramVariable> variables_;
  std::vector<Spelling> spellings_;  // sorted
};

/// What is between the commas of a list that are in no bracket.
std::vector<std::string_view> split_at_commas(std::string_view text);

/// Whether the kernel takes these. `invalid_argument` names the parameter and what it was given.
Result<void> check_arguments(std::string_view call, const ProgramKernel& kernel,
                             std::span<const KernelArgument> arguments);
/// The same of the parameters of a handle's signature, which must be `const` where the kernel's are.
Result<void> check_signature(const ProgramKernel& kernel, std::span<const KernelArgument> parameters);

}  // namespace troupe::inline v0::detail

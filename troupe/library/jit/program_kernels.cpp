#include "troupe/library/jit/program_kernels.hpp"

#include <algorithm>
#include <array>

#include "troupe/library/jit/image_symbols.hpp"
#include "troupe/wire/compiled_image.hpp"

namespace troupe::inline v0::detail {
namespace {

constexpr std::size_t kMostListed = 12;

constexpr std::uint32_t bits(std::same_as<DType> auto... dtypes) {
  return ((1U << static_cast<unsigned>(dtypes)) | ... | 0U);
}

struct KnownType {
  std::string_view name;
  ArgumentKind kind;
  std::size_t size;
  std::uint32_t elements;
};
using enum DType;
/// Raw bytes and raw words may be what they like; otherwise signs do not matter, and kinds and widths do.
constexpr std::array kKnownTypes{
    KnownType{"bool", ArgumentKind::integer, 1, bits(boolean, u8, i8)},
    KnownType{"char", ArgumentKind::integer, 1, bits(i8, u8, boolean, f8e4m3, f8e5m2)},
    KnownType{"signed char", ArgumentKind::integer, 1, bits(i8, u8, boolean, f8e4m3, f8e5m2)},
    KnownType{"unsigned char", ArgumentKind::integer, 1, bits(i8, u8, boolean, f8e4m3, f8e5m2)},
    KnownType{"short", ArgumentKind::integer, 2, bits(i16, u16, f16, bf16)},
    KnownType{"unsigned short", ArgumentKind::integer, 2, bits(i16, u16, f16, bf16)},
    KnownType{"int", ArgumentKind::integer, 4, bits(i32, u32)},
    KnownType{"unsigned int", ArgumentKind::integer, 4, bits(i32, u32)},
    KnownType{"long", ArgumentKind::integer, 8, bits(i64, u64)},
    KnownType{"unsigned long", ArgumentKind::integer, 8, bits(i64, u64)},
    KnownType{"long long", ArgumentKind::integer, 8, bits(i64, u64)},
    KnownType{"unsigned long long", ArgumentKind::integer, 8, bits(i64, u64)},
    KnownType{"float", ArgumentKind::floating, 4, bits(f32, c64)},
    KnownType{"double", ArgumentKind::floating, 8, bits(f64, c128)},
    KnownType{"__half", ArgumentKind::other, 2, bits(f16)},
    KnownType{"__half2", ArgumentKind::other, 4, bits(f16)},
    KnownType{"__nv_bfloat16", ArgumentKind::other, 2, bits(bf16)},
    KnownType{"__nv_bfloat162", ArgumentKind::other, 4, bits(bf16)},
    KnownType{"__nv_fp8_e4m3", ArgumentKind::other, 1, bits(f8e4m3)},
    KnownType{"__nv_fp8_e5m2", ArgumentKind::other, 1, bits(f8e5m2)},
};

const KnownType* known(std::string_view name) {
  const auto* const found = std::ranges::find(kKnownTypes, name, &KnownType::name);
  return found == kKnownTypes.end() ? nullptr : found;
}

/// The element of CUDA's short vectors: "float4" has floats.
const KnownType* element_of_vector(std::string_view name) {
  if (name.empty() || name.back() < '1' || name.back() > '4') return nullptr;
  name.remove_suffix(1);
  constexpr std::array<std::array<std::string_view, 2>, 5> kShortNames{{{"uchar", "unsigned char"},
                                                                        {"ushort", "unsigned short"},
                                                                        {"uint", "unsigned int"},
                                                                        {"ulong", "unsigned long"},
                                                                        {"ulonglong", "unsigned long long"}}};
  if (name == "longlong") name = "long long";
  for (const auto& [of_vector, in_full] : kShortNames)
    if (name == of_vector) name = in_full;
  return name == "bool" || name.starts_with("__") ? nullptr : known(name);
}

bool take_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

/// "float (*) [4]" and "void (*)(int)" are pointers, but not to one element. "Apply<void (*)(int)>" is none.
bool is_pointer_in_parentheses(std::string_view type) {
  int depth = 0;
  for (std::size_t i = 0; i < type.size(); ++i) {
    if (type[i] == '<' || type[i] == '{') ++depth;
    if (type[i] == '>' || type[i] == '}') --depth;
    if (depth == 0 && type.substr(i).starts_with("(*")) return true;
  }
  return false;
}

/// Where the parentheses begin that end a signature.
std::size_t begin_of_parameters(std::string_view signature) {
  int depth = 0;
  for (std::size_t i = signature.size(); i-- > 0;) {
    if (signature[i] == ')') ++depth;
    if (signature[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// What a kernel has in checked mode, behind what the user gave it.
bool take_checks(std::string& signature) {
  const std::size_t begin = signature.rfind(", troupe_bounds<");
  if (begin == std::string::npos || !signature.ends_with(">, troupe_report*)")) return false;
  signature.replace(begin, std::string::npos, ")");
  return true;
}

ProgramKernel kernel_of(std::string symbol) {
  std::string text = demangled(symbol);
  const bool is_checked = take_checks(text);
  const std::size_t begin = text.ends_with(')') ? begin_of_parameters(text) : std::string::npos;
  if (begin == std::string::npos)
    return {.symbol = symbol, .name = symbol, .signature = symbol, .parameters = std::nullopt};
  ProgramKernel kernel{.symbol = std::move(symbol),
                       .name = {},
                       .signature = {},
                       .parameters = std::vector<KernelParameter>(),
                       .is_checked = is_checked};
  // A template's symbol has what it returns, and kernels return nothing.
  const std::size_t returned = text.starts_with("void ") ? 5 : 0;
  kernel.name = text.substr(returned, begin - returned);
  kernel.signature = text.substr(returned);
  for (const std::string_view part : split_at_commas(std::string_view(text).substr(begin + 1, text.size() - begin - 2)))
    kernel.parameters->push_back(parameter_of(part));
  return kernel;
}

/// Where the arguments of a template begin, or the end.
std::size_t end_of_plain_name(std::string_view name) { return std::min(name.find('<'), name.size()); }

std::string_view without_namespaces(std::string_view name) {
  const std::size_t last = name.substr(0, end_of_plain_name(name)).rfind("::");
  return last == std::string_view::npos ? name : name.substr(last + 2);
}

std::string number(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string in_words(const KernelArgument& argument) {
  if (argument.is_any) return "a pointer to void";
  switch (argument.kind) {
    case ArgumentKind::array: return "an array of " + std::string(name(argument.dtype));
    case ArgumentKind::integer: return "an integer of " + number(argument.size, "byte");
    case ArgumentKind::floating: return argument.size == sizeof(float) ? "a float" : "a double";
    case ArgumentKind::null: return "a null pointer";
    case ArgumentKind::other: break;
  }
  return number(argument.size, "byte") + " by value";
}

/// Why a parameter does not take an argument; empty when it does.
std::string why_not(const KernelParameter& parameter, const KernelArgument& argument) {
  if (argument.kind == ArgumentKind::array) {
    if (!parameter.is_pointer) return parameter.size == 0 ? "" : "is passed by value";
    // A pointer to anything is one to a type that is not known.
    if (argument.is_any ? parameter.elements != ~0U
                        : (parameter.elements >> static_cast<unsigned>(argument.dtype) & 1) == 0)
      return "points to another type";
    return parameter.is_const && argument.access == op::Access::write
               ? "is only read; say reads(array), or change the order of the arguments"
               : "";
  }
  if (parameter.is_pointer)
    return argument.kind == ArgumentKind::null ||
                   (argument.kind == ArgumentKind::other && argument.size == sizeof(void*))
               ? ""
               : "is a pointer; it takes reads(array), writes(array), updates(array) or nullptr";
  if (parameter.size == 0) return "";
  if (argument.kind == ArgumentKind::null) return "is passed by value";
  if (argument.size != parameter.size) return "has " + number(parameter.size, "byte");
  const bool differs =
      argument.kind != parameter.kind && argument.kind != ArgumentKind::other && parameter.kind != ArgumentKind::other;
  return !differs ? "" : parameter.kind == ArgumentKind::floating ? "is a floating-point number" : "is an integer";
}

}  // namespace

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (c != ',' || (depth != 0 && i < text.size())) continue;
    std::string_view part = text.substr(begin, i - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

KernelParameter parameter_of(std::string_view text) {
  KernelParameter parameter{.type = std::string(text)};
  parameter.is_pointer = text.ends_with('*') || is_pointer_in_parentheses(text);
  if (!take_end(text, "*")) {
    if (const KnownType* const type = parameter.is_pointer ? nullptr : known(text)) {
      parameter.kind = type->kind;
      parameter.size = type->size;
    }
    return parameter;
  }
  while (take_end(text, " volatile") || take_end(text, " __restrict")) {
  }
  parameter.is_const = take_end(text, " const");
  const KnownType* const type = known(text) ? known(text) : element_of_vector(text);
  if (type) parameter.elements = type->elements;
  return parameter;
}

ProgramKernels::ProgramKernels(std::span<const std::byte> image, std::string_view instances) {
  ImageSymbols symbols = symbols_in(image);
  is_readable_ = symbols.is_readable;
  for (std::string& symbol : symbols.kernels) kernels_.push_back(kernel_of(std::move(symbol)));
  for (VariableSymbol& variable : symbols.variables) {
    std::string name = demangled(variable.symbol);
    if (name.empty()) name = variable.symbol;
    variables_.push_back({std::move(variable.symbol), std::move(name), variable.size_bytes, variable.is_constant});
  }
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const ProgramKernel& kernel = kernels_[i];
    int rank = 0;
    for (const std::string_view text :
         {std::string_view(kernel.symbol), std::string_view(kernel.signature), std::string_view(kernel.name),
          without_namespaces(kernel.name), std::string_view(kernel.name).substr(0, end_of_plain_name(kernel.name)),
          without_namespaces(kernel.name).substr(0, end_of_plain_name(without_namespaces(kernel.name)))})
      spellings_.push_back({std::string(text), ++rank, i});
  }
  while (!instances.empty()) {
    const std::string_view written = wire::take_line(instances), symbol = wire::take_line(instances);
    const auto kernel = std::ranges::find(kernels_, symbol, &ProgramKernel::symbol);
    if (kernel != kernels_.end())
      spellings_.push_back({std::string(written), 0, static_cast<std::size_t>(kernel - kernels_.begin())});
  }
  std::ranges::sort(spellings_);
}

Result<const ProgramKernel*> ProgramKernels::find(std::string_view call, std::string_view name) const {
  if (kernels_.empty()) return nullptr;
  const auto begin = std::ranges::lower_bound(spellings_, name, {}, &Spelling::text);
  if (begin == spellings_.end() || begin->text != name)
    return fail(ErrorKind::invalid_argument,
                std::string(call) + ": the program has no kernel " + std::string(name) + "; it has " + list());
  for (auto other = begin + 1; other != spellings_.end() && other->text == name && other->rank == begin->rank; ++other)
    if (other->kernel != begin->kernel)
      return fail(ErrorKind::invalid_argument, std::string(call) + ": the program has several kernels " +
                                                   std::string(name) + "; say which one: it has " + list());
  return &kernels_[begin->kernel];
}

std::string ProgramKernels::list() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(kernels_.size(), kMostListed); ++i)
    text += (i == 0 ? "" : ", ") + kernels_[i].signature;
  return kernels_.size() <= kMostListed ? text
                                        : text + " and " + std::to_string(kernels_.size() - kMostListed) + " more";
}

Result<const ProgramVariable*> ProgramKernels::find_variable(std::string_view call, std::string_view name) const {
  if (!is_readable_) return nullptr;
  const ProgramVariable* found = nullptr;
  for (const ProgramVariable& variable : variables_) {
    if (variable.name == name || variable.symbol == name) return &variable;
    if (without_namespaces(variable.name) != name) continue;
    if (found)
      return fail(ErrorKind::invalid_argument, std::string(call) + ": the program has several variables " +
                                                   std::string(name) + "; say which one: it has " +
                                                   list_of_variables());
    found = &variable;
  }
  if (found) return found;
  return fail(ErrorKind::invalid_argument,
              std::string(call) + ": the program has no variable " + std::string(name) +
                  (variables_.empty() ? "; no kernel of it uses a __constant__ or __device__ variable"
                                      : "; it has " + list_of_variables()));
}

std::string ProgramKernels::list_of_variables() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(variables_.size(), kMostListed); ++i)
    text += (i == 0 ? "" : ", ") + variables_[i].name + " (" + number(variables_[i].size_bytes, "byte") + ")";
  return variables_.size() <= kMostListed ? text
                                          : text + " and " + std::to_string(variables_.size() - kMostListed) + " more";
}

Result<void> check_arguments(std::string_view call, const ProgramKernel& kernel,
                             std::span<const KernelArgument> arguments) {
  if (!kernel.parameters) return {};
  const std::vector<KernelParameter>& parameters = *kernel.parameters;
  if (arguments.size() != parameters.size())
    return fail(ErrorKind::invalid_argument, std::string(call) + ": " + kernel.signature + " takes " +
                                                 number(parameters.size(), "argument") + " and was given " +
                                                 std::to_string(arguments.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (const std::string why = why_not(parameters[i], arguments[i]); !why.empty())
      return fail(ErrorKind::invalid_argument, std::string(call) + ": argument " + std::to_string(i + 1) + " of " +
                                                   kernel.signature + " " + why + "; " + in_words(arguments[i]) +
                                                   " was given");
  return {};
}

Result<void> check_signature(const ProgramKernel& kernel, std::span<const KernelArgument> parameters) {
  TROUPE_TRY(check_arguments("kernel", kernel, parameters));
  for (std::size_t i = 0; kernel.parameters && i < parameters.size(); ++i) {
    const KernelParameter& its = (*kernel.parameters)[i];
    const bool is_const = parameters[i].access == op::Access::read;
    if (parameters[i].kind == ArgumentKind::array && its.is_pointer && its.is_const != is_const)
      return fail(ErrorKind::invalid_argument, "kernel: argument " + std::to_string(i + 1) + " of " + kernel.signature +
                                                   (is_const ? " is not const, and the signature says that it is"
                                                             : " is const, and the signature says that it is not"));
  }
  return {};
}

}  // namespace troupe::inline v0::detail

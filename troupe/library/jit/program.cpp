// Programs, their kernels by handle, and their variables.
#include <cstring>

#include "troupe/device/block.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/jit/jit.hpp"
#include "troupe/library/jit/program_data.hpp"

namespace troupe::inline v0 {

namespace detail {

std::vector<KeptVariable> ProgramData::set_variables() const {
  if (kernels.is_readable() && kernels.variables().empty()) return {};
  const std::lock_guard lock(mutex_);
  std::vector<KeptVariable> set;
  for (const KeptVariable& variable : kept_) {
    const VaultBlock& block = *variable.bytes.block();
    if (!block.is_empty() || block.is_being_written()) set.push_back(variable);
  }
  return set;
}

Result<KeptVariable> ProgramData::keep(const Device& device, KeptVariable variable, std::int64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  for (const KeptVariable& kept : kept_)
    if (kept.symbol == variable.symbol) return kept;
  if (kept_.size() == op::kMaxProgramVariables)
    return fail(ErrorKind::unsupported, "set: " + std::to_string(kept_.size()) +
                                            " variables of the program are set already, and that is the most");
  variable.bytes = TROUPE_TRY(device.array<std::uint8_t>({size_bytes}));
  kept_.push_back(std::move(variable));
  return kept_.back();
}

std::optional<KeptVariable> ProgramData::find_kept(std::string_view symbol) const {
  for (const KeptVariable& kept : set_variables())
    if (kept.symbol == symbol) return kept;
  return std::nullopt;
}

}  // namespace detail

namespace {

Unexpected refuse_variable(std::string_view call, const std::string& why) {
  return fail(ErrorKind::invalid_argument, std::string(call) + ": " + why);
}

/// The variable of that name. Of a program whose image does not say, the worker knows whether it is there.
Result<detail::KeptVariable> variable_of(std::string_view call, const detail::ProgramData* program,
                                         std::string_view name, const AnyArray& array) {
  if (!program) return refuse_variable(call, "the program is empty; compile it first");
  if (!array) return refuse_variable(call, "the array is an empty handle: default-constructed or moved from");
  if (!array.is_contiguous())
    return refuse_variable(call, "the elements of the array do not lie side by side; give it a copy");
  const detail::ProgramVariable* const found = TROUPE_TRY(program->kernels.find_variable(call, name));
  if (!found) return detail::KeptVariable{.name = std::string(name), .symbol = std::string(name), .bytes = {}};
  if (found->size_bytes != static_cast<std::uint64_t>(array.size_bytes()))
    return refuse_variable(call, found->name + " has " + std::to_string(found->size_bytes) +
                                     " bytes, and the array has " + std::to_string(array.size_bytes()));
  return detail::KeptVariable{
      .name = std::string(name), .symbol = found->symbol, .is_constant = found->is_constant, .bytes = {}};
}

/// The memory of a variable as if it were that array.
Result<AnyArray> as_array_like(const detail::KeptVariable& kept, const AnyArray& array, std::string_view call) {
  if (kept.bytes.size_bytes() != array.size_bytes())
    return refuse_variable(call, kept.name + " has " + std::to_string(kept.bytes.size_bytes()) +
                                     " bytes, and the array has " + std::to_string(array.size_bytes()));
  return AnyArray::over(kept.bytes.block(), array.dtype(), array.shape());
}

}  // namespace

KernelSource& KernelSource::add_flag(std::string_view flag) {
  // Whoever reads it takes what is in quotation marks as it is, and joins what touches.
  if (!flags_.empty()) flags_ += ' ';
  while (!flag.empty()) {
    const bool is_single = flag.front() == '\'';
    const std::size_t end = is_single ? flag.find_first_not_of('\'') : flag.find('\'');
    const std::string_view part = flag.substr(0, end);
    const char quote = is_single ? '"' : '\'';
    flags_ += quote + std::string(part) + quote;
    flag.remove_prefix(part.size());
  }
  return *this;
}

const std::string& Program::log() const noexcept {
  static const std::string kNothing;
  return data_ ? data_->log : kNothing;
}

std::vector<std::string> Program::kernels() const {
  std::vector<std::string> signatures;
  if (data_)
    for (const detail::ProgramKernel& kernel : data_->kernels.all()) signatures.push_back(kernel.signature);
  return signatures;
}

std::vector<std::string> Program::variables() const {
  std::vector<std::string> names;
  if (data_)
    for (const detail::ProgramVariable& variable : data_->kernels.variables()) names.push_back(variable.name);
  return names;
}

std::span<const std::byte> Program::image() const noexcept {
  if (!data_) return {};
  return std::as_bytes(std::span(data_->image.data(), static_cast<std::size_t>(data_->image.size())));
}

Result<AnyKernel> Program::kernel(std::string_view name) const {
  if (!data_) return fail(ErrorKind::invalid_argument, "kernel: the program is empty; compile it first");
  AnyKernel kernel;
  kernel.found_ = TROUPE_TRY(data_->kernels.find("kernel", name));
  kernel.name_ = name;
  kernel.program_ = data_;
  return kernel;
}

Result<void> AnyKernel::check(std::span<const detail::KernelArgument> parameters) const {
  return found_ ? detail::check_signature(*found_, parameters) : Result<void>();
}

Call<void> Jit::set(const Program& program, std::string_view variable, const AnyArray& from) const {
  Result<detail::KeptVariable> found = variable_of("set", program.data_.get(), variable, from);
  if (!found) return fail(std::move(found).error());
  const Result<detail::KeptVariable> kept = program.data_->keep(device_, *std::move(found), from.size_bytes());
  if (!kept) return fail(kept.error());
  const Result<AnyArray> to = as_array_like(*kept, from, "set");
  if (!to) return fail(to.error());
  const op::SetVariable op{.program = program.data_->as_op(),
                           .variable = kept->name,
                           .symbol = kept->symbol,
                           .from = from.view(),
                           .kept = to->view()};
  return make_call(device_, op, {&from, &*to, &program.data_->image});
}

Call<void> Jit::set_bytes(const Program& program, std::string_view variable, std::span<const std::byte> bytes) const {
  const Result<HostArray<std::uint8_t>> array =
      device_.host_array<std::uint8_t>({static_cast<std::int64_t>(bytes.size())});
  if (!array) return fail(array.error());
  if (!bytes.empty()) std::memcpy(const_cast<std::uint8_t*>(array->data()), bytes.data(), bytes.size());
  return set(program, variable, *array);
}

Call<void> Jit::get(const Program& program, std::string_view variable, const AnyArray& into) const {
  const Result<detail::KeptVariable> found = variable_of("get", program.data_.get(), variable, into);
  if (!found) return fail(found.error());
  const std::optional<detail::KeptVariable> kept = program.data_->find_kept(found->symbol);
  if (!kept)
    return refuse_variable("get", std::string(variable) +
                                      " was never set; set it first, so that what kernels make of it is kept when a "
                                      "worker is lost");
  const Result<AnyArray> from = as_array_like(*kept, into, "get");
  if (!from) return fail(from.error());
  return device_.copy(*from, into);
}

}  // namespace troupe::inline v0

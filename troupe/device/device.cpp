#include "troupe/device/device.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/plugin.hpp"

namespace troupe::inline v0 {

class Device::Handle {
 public:
  explicit Handle(std::shared_ptr<detail::DeviceState> state) noexcept : state_(std::move(state)) {}
  ~Handle() {
    if (!state_->system().is_forked()) state_->close();  // in a fork, it is the parent's
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const std::shared_ptr<detail::DeviceState>& state() const noexcept { return state_; }

 private:
  const std::shared_ptr<detail::DeviceState> state_;
};

Result<Device> Device::open(System& system, const DeviceInfo& info, const DeviceOptions& options) {
  return Device(std::make_shared<Handle>(TROUPE_TRY(detail::DeviceState::open(system.core(), info, options))));
}

const std::shared_ptr<detail::DeviceState>& Device::state() const noexcept { return handle_->state(); }
EventStream& Device::events() const noexcept { return state()->system().events(); }
const DeviceInfo& Device::info() const noexcept { return state()->info(); }
std::int64_t Device::generation() const noexcept { return state()->generation(); }
int Device::worker_pid() const noexcept { return state()->worker_pid(); }

bool Device::kill_worker() const noexcept {
  const int pid = state()->system().is_forked() ? 0 : worker_pid();
  return pid > 0 && ::kill(pid, SIGKILL) == 0;  // 0 would kill the whole group
}

Device Device::as(std::string_view account) const {
  return Device(handle_, state()->engine().ledger().account_of(account));
}

DeviceStats Device::stats() const {
  if (state()->system().is_forked()) return {};
  const EngineStats engine = state()->engine().stats();
  return {.generation = generation(),
          .submitted = engine.submitted,
          .waiting = engine.waiting,
          .reruns = engine.reruns,
          .culprits = engine.culprits,
          .memory = state()->vault().stats(),
          .host_memory = state()->host_vault().stats()};
}

void Device::close() {
  if (state()->system().is_forked()) return;
  state()->close();
  state()->wait_until_shut();
}

namespace {

Result<void> allocate_in(detail::DeviceState& state, detail::Vault& vault, AnyArray& array, const Shape& shape,
                         AnyArray::Chunk chunk = AnyArray::Chunk::shared) {
  Result<void> made = array.allocate(vault, shape, chunk);
  if (!made && made.error().kind() == ErrorKind::stopped) return fail(state.why_shut());
  return made;
}

/// In memory that dies with its worker.
Result<void> allocate_mortal(detail::DeviceState& state, AnyArray& array, const Shape& shape,
                             wire::ChunkMemory memory) {
  const detail::IntrusivePtr<detail::Vault> vault = state.mortal_vault(memory);
  if (!vault) return fail(state.why_shut());
  return allocate_in(state, *vault, array, shape);
}

Result<void> check_array(detail::DeviceState& state, std::string_view call, std::string_view name,
                         const AnyArray& array) {
  const auto refuse = [&](ErrorKind kind, const std::string& why) {
    return fail(kind, std::string(call) + ": " + std::string(name) + " " + why);
  };
  if (!array) return refuse(ErrorKind::invalid_argument, "is an empty handle: default-constructed or moved from");
  const detail::Vault* vault = &array.block()->vault();
  if (vault == &state.vault() || vault == &state.host_vault()) return {};
  if (vault->generation() == 0 || vault->device() != state.info().index)
    return refuse(ErrorKind::invalid_argument, "belongs to another device");
  if (vault == state.mortal_vault(wire::ChunkMemory::managed).get() ||
      vault == state.mortal_vault(wire::ChunkMemory::local).get())
    return {};
  return refuse(ErrorKind::buffer_stale, "has memory that died with its worker (generation " +
                                             std::to_string(vault->generation()) + "); make it anew");
}

Result<void> check_arrays(detail::DeviceState& state, const op::OpInfo& info, const op::Views& views,
                          std::span<const AnyArray* const> arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i)
    TROUPE_TRY(check_array(state, info.call(), i < views.size() ? views.all()[i].name : "an array", *arrays[i]));
  return {};
}

Result<void> check_sealed(const op::OpInfo& info, const op::Views& views, const op::Touches& touches,
                          std::span<const AnyArray* const> arrays) {
  for (const op::Touch& touch : touches.all())
    if (touch.writes && arrays[touch.view]->block()->is_sealed())
      return fail(ErrorKind::invalid_argument, std::string(info.call()) + ": " + op::argument_name(views, touch.view) +
                                                   " is sealed; unseal it first");
  return {};
}

/// Whether the op copies between the device's memory and the app's: a GPU does that beside its computations.
bool is_transfer(detail::DeviceState& state, op::Kind kind, std::span<const AnyArray* const> arrays) {
  if (op::Family{op::family_number(kind)} != op::kMemoryFamily) return false;
  const auto is_the_apps = [&](const AnyArray* array) { return &array->block()->vault() == &state.host_vault(); };
  return std::ranges::any_of(arrays, is_the_apps) && !std::ranges::all_of(arrays, is_the_apps);
}

Result<void> check_sealable(detail::DeviceState& state, const char* function, const AnyArray& array) {
  const auto refuse = [&](const char* why) {
    return fail(ErrorKind::invalid_argument, std::string(function) + ": the array " + why);
  };
  if (!array) return refuse("is an empty handle: default-constructed or moved from");
  const detail::VaultBlock& block = *array.block();
  if (block.size_bytes() > 0 && !block.has_own_chunk())
    return refuse("shares its chunk of memory with others; make it with sealable_array");
  if (&block.vault() != &state.vault()) return refuse("belongs to another device");
  return {};
}

/// An op that has all of the memory to itself.
Call<void> change_seal(const Device& device, const AnyArray& array, const char* function, Sealing sealing) {
  if (const Result<void> good = check_sealable(*DeviceParts::state(device), function, array); !good)
    return fail(good.error());
  const auto bytes = static_cast<std::int64_t>(array.block()->size_bytes());
  const Result<AnyArray> whole = AnyArray::over(array.block(), DType::u8, {bytes});
  if (!whole) return fail(whole.error());
  const op::Ready op{.in = whole->view()};
  const std::array<const AnyArray*, 1> arrays{&*whole};
  Result<detail::IntrusivePtr<detail::OpCall>> call =
      DeviceParts::make_op_call(device, op::info_of<op::Ready>(), &op, arrays);
  if (!call) return fail(call.error());
  if (bytes > 0) {
    (*call)->sealing = sealing;
    for (BlockUse& use : (*call)->uses.all()) use.touch.writes = true;  // nobody else uses it meanwhile
  }
  return {DeviceParts::state(device), std::move(*call)};
}

}  // namespace

Result<void> Device::allocate_sealable(AnyArray& array, const Shape& shape) const {
  TROUPE_TRY(state()->system().check_not_forked());
  if (!info().keeps_memory)
    return fail(ErrorKind::unsupported,
                "this driver cannot export memory: arrays die with their worker, and cannot be "
                "sealed");
  TROUPE_TRY(allocate_in(*state(), state()->vault(), array, shape, AnyArray::Chunk::own));
  array.block()->make_empty();
  return {};
}

Result<AnyArray> Device::array(DType dtype, const Shape& shape) const {
  AnyArray array(dtype);
  TROUPE_TRY(allocate(array, shape));
  return array;
}

Result<void> Device::allocate(AnyArray& array, const Shape& shape) const {
  TROUPE_TRY(state()->system().check_not_forked());
  TROUPE_TRY(info().keeps_memory ? allocate_in(*state(), state()->vault(), array, shape)
                                 : allocate_mortal(*state(), array, shape, wire::ChunkMemory::local));
  array.block()->make_empty();
  return {};
}

Result<void> Device::allocate_managed(AnyArray& array, const Shape& shape) const {
  TROUPE_TRY(state()->system().check_not_forked());
  return allocate_mortal(*state(), array, shape, wire::ChunkMemory::managed);
}

Result<void> Device::allocate_host(AnyArray& array, const Shape& shape) const {
  TROUPE_TRY(state()->system().check_not_forked());
  return allocate_in(*state(), state()->host_vault(), array, shape);
}

Result<void> DeviceParts::check(const Device& device, std::string_view call, std::string_view name,
                                const AnyArray& array) {
  return check_array(*state(device), call, name, array);
}

Result<detail::IntrusivePtr<detail::OpCall>> DeviceParts::make_op_call(const Device& device, const op::OpInfo& info,
                                                                       const void* op,
                                                                       std::span<const AnyArray* const> arrays) {
  op::Views views;
  info.views(op, views);
  if (views.size() > arrays.size() || arrays.size() > op::kMaxViews)
    return fail(ErrorKind::invalid_argument, std::string(info.name) + ": there are " + std::to_string(arrays.size()) +
                                                 " arrays for " + std::to_string(views.size()) +
                                                 " views; there must be one for each view, and at most " +
                                                 std::to_string(op::kMaxViews));
  TROUPE_TRY(check_arrays(*state(device), info, views, arrays));
  op::Toucher toucher;
  TROUPE_TRY(op::examine(info, op, views, toucher));
  TROUPE_TRY(check_sealed(info, views, toucher.touches(), arrays));
  auto call = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  call->kind = info.kind;
  call->account = device.account_;
  for (const op::Touch& touch : toucher.touches().all()) call->uses.add(arrays[touch.view]->block(), touch);
  for (const AnyArray* const array : arrays.subspan(views.size()))
    call->uses.add(array->block(), {});  // an array without a view: it is kept until the op ends
  op::encode(info, op, call->bytes);
  if (call->bytes.bytes().size() > op::kMaxOpBytes)
    return fail(ErrorKind::invalid_argument, std::string(info.name) + ": the op has " +
                                                 std::to_string(call->bytes.bytes().size()) +
                                                 " bytes; it may have at most " + std::to_string(op::kMaxOpBytes));
  call->lane = state(device)->lane_for(info.kind);
  const Lanes& lanes = state(device)->options().lanes;
  call->follows = lanes.policy == Lanes::Policy::by_dependency &&
                  !lanes.is_apart(static_cast<op::Family>(op::family_number(info.kind))) &&
                  info.kind != op::Nop::kKind && !is_transfer(*state(device), info.kind, arrays);
  return call;
}

Call<void> Device::fill_with(const AnyArray& array, const op::Scalar& value) const {
  return make_call(*this, op::Fill{.out = array.view(), .value = value}, {&array});
}

Call<void> Device::copy(const AnyArray& from, const AnyArray& to) const {
  return make_call(*this, op::Copy{.in = from.view(), .out = to.view()}, {&from, &to});
}

Call<void> Device::cast(const AnyArray& from, const AnyArray& to) const {
  return make_call(*this, op::Cast{.in = from.view(), .out = to.view()}, {&from, &to});
}

namespace {

op::PluginCall plugin_op(const std::string& path, const std::string& function, std::span<const ArrayUse> arrays,
                         std::span<const std::byte> parameters, std::vector<const AnyArray*>& used) {
  op::PluginCall op{
      .path = path, .function = function, .arrays = {}, .parameters = {parameters.begin(), parameters.end()}};
  op.arrays.reserve(arrays.size());
  used.reserve(arrays.size());
  for (const ArrayUse& array : arrays) {
    op.arrays.push_back({.access = array.access(), .view = array.array().view()});
    used.push_back(&array.array());
  }
  return op;
}

}  // namespace

Call<void> Device::call_plugin(const std::string& path, const std::string& function, std::vector<ArrayUse> arrays,
                               std::span<const std::byte> parameters) const {
  std::vector<const AnyArray*> used;
  const op::PluginCall op = plugin_op(path, function, arrays, parameters, used);
  return make_call(*this, op, used);
}

Result<std::uint64_t> DeviceParts::prepare(const Device& device, const std::string& path, const std::string& function,
                                           std::span<const ArrayUse> arrays, std::span<const std::byte> parameters) {
  std::vector<const AnyArray*> used;
  const op::PluginCall op = plugin_op(path, function, arrays, parameters, used);
  const auto call = TROUPE_TRY(make_op_call(device, op::info_of<op::PluginCall>(), &op, used));
  const std::span<const std::byte> bytes = call->bytes.bytes();
  return state(device)->chunks().prepare({bytes.begin(), bytes.end()});
}

void DeviceParts::forget(const Device& device, std::uint64_t prepared) noexcept {
  state(device)->chunks().forget(prepared);
}

Call<void> Device::nop() const { return make_call(*this, op::Nop{}, {}); }

Call<void> Device::wait_for(const AnyArray& array) const {
  return named(make_call(*this, op::Ready{.in = array.view()}, {&array}), "wait_for");
}

Call<void> Device::seal(const AnyArray& array) const { return change_seal(*this, array, "seal", Sealing::seal); }
Call<void> Device::unseal(const AnyArray& array) const { return change_seal(*this, array, "unseal", Sealing::unseal); }

}  // namespace troupe::inline v0

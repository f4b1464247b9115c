#include "troupe/device/device.hpp"

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
  return pid > 0 && ::kill(pid, SIGKILL) == 0;  // 0 would be everybody
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

Result<void> allocate_in(detail::DeviceState& state, detail::Vault& vault, AnyArray& array, const Shape& shape) {
  Result<void> made = array.allocate(vault, shape);
  if (!made && made.error().kind() == ErrorKind::stopped) return fail(state.why_shut());
  return made;
}

/// In memory that goes with its worker.
Result<void> allocate_mortal(detail::DeviceState& state, AnyArray& array, const Shape& shape,
                             wire::ChunkMemory memory) {
  const detail::IntrusivePtr<detail::Vault> vault = state.mortal_vault(memory);
  if (!vault) return fail(state.why_shut());
  return allocate_in(state, *vault, array, shape);
}

Result<void> check_arrays(detail::DeviceState& state, const op::OpInfo& info, const op::Views& views,
                          std::span<const AnyArray* const> arrays) {
  const auto refuse = [&](std::size_t which, ErrorKind kind, const std::string& why) {
    const std::string array(which < views.size() ? views.all()[which].name : "an array");
    return fail(kind, std::string(info.call()) + ": " + array + " " + why);
  };
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!*arrays[i])
      return refuse(i, ErrorKind::invalid_argument, "is an empty handle: default-constructed or moved from");
    const detail::Vault* vault = &arrays[i]->block()->vault();
    if (vault == &state.vault() || vault == &state.host_vault()) continue;
    if (vault->generation() == 0 || vault->device() != state.info().index)
      return refuse(i, ErrorKind::invalid_argument, "belongs to another device");
    if (vault != state.mortal_vault(wire::ChunkMemory::managed).get() &&
        vault != state.mortal_vault(wire::ChunkMemory::local).get())
      return refuse(i, ErrorKind::buffer_stale,
                    "has memory that died with its worker (generation " + std::to_string(vault->generation()) +
                        "); make it anew");
  }
  return {};
}

}  // namespace

Result<void> Device::allocate(AnyArray& array, const Shape& shape) const {
  TROUPE_TRY(state()->system().check_not_forked());
  if (!info().keeps_memory) return allocate_mortal(*state(), array, shape, wire::ChunkMemory::local);
  return allocate_in(*state(), state()->vault(), array, shape);
}

Result<void> Device::allocate_managed(AnyArray& array, const Shape& shape) const {
  TROUPE_TRY(state()->system().check_not_forked());
  return allocate_mortal(*state(), array, shape, wire::ChunkMemory::managed);
}

Result<void> Device::allocate_host(AnyArray& array, const Shape& shape) const {
  TROUPE_TRY(state()->system().check_not_forked());
  return allocate_in(*state(), state()->host_vault(), array, shape);
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
  auto call = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  call->kind = info.kind;
  for (const op::Touch& touch : toucher.touches().all()) call->uses.add(arrays[touch.view]->block(), touch);
  for (const AnyArray* const array : arrays.subspan(views.size()))
    call->uses.add(array->block(), {});  // it has no view: it is kept until the op ends
  op::encode(info, op, call->bytes);
  if (call->bytes.bytes().size() > op::kMaxOpBytes)
    return fail(ErrorKind::invalid_argument, std::string(info.name) + ": the op has " +
                                                 std::to_string(call->bytes.bytes().size()) +
                                                 " bytes; it may have at most " + std::to_string(op::kMaxOpBytes));
  call->lane = state(device)->lane_for(info.kind);
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

Call<void> Device::call_plugin(const std::string& path, const std::string& function, std::vector<ArrayUse> arrays,
                               std::span<const std::byte> parameters) const {
  op::PluginCall op{
      .path = path, .function = function, .arrays = {}, .parameters = {parameters.begin(), parameters.end()}};
  std::vector<const AnyArray*> used;
  for (const ArrayUse& array : arrays) {
    op.arrays.push_back({.access = array.access(), .view = array.array().view()});
    used.push_back(&array.array());
  }
  return make_call(*this, op, used);
}

Call<void> Device::nop() const { return make_call(*this, op::Nop{}, {}); }

Call<void> Device::ready(const AnyArray& array) const {
  return make_call(*this, op::Ready{.in = array.view()}, {&array});
}

}  // namespace troupe::inline v0

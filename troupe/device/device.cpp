#include "troupe/device/device.hpp"

#include <csignal>

#include "troupe/device/device_state.hpp"

namespace troupe {

class Device::Handle {
 public:
  explicit Handle(std::shared_ptr<DeviceState> state) noexcept : state_(std::move(state)) {}
  ~Handle() { state_->close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const std::shared_ptr<DeviceState>& state() const noexcept { return state_; }

 private:
  const std::shared_ptr<DeviceState> state_;
};

Result<Device> Device::open(System& system, const DeviceInfo& info, const DeviceOptions& options) {
  return Device(std::make_shared<Handle>(TROUPE_TRY(DeviceState::open(system.core(), info, options))));
}

const std::shared_ptr<DeviceState>& Device::state() const noexcept { return handle_->state(); }
EventStream& Device::events() const noexcept { return state()->system().events(); }
const DeviceInfo& Device::info() const noexcept { return state()->info(); }
std::int64_t Device::generation() const noexcept { return state()->generation(); }
int Device::worker_pid() const noexcept { return state()->worker_pid(); }

bool Device::kill_worker() const noexcept {
  const int pid = worker_pid();
  return pid > 0 && ::kill(pid, SIGKILL) == 0;  // 0 would be everybody
}

std::uint32_t Device::lane_for(op::Kind kind) const noexcept { return state()->lane_for(kind); }

DeviceStats Device::stats() const {
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
  state()->close();
  state()->wait_until_shut();
}

Result<void> Device::allocate_in(Vault& vault, AnyArray& array, const Shape& shape) const {
  Result<void> made = array.allocate(vault, shape);
  if (!made && made.error().kind() == ErrorKind::stopped) return fail(state()->why_shut());
  return made;
}

Result<void> Device::allocate(AnyArray& array, const Shape& shape) const {
  if (!info().keeps_memory) return allocate_mortal(array, shape, backend::ChunkMemory::local);
  return allocate_in(state()->vault(), array, shape);
}

Result<void> Device::allocate_mortal(AnyArray& array, const Shape& shape, backend::ChunkMemory memory) const {
  const IntrusivePtr<Vault> vault = state()->mortal_vault(memory);
  if (!vault) return fail(state()->why_shut());
  return allocate_in(*vault, array, shape);
}

Result<void> Device::allocate_host(AnyArray& array, const Shape& shape) const {
  return allocate_in(state()->host_vault(), array, shape);
}

Result<void> Device::check_arrays(std::string_view op, std::span<const AnyArray* const> arrays) const {
  if (arrays.size() > op::kMaxViews)
    return fail(ErrorKind::invalid_argument,
                std::string(op) + ": an op has at most " + std::to_string(op::kMaxViews) + " arrays");
  for (const AnyArray* array : arrays) {
    if (!*array)
      return fail(ErrorKind::invalid_argument,
                  std::string(op) + ": an array is empty: it was moved from, or never made");
    const Vault* vault = &array->block()->vault();
    if (vault == &state()->vault() || vault == &state()->host_vault()) continue;
    if (vault->generation() == 0 || vault->device() != info().index)
      return fail(ErrorKind::invalid_argument, std::string(op) + ": an array belongs to another device");
    if (vault != state()->mortal_vault(backend::ChunkMemory::managed).get() &&
        vault != state()->mortal_vault(backend::ChunkMemory::local).get())
      return fail(ErrorKind::buffer_stale, std::string(op) + ": an array's memory died with its worker (generation " +
                                               std::to_string(vault->generation()) + "); make it anew");
  }
  return {};
}

Call<void> Device::fill_with(const AnyArray& array, const op::Scalar& value) const {
  return make_call(op::Fill{.out = array.view(), .value = value}, {&array});
}

namespace {

Result<void> check_same_shape(std::string_view op, const AnyArray& from, const AnyArray& to) {
  if (from.shape() == to.shape()) return {};
  return fail(ErrorKind::invalid_argument,
              std::string(op) + ": the shapes differ: " + from.shape().to_string() + " and " + to.shape().to_string());
}

Result<void> check_same_type(std::string_view op, const AnyArray& from, const AnyArray& to) {
  if (from.dtype() == to.dtype()) return {};
  return fail(ErrorKind::invalid_argument, std::string(op) + ": the types differ: " + std::string(name(from.dtype())) +
                                               " and " + std::string(name(to.dtype())) + "; cast converts");
}

}  // namespace

Result<IntrusivePtr<OpCall>> Device::copy_call(const AnyArray& from, const AnyArray& to) const {
  TROUPE_TRY(check_same_type(op::Copy::kName, from, to));
  TROUPE_TRY(check_same_shape(op::Copy::kName, from, to));
  const AnyArray* const arrays[] = {&from, &to};
  return make_op_call(op::Copy{.in = from.view(), .out = to.view()}, arrays);
}

Call<void> Device::copy(const AnyArray& from, const AnyArray& to) const {
  Result<IntrusivePtr<OpCall>> call = copy_call(from, to);
  if (!call) return fail(std::move(call).error());
  return {state(), std::move(*call)};
}

Call<void> Device::cast(const AnyArray& from, const AnyArray& to) const {
  if (Result<void> same = check_same_shape(op::Cast::kName, from, to); !same) return fail(std::move(same).error());
  return make_call(op::Cast{.in = from.view(), .out = to.view()}, {&from, &to});
}

Call<void> Device::call_plugin(const std::string& path, const std::string& function, std::vector<ArrayUse> arrays,
                               std::span<const std::byte> parameters) const {
  if (path.empty() || path.size() > op::kMaxTextBytes || function.empty() || function.size() > op::kMaxTextBytes)
    return fail(ErrorKind::invalid_argument, "a plugin's path and its function have 1 to 4096 characters");
  if (parameters.size() > op::kMaxParameterBytes)
    return fail(ErrorKind::invalid_argument, "a plugin call takes at most 4096 bytes of parameters");
  if (arrays.size() > op::kMaxPluginArrays)
    return fail(ErrorKind::invalid_argument,
                "a plugin call takes at most " + std::to_string(op::kMaxPluginArrays) + " arrays");
  op::PluginCall op{
      .path = path, .function = function, .arrays = {}, .parameters = {parameters.begin(), parameters.end()}};
  std::vector<const AnyArray*> used;
  for (const ArrayUse& array : arrays) {
    op.arrays.push_back({.access = array.access(), .view = array.array().view()});
    used.push_back(&array.array());
  }
  return make_call(op, used);
}

Call<void> Device::nop() const { return make_call(op::Nop{}, {}); }

Call<void> Device::ready(const AnyArray& array) const { return make_call(op::Ready{.in = array.view()}, {&array}); }

}  // namespace troupe

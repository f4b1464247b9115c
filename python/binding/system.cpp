// Systems and devices.

#include "handle.hpp"
#include "troupe/device/make_call.hpp"

namespace troupe::python {
namespace {

/// A system that Python can close.
class OwnedSystem {
 public:
  OwnedSystem(std::optional<int> threads, bool logs) {
    SystemOptions options;
    options.threads = threads;
    if (!logs) options.log = log_nothing();
    system_.emplace(checked(System::create(std::move(options))));
  }
  ~OwnedSystem() { close(5.0); }

  System& get() {
    if (!system_) raise(ErrorKind::stopped, "the system is closed");
    return *system_;
  }
  bool is_closed() const noexcept { return !system_; }
  void close(double seconds) {
    if (!system_) return;
    nb::gil_scoped_release released;
    (void)system_->shutdown(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
    system_.reset();
  }

 private:
  std::optional<System> system_;
};

/// Texts that options point to while a device is opened.
struct Texts {
  std::vector<std::string> owned;
  std::vector<std::string_view> views;
  std::span<const std::string_view> set(nb::handle list) {
    for (const nb::handle item : list) owned.push_back(nb::cast<std::string>(item));
    views.assign(owned.begin(), owned.end());
    return views;
  }
};

struct OpenOptions {
  DeviceOptions options;
  std::string worker;
  Texts arguments, environment, readable, writable;
};

Duration seconds_from(nb::handle number) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(nb::cast<double>(number)));
}

Sandbox sandbox_from(const std::string& word) {
  for (const Sandbox level : {Sandbox::none, Sandbox::standard, Sandbox::strict})
    if (word == name(level)) return level;
  raise(ErrorKind::invalid_argument, "sandbox is \"" + word + "\"; it can be none, standard or strict");
}

void set_option(OpenOptions& open, const std::string& key, nb::handle value) {
  DeviceOptions& options = open.options;
  if (key == "standbys")
    options.standbys = nb::cast<int>(value);
  else if (key == "standby")
    options.standby = nb::cast<bool>(value) ? Standby::warm : Standby::none;
  else if (key == "cpu_threads")
    options.cpu_threads = nb::cast<int>(value);
  else if (key == "vault_limit_bytes")
    options.vault_limit_bytes = nb::cast<std::uint64_t>(value);
  else if (key == "host_limit_bytes")
    options.host_limit_bytes = nb::cast<std::uint64_t>(value);
  else if (key == "worker_memory_limit_bytes")
    options.worker_memory_limit_bytes = nb::cast<std::uint64_t>(value);
  else if (key == "max_waiting")
    options.max_waiting = nb::cast<std::uint32_t>(value);
  else if (key == "max_restarts")
    options.max_restarts = nb::cast<int>(value);
  else if (key == "guard")
    options.guard = nb::cast<bool>(value);
  else if (key == "await_each")
    options.await_each = nb::cast<bool>(value);
  else if (key == "silence_limit")
    options.silence_limit = seconds_from(value);
  else if (key == "start_timeout")
    options.start_timeout = seconds_from(value);
  else if (key == "worker")
    open.worker = nb::cast<std::string>(value);
  else if (key == "worker_arguments")
    options.worker_arguments = open.arguments.set(value);
  else if (key == "plugins_apart")
    options.lanes = nb::cast<bool>(value) ? Lanes().apart(op::Family::plugin) : Lanes();
  else if (key == "sandbox")
    options.sandbox = sandbox_from(nb::cast<std::string>(value));
  else if (key == "environment")
    options.worker_environment = open.environment.set(value);
  else if (key == "readable_paths")
    options.readable_paths = open.readable.set(value);
  else if (key == "writable_paths")
    options.writable_paths = open.writable.set(value);
  else
    raise(ErrorKind::invalid_argument, "device has no option \"" + key + "\"; docs/python.md lists them");
}

Device open(OwnedSystem& owner, nb::handle which, const nb::dict& given) {
  OpenOptions open;
  for (const auto& [key, value] : given) set_option(open, nb::cast<std::string>(key), value);
  open.options.worker_executable = open.worker;
  System& system = owner.get();
  const bool is_number = PyLong_Check(which.ptr()) != 0;
  const int number = is_number ? nb::cast<int>(which) : 0;
  const std::string text = is_number ? std::string() : nb::cast<std::string>(which);
  Result<Device> device = [&] {
    nb::gil_scoped_release released;
    return is_number ? system.device(number, open.options) : system.device(text, open.options);
  }();
  return checked(std::move(device));
}

nb::dict described(const DeviceInfo& info) {
  nb::dict all;
  all["index"] = info.index;
  all["backend"] = info.backend;
  all["id"] = info.id;
  all["name"] = info.name;
  all["memory_bytes"] = info.memory_bytes;
  all["capability"] = info.capability;
  all["keeps_memory"] = info.keeps_memory;
  return all;
}

nb::dict counted(const DeviceStats& stats) {
  nb::dict all;
  all["submitted"] = stats.submitted;
  all["waiting"] = stats.waiting;
  all["reruns"] = stats.reruns;
  all["culprits"] = stats.culprits;
  return all;
}

std::uintptr_t identity(const Device& device) {
  return reinterpret_cast<std::uintptr_t>(DeviceParts::state(device).get());
}

}  // namespace

void bind_system(nb::module_& module) {
  nb::class_<OwnedSystem>(module, "OwnedSystem", nb::is_weak_referenceable())
      .def(nb::init<std::optional<int>, bool>(), nb::arg("threads").none(), nb::arg("logs"))
      .def_prop_ro("is_closed", &OwnedSystem::is_closed)
      .def("close", &OwnedSystem::close)
      .def("open", &open)
      .def("devices", [](OwnedSystem& self) {
        nb::list all;
        for (const DeviceInfo& info : self.get().devices()) all.append(described(info));
        return all;
      });
  nb::class_<Device>(module, "DeviceHandle")
      .def_prop_ro("info", [](const Device& self) { return described(self.info()); })
      .def_prop_ro("generation", &Device::generation)
      .def_prop_ro("worker_pid", &Device::worker_pid)
      .def_prop_ro("identity", &identity)
      .def("stats", [](const Device& self) { return counted(self.stats()); })
      .def("renamed", [](const Device& self, const std::string& account) { return self.as(account); })
      .def("kill_worker", &Device::kill_worker)
      .def("close", &Device::close, nb::call_guard<nb::gil_scoped_release>());
  module.def("is_strict", [] { return is_strict(); });
  module.def("set_strict", [](bool strict) { is_strict() = strict; });
}

}  // namespace troupe::python

#include "troupe/worker/serve.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <latch>
#include <thread>

#include "troupe/backend/cuda/cuda_backend.hpp"
#include "troupe/backend/host/host_backend.hpp"
#include "troupe/backend/plugin/plugin_caller.hpp"
#include "troupe/core/sanitized.hpp"
#include "troupe/op/lanes_apart.hpp"
#include "troupe/worker/last_words.hpp"
#include "troupe/worker/loop.hpp"
#include "troupe/worker/preparer.hpp"
#include "troupe/worker/sandbox.hpp"

namespace troupe::worker {
namespace {

/// How long a poisoned worker waits before it ends, so that the worker that takes over gets a head start.
constexpr auto kHeadStart = std::chrono::milliseconds(5);
/// The app looks four times a second.
constexpr auto kHeartbeat = std::chrono::milliseconds(100);

/// What comes with a `Hello`.
struct Shared {
  wire::Hello hello;
  wire::Channel channel;
  wire::SharedBells bells;
};

Result<Shared> be_greeted(wire::Socket& socket) {
  wire::Message message = TROUPE_TRY(socket.receive());
  const wire::ToWorker decoded = TROUPE_TRY(wire::decode_to_worker(message.bytes));
  const wire::Hello* hello = std::get_if<wire::Hello>(&decoded);
  if (!hello || message.descriptors.size() != 3)
    return fail(ErrorKind::invalid_argument, "the app's first message is no greeting");
  if (hello->version != wire::protocol_version())
    return fail(ErrorKind::unsupported, "the worker is of another version than the app: the worker is " +
                                            wire::protocol_version() + ", the app is " + hello->version);
  wire::Channel channel =
      TROUPE_TRY(wire::Channel::open(std::move(message.descriptors[0]), std::move(message.descriptors[1]),
                                     hello->ring_units, wire::MarkKey(hello->mark_secret)));
  wire::SharedBells bells = TROUPE_TRY(wire::SharedBells::open(std::move(message.descriptors[2])));
  return Shared{*hello, std::move(channel), std::move(bells)};
}

void limit_own_memory(std::uint64_t bytes) {
  if (bytes == 0 || kSanitized) return;  // a sanitizer maps terabytes that it never touches
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  setrlimit(RLIMIT_DATA, &limit);  // private memory only: the vault is shared memory and does not count
}

/// The limit that the app had when it started this worker may have been low for a moment, and chunks of memory need
/// descriptors for as long as the worker lives.
void allow_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// The app drops a chunk when the timelines have told it that no op uses it any more. This thread looks at them, too:
/// so what the lanes did with the chunk comes before what is done with it here (acquire), without relying on the app.
void catch_up_with_lanes(const wire::Channel& channel) noexcept {
  for (std::uint32_t lane = 0; lane < wire::kMaxLanes; ++lane) (void)channel.timeline(lane).now();
}

template <backend::Backend B>
Result<void> make_memory(wire::Socket& socket, B& backend, const wire::Chunk& chunk) {
  const auto refuse = [&](const Error& why) -> Result<void> {
    if (why.kind() == ErrorKind::context_poisoned) return fail(why);  // the app asks the next worker
    return send(socket, wire::ToApp(wire::NoMemory{why.kind(), std::string(why.message())}));
  };
  if (wire::dies_with_its_worker(chunk.memory)) {
    const Result<void> made = backend.memory().make_here(chunk);
    return made ? send(socket, wire::ToApp(wire::MemoryMade{})) : refuse(made.error());
  }
  const Result<wire::Descriptor> made = backend.memory().make(chunk.size_bytes);
  if (!made) return refuse(made.error());
  const std::array<int, 1> descriptor{made->get()};
  return send(socket, wire::ToApp(wire::MemoryMade{}), descriptor);
}

/// A worker that cannot do it ends; the next one maps the chunk with the right protection from the start.
template <backend::Backend B>
Result<void> protect(wire::Socket& socket, B& backend, const wire::ProtectChunk& wanted,
                     std::vector<wire::Descriptor> descriptors) {
  descriptors.resize(1);  // one, or none
  TROUPE_TRY(backend.memory().protect(wanted, std::move(descriptors[0])));
  return send(socket, wire::ToApp(wire::ChunkProtected{wanted.id, wanted.read_only}));
}

/// An address in this process, or in the accelerator.
inline void* pointer_to(std::byte* address) noexcept { return address; }
inline void* pointer_to(std::uint64_t address) noexcept {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Runs a call of a plugin beside the ring, for later ones on the lane that they take on a GPU. Whoever needs what it
/// makes finds out how it ended.
template <backend::Backend B>
void prepare(B& backend, backend::PluginCaller& plugins, const op::AnyOp& op) {
  const auto* const call = op.get_if<op::PluginCall>();
  const Result<void*> lane = backend.lane_for_plugins(op::kLanesApart.front());
  if (call == nullptr || !lane) return;
  auto& memory = backend.memory();
  for (const op::Argument& argument : call->arrays) {
    const Result<op::Range> range = op::range_of(argument.view);
    if (!range || !memory.contains(*range)) return;  // its chunk was dropped meanwhile
  }
  (void)plugins.call(*call, *lane, [&](const op::View& view) { return pointer_to(memory.at(view.address)); }, [] {});
}

/// Handles the app's messages until it hangs up.
template <backend::Backend B>
Result<void> listen(wire::Socket& socket, const wire::Channel& channel, B& backend, Preparer& preparer, Title* title) {
  for (;;) {
    Result<wire::Message> message = socket.receive();
    if (!message) return fail(message.error());
    const wire::ToWorker decoded = TROUPE_TRY(wire::decode_to_worker(message->bytes));
    catch_up_with_lanes(channel);
    if (const auto* chunk = std::get_if<wire::MapChunk>(&decoded)) {
      if (message->descriptors.size() != 1) return fail(ErrorKind::invalid_argument, "a chunk came without its memory");
      TROUPE_TRY(backend.memory().map(chunk->chunk, std::move(message->descriptors[0])));
    } else if (const auto* wanted = std::get_if<wire::MakeMemory>(&decoded)) {
      TROUPE_TRY(make_memory(socket, backend, wanted->chunk));
    } else if (const auto* wish = std::get_if<wire::ProtectChunk>(&decoded)) {
      TROUPE_TRY(protect(socket, backend, *wish, std::move(message->descriptors)));
    } else if (const auto* dropped = std::get_if<wire::DropChunk>(&decoded)) {
      backend.memory().unmap(dropped->id);
    } else if (const auto* prepared = std::get_if<wire::PrepareOp>(&decoded)) {
      TROUPE_TRY(preparer.add(prepared->op));
    } else if (const auto* began = std::get_if<wire::BeginGeneration>(&decoded)) {
      if (title) title->serving(began->generation);
    }
  }
}

/// Shows the app that this process runs, whatever its lanes do.
void start_heartbeat(wire::Channel& channel) {
  std::thread([&beat = channel.status().heartbeat] {
    pthread_setname_np(pthread_self(), "troupe-heart");
    for (;;) {
      beat.fetch_add(1, std::memory_order_relaxed);
      std::this_thread::sleep_for(kHeartbeat);
    }
  }).detach();  // it ends with the process
}

template <backend::Backend B>
Result<void> serve_with(wire::Socket& socket, Shared& shared, const ServeOptions& options) {
  backend::Setup setup{.channel = shared.channel, .bell = shared.bells.app(), .log = options.log};
  setup.device = shared.hello.device;
  setup.completion = shared.hello.completion;
  setup.cpu_threads = shared.hello.cpu_threads;
  setup.priorities = shared.hello.priorities;
  setup.poisoned = [&](const Error&) { shutdown(socket.descriptor(), SHUT_RDWR); };  // ends `listen`, and so the thread
  if (options.owns_process) {
    setup.in_new_thread = use_alternate_stack;
    setup.after_loading = install_exit_words;
    setup.poisoned = [&](const Error& why) {
      // The app need not wait until the driver has torn down this process. The teardown holds up the whole GPU, so the
      // worker that takes over goes first.
      const TimePoint now = std::chrono::steady_clock::now();
      (void)send(socket, wire::ToApp(wire::Poisoned{.kind = why.kind(),
                                                    .message = std::string(why.message()),
                                                    .native_code = why.origin().native_code,
                                                    .noticed = now.time_since_epoch().count()}));
      std::this_thread::sleep_for(kHeadStart);
      die_with_words(why);
    };
  }
  std::unique_ptr<B> backend = TROUPE_TRY(B::open(setup));
  backend::PluginCaller plugins(setup);
  Loop<B> loop(shared.channel, shared.bells.doorbell(shared.hello.doorbell), *backend);
  std::latch drains(1);
  std::thread drain([&] {
    pthread_setname_np(pthread_self(), "troupe-drain");
    setup.in_new_thread();
    // When this thread has ended, nothing is taken from the ring any more.
    if (options.owns_process) shared.bells.life_line(shared.hello.doorbell).hold();
    drains.count_down();
    loop.run();
  });
  drains.wait();
  if (options.title) options.title->standby();
  (void)send(socket, wire::ToApp(wire::Ready{wire::protocol_version()}));  // if nobody hears it, `listen` ends at once
  Preparer preparer([&](const op::AnyOp& op) { prepare(*backend, plugins, op); }, setup.in_new_thread);
  std::thread warm([&] { backend->warm(); });
  if (options.owns_process) warm.detach();  // the process ends without waiting for anybody
  const Result<void> end = listen(socket, shared.channel, *backend, preparer, options.title);
  if (end.error().kind() == ErrorKind::context_poisoned) setup.poisoned(end.error());  // we noticed before the backend
  if (options.owns_process) _exit(end.error().kind() == ErrorKind::stopped ? 0 : 1);   // nobody is left to work for
  backend->memory().close();
  loop.stop();
  drain.join();
  warm.join();
  if (end.error().kind() == ErrorKind::stopped) return {};
  return end;
}

Result<void> serve_greeted(wire::Socket& socket, Shared& shared, const ServeOptions& options) {
  if (options.title) options.title->starting(shared.hello.device_name);
  if (options.owns_process) {
    allow_descriptors();
    limit_own_memory(shared.hello.memory_limit_bytes);
    install_last_words(*reinterpret_cast<LastWords*>(shared.channel.status().last_words.data()), options.crashing);
    start_heartbeat(shared.channel);
    TROUPE_TRY(enter_sandbox({.level = shared.hello.sandbox,
                              .backend = shared.hello.backend,
                              .readable_paths = shared.hello.readable_paths,
                              .writable_paths = shared.hello.writable_paths},
                             options.log));
  }
  TROUPE_TRY(options.entered());
  if (shared.hello.backend == host::HostBackend::kName) return serve_with<host::HostBackend>(socket, shared, options);
#if TROUPE_CUDA_BACKEND
  if (shared.hello.backend == cuda::CudaBackend::kName) return serve_with<cuda::CudaBackend>(socket, shared, options);
  const std::string_view backends = "host, cuda";
#else
  const std::string_view backends = "host";
#endif
  return fail(ErrorKind::unsupported,
              "this worker has no backend \"" + shared.hello.backend + "\"; it has: " + std::string(backends));
}

}  // namespace

int print_devices() {
#if TROUPE_CUDA_BACKEND
  const Result<const cuda::Driver*> driver = cuda::Driver::load();
  const Result<std::vector<cuda::GpuInfo>> gpus = driver ? cuda::list_gpus(**driver) : fail(driver.error());
  if (!gpus) {
    std::fprintf(stderr, "cuda: %s\n", gpus.error().to_string().c_str());
    return 1;
  }
  for (const cuda::GpuInfo& gpu : *gpus)
    std::printf("cuda\t%s\t%llu\t%d\t%s\t%s\t%s\n", gpu.uuid.c_str(), static_cast<unsigned long long>(gpu.memory_bytes),
                10 * gpu.capability_major + gpu.capability_minor, gpu.can_export_memory ? "keeps" : "loses",
                gpu.is_exclusive ? "exclusive" : "shared", gpu.name.c_str());
#endif
  return 0;
}

Result<void> serve(wire::Socket socket, const ServeOptions& options) {
  Result<Shared> shared = be_greeted(socket);
  Result<void> end = shared ? serve_greeted(socket, *shared, options) : fail(shared.error());
  if (!end) (void)send(socket, wire::ToApp(wire::Refused{end.error().kind(), std::string(end.error().message())}));
  return end;
}

}  // namespace troupe::worker

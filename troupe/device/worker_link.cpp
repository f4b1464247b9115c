#include "troupe/device/worker_link.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "troupe/core/park.hpp"
#include "troupe/wire/last_words.hpp"
#include "troupe/wire/thread_worker.hpp"

namespace troupe::inline v0 {
namespace {

constexpr int kSocketInWorker = 3;
/// An argument that only makes room: the worker writes its title over its arguments.
constexpr std::size_t kTitleRoom = 64;
/// A longer line becomes several.
constexpr std::size_t kMaxPrintedLine = 4096;
/// How much of a worker's print is read at a time, before others have their turn.
constexpr std::size_t kPrintedStepBytes = 16 * 1024;
/// A pipe holds 64 KiB. After a worker's end, only processes that it has left behind print more.
constexpr int kLastPrintedSteps = 64;
/// How long a worker thread gets to end before it is left behind.
constexpr Duration kThreadPatience = std::chrono::seconds(2);

/// A pipe that nobody writes to: a reader is at its end at once. It needs no file.
Result<wire::Descriptor> input_that_has_ended() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(wire::errno_error("no pipe for a worker's input", errno));
  const wire::Descriptor write_end(ends[1]);
  return wire::Descriptor(ends[0]);
}

/// What a worker, or its zygote, is started with, and descriptors.
Result<wire::ChildOptions> options_for(const WorkerSetup& setup, wire::Descriptor& nothing) {
  wire::ChildOptions options{.executable = setup.executable,
                             .arguments = setup.arguments,
                             .descriptors = {},
                             .environment = {},
                             .keeper_name = "keeper:" + setup.device_name};
  if (setup.sandbox == Sandbox::none) return options;
  nothing = TROUPE_TRY(input_that_has_ended());
  options.descriptors.emplace_back(0, nothing.get());
  options.environment = setup.environment;
  options.inherits_environment = false;
  return options;
}

}  // namespace

bool WorkerSetup::can_fork() const noexcept {
  return isolation == Isolation::process && sandbox != Sandbox::strict &&
         std::ranges::find(arguments, wire::kCanFork) != arguments.end();
}

struct WorkerLink::ThreadState {
  std::atomic<std::uint32_t> ended{0};
};

WorkerLink::WorkerLink(std::uint32_t number, wire::Channel channel, wire::Socket socket, const WorkerSetup& setup)
    : number_(number),
      channel_(std::move(channel)),
      socket_(std::move(socket)),
      log_(setup.log),
      log_queue_(setup.printed) {}

Result<std::unique_ptr<WorkerLink>> WorkerLink::start(std::uint32_t number, const WorkerSetup& setup,
                                                      const wire::SharedBells& bells, wire::Zygote* zygote) {
  wire::Channel channel = TROUPE_TRY(wire::Channel::create(setup.ring_units));
  auto [socket, their_end] = TROUPE_TRY(wire::Socket::make_pair());
  const std::array<int, 3> descriptors{channel.ring_descriptor().get(), channel.status_descriptor().get(),
                                       bells.descriptor().get()};
  const wire::Hello hello{.version = wire::protocol_version(),
                          .backend = setup.backend,
                          .ring_units = setup.ring_units,
                          .doorbell = number,
                          .mark_secret = channel.key().secret(),
                          .memory_limit_bytes = setup.memory_limit_bytes,
                          .device = setup.device,
                          .device_name = setup.device_name,
                          .completion = setup.completion,
                          .cpu_threads = setup.cpu_threads,
                          .priorities = setup.priorities,
                          .sandbox = setup.sandbox,
                          .readable_paths = setup.readable_paths,
                          .writable_paths = setup.writable_paths};
  TROUPE_TRY(wire::send(socket, wire::ToWorker(hello), descriptors));
  std::unique_ptr<WorkerLink> link(new WorkerLink(number, std::move(channel), std::move(socket), setup));
  TROUPE_TRY(setup.isolation == Isolation::process ? link->start_process(setup, std::move(their_end), zygote)
                                                   : link->start_thread(std::move(their_end)));
  return link;
}

Result<wire::Zygote> WorkerLink::start_zygote(const WorkerSetup& setup) {
  wire::Descriptor nothing;
  wire::ChildOptions options = TROUPE_TRY(options_for(setup, nothing));
  // What its imports print, those of the first worker have printed.
  const wire::Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nowhere) return fail(wire::errno_error("opening /dev/null", errno));
  for (const int number : {1, 2}) options.descriptors.emplace_back(number, nowhere.get());
  return wire::Zygote::start(std::move(options), std::to_string(static_cast<int>(setup.sandbox)), setup.backend);
}

Result<void> WorkerLink::start_process(const WorkerSetup& setup, wire::Descriptor their_end, wire::Zygote* zygote) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0)
    return fail(wire::errno_error("no pipe for what a worker prints", errno));
  printed_ = wire::Descriptor(pipe_ends[0]);
  const wire::Descriptor write_end(pipe_ends[1]);
  fcntl(printed_.get(), F_SETFL, O_NONBLOCK);
  wire::Descriptor nothing;
  wire::ChildOptions options = TROUPE_TRY(options_for(setup, nothing));
  options.descriptors.insert(options.descriptors.end(),
                             {{kSocketInWorker, their_end.get()}, {1, write_end.get()}, {2, write_end.get()}});
  for (std::string ours : {std::string("--socket"), std::to_string(kSocketInWorker), std::string(kTitleRoom, ' ')})
    options.arguments.push_back(std::move(ours));
  child_.emplace(TROUPE_TRY(zygote ? zygote->fork(options.descriptors) : wire::Child::spawn(options)));
  name_ = "worker-" + std::to_string(pid());
  partial_line_.reserve(kMaxPrintedLine);
  speaker_ = log_queue_->add_speaker(name_);
  return {};
}

Result<void> WorkerLink::start_thread(wire::Descriptor their_end) {
  if (troupe_serve_in_thread == nullptr)
    return fail(ErrorKind::unsupported,
                "Isolation::thread needs the backends in this program: link the CMake target troupe::thread, too, "
                "which a static build of Troupe has");
  thread_ = std::make_shared<ThreadState>();
  name_ = "worker-0";
  speaker_ = log_queue_->add_speaker(name_);
  try {
    std::thread([state = thread_, log = log_, end = std::move(their_end)]() mutable {
      pthread_setname_np(pthread_self(), "troupe-worker");
      troupe_serve_in_thread(end, log);
      state->ended.store(1, std::memory_order_release);
      futex_wake_all(state->ended);
    }).detach();  // `ended` tells whether it has ended; if it hangs, it is left behind
  } catch (const std::system_error& error) {
    return fail(ErrorKind::out_of_memory, std::string("no thread for a worker: ") + error.what());
  }
  return {};
}

WorkerLink::~WorkerLink() {
  socket_.reset();
  if (!thread_) return;
  const TimePoint until = std::chrono::steady_clock::now() + kThreadPatience;
  while (thread_->ended.load(std::memory_order_acquire) == 0 && std::chrono::steady_clock::now() < until)
    futex_wait(thread_->ended, 0, until);
  if (thread_->ended.load(std::memory_order_acquire) == 0)
    log_queue_->say(*speaker_, LogLevel::error, name_, "a worker thread does not end and is left behind");
}

int WorkerLink::end_descriptor() const noexcept { return child_ ? child_->pidfd().get() : -1; }

void WorkerLink::show_generation(std::int64_t generation) noexcept {
  if (!child_ || !socket_) return;
  try {
    (void)wire::send(*socket_, wire::ToWorker(wire::BeginGeneration{generation}), {}, Duration::zero());
  } catch (const std::bad_alloc&) {  // then its title is old
  }
}

bool WorkerLink::kill() noexcept { return child_ && child_->kill(); }

std::optional<wire::ChildEnd> WorkerLink::try_reap() {
  if (child_) return child_->try_reap();
  if (thread_->ended.load(std::memory_order_acquire) == 0) return std::nullopt;
  return wire::ChildEnd{};
}

std::string WorkerLink::last_words() const {
  return wire::read_last_words(*reinterpret_cast<const wire::LastWords*>(channel_.status().last_words.data()));
}

std::optional<wire::NamedOp> WorkerLink::named_op() const {
  return wire::read_named_op(*reinterpret_cast<const wire::LastWords*>(channel_.status().last_words.data()));
}

std::optional<Error> WorkerLink::last_error() const {
  return wire::read_last_error(*reinterpret_cast<const wire::LastWords*>(channel_.status().last_words.data()));
}

// ---- what it prints ----

bool WorkerLink::read_printed() noexcept {
  std::array<char, kPrintedStepBytes> buffer;
  const ssize_t size = read(printed_.get(), buffer.data(), buffer.size());
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  take_printed({buffer.data(), static_cast<std::size_t>(size)});
  if (size == 0) print_line();
  return size > 0;
}

void WorkerLink::read_last_printed() noexcept {
  int left = kLastPrintedSteps;
  while (left-- > 0 && read_printed()) {
  }
  print_line();
}

void WorkerLink::take_printed(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t room = kMaxPrintedLine - partial_line_.size();
    const std::size_t end = text.find('\n');
    const std::size_t taken = std::min({end, room, text.size()});
    partial_line_ += text.substr(0, taken);
    text.remove_prefix(taken);
    const bool is_complete = !text.empty();
    if (!is_complete) return;
    if (text.front() == '\n') text.remove_prefix(1);
    print_line();
  }
}

void WorkerLink::print_line() noexcept {
  std::string_view line = partial_line_;
  LogLevel level = LogLevel::info;
  constexpr std::string_view kOurs = "troupe:";  // a line of the worker itself: "troupe:warning:..."
  for (const LogLevel candidate : {LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error}) {
    if (!line.starts_with(kOurs)) break;
    const std::string_view rest = line.substr(kOurs.size());
    if (!rest.starts_with(name(candidate)) || !rest.substr(name(candidate).size()).starts_with(':')) continue;
    level = candidate;
    line = rest.substr(name(candidate).size() + 1);
    break;
  }
  if (!line.empty()) log_queue_->say(*speaker_, level, name_, line);
  partial_line_.clear();
}

}  // namespace troupe::inline v0

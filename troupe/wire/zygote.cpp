#include "troupe/wire/zygote.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <span>

#include "troupe/wire/keeper.hpp"
#include "troupe/wire/shared_memory.hpp"

namespace troupe::inline v0::wire {
namespace {

constexpr int kSocketInZygote = 3;
constexpr std::string_view kReady = "ready";

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()};
}

Descriptor pidfd_of(pid_t pid) noexcept { return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

void block_all_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

// ---- the app's end ----

Result<Zygote> Zygote::start(ChildOptions options, std::string_view level, std::string_view backend) {
  auto [socket, their_end] = TROUPE_TRY(Socket::make_pair());
  options.descriptors.emplace_back(kSocketInZygote, their_end.get());
  for (const std::string_view last : {kForkArgument, std::string_view("3"), level, backend})
    options.arguments.emplace_back(last);
  return Zygote(TROUPE_TRY(Child::spawn(options)), std::move(socket));
}

Result<Zygote::State> Zygote::look() {
  const std::optional<Message> message = TROUPE_TRY(socket_.try_receive());
  if (message && state_ == State::beginning) {
    why_ = text_of(*message);
    state_ = why_ == kReady ? State::ready : State::refused;
  }
  return state_;
}

Result<Child> Zygote::fork(const std::vector<std::pair<int, int>>& descriptors) {
  return order_fork(socket_, descriptors);
}

Result<Child> order_fork(Socket& zygote, const std::vector<std::pair<int, int>>& descriptors) {
  const SharedMemory record = TROUPE_TRY(SharedMemory::create_unmapped("troupe-fork", sizeof(KeeperMemory)));
  std::vector<std::int32_t> numbers{static_cast<std::int32_t>(descriptors.size())};  // a message is never empty
  std::vector<int> sent{record.descriptor().get()};
  for (const auto& [in_child, ours] : descriptors) {
    numbers.push_back(in_child);
    sent.push_back(ours);
  }
  TROUPE_TRY(zygote.send(std::as_bytes(std::span(numbers)), sent));
  pollfd entry{.fd = zygote.descriptor(), .events = POLLIN, .revents = 0};
  constexpr auto kPatienceMs = static_cast<int>(kForkPatience / std::chrono::milliseconds(1));
  if (poll(&entry, 1, kPatienceMs) <= 0) return fail(ErrorKind::timeout, "the zygote does not fork");
  Message answer = TROUPE_TRY(zygote.receive());
  if (answer.descriptors.size() != 2 || answer.bytes.size() != sizeof(std::int32_t))
    return fail(ErrorKind::unsupported, "the zygote could not fork: " + text_of(answer));
  std::int32_t pid = 0;
  std::memcpy(&pid, answer.bytes.data(), sizeof pid);
  return Child::adopt(record.descriptor(), pid, std::move(answer.descriptors[0]), std::move(answer.descriptors[1]));
}

// ---- the zygote's end ----

Result<void> say_ready(Socket& app, std::string_view why_not) {
  return app.send(bytes_of(why_not.empty() ? kReady : why_not));
}

Result<ForkOrder> receive_order(Socket& app) {
  Message message = TROUPE_TRY(app.receive());
  const std::size_t count = message.descriptors.empty() ? 0 : message.descriptors.size() - 1;
  if (message.descriptors.empty() || message.bytes.size() != (1 + count) * sizeof(std::int32_t))
    return fail(ErrorKind::invalid_argument, "an order of a fork does not have its descriptors");
  ForkOrder order{.record = std::move(message.descriptors[0]), .descriptors = {}};
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t number = 0;
    std::memcpy(&number, message.bytes.data() + (1 + i) * sizeof number, sizeof number);
    order.descriptors.emplace_back(number, std::move(message.descriptors[i + 1]));
  }
  return order;
}

Result<void> begin_to_keep(pid_t zygote) {
  block_all_signals();  // the keeper waits for some of them
  signal(SIGCHLD, SIG_DFL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  return hear_of_end_of(zygote);
}

void keep_fork(Socket app, ForkOrder order, pid_t worker) {
  Result<SharedMemory> memory = SharedMemory::map(std::move(order.record), sizeof(KeeperMemory), true);
  const Descriptor keeper = pidfd_of(getpid()), child = pidfd_of(worker);
  if (!memory || !keeper || !child) {
    kill(worker, SIGKILL);
    const std::string why =
        memory ? "no pidfd: " + errno_error("pidfd_open", errno).to_string() : memory.error().to_string();
    (void)app.send(bytes_of(why));
    _exit(1);
  }
  const std::int32_t pid = worker;
  const std::array<int, 2> sent{keeper.get(), child.get()};
  if (!app.send(std::as_bytes(std::span(&pid, 1)), sent)) kill(worker, SIGKILL);
  keep_until_the_end(reinterpret_cast<KeeperMemory*>(memory->data())->record, worker);
}

Result<void> begin_fork(Socket app, ForkOrder order, pid_t keeper) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != keeper)
    return fail(ErrorKind::stopped, "the keeper has ended");
  {
    const Socket closed = std::move(app);
  }
  // Those that come are beyond all that are wanted, so none overwrites another: a zygote has its own 0, 1, 2 and 3.
  for (const auto& [number, descriptor] : order.descriptors) {
    if (descriptor.get() == number) return fail(ErrorKind::internal, "a descriptor stands in the place of another");
    if (dup2(descriptor.get(), number) < 0) return fail(errno_error("passing on a descriptor", errno));
  }
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  return {};
}

}  // namespace troupe::inline v0::wire

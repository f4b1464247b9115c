// The tree of actors, its names and its watches, and the parts that all actors share. Shutdown is in shutdown.cpp.
#include "troupe/actor/system_core.hpp"

#include <sched.h>

#include <algorithm>
#include <cctype>

#include "troupe/actor/context.hpp"
#include "troupe/actor/deterministic.hpp"
#include "troupe/actor/pool.hpp"
#include "troupe/actor/timekeeper.hpp"

namespace troupe::inline v0 {
namespace {

/// The actor at the root of a branch of the tree. It has children and no handlers.
struct Guardian {};

constexpr std::size_t kFirstBuckets = 64;
constexpr Duration kMaxVirtualWait = std::chrono::hours(24);  // else periodic timers would move virtual time for ever

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameLength && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '$';
  });
}

int usable_cores() noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? std::max(1, CPU_COUNT(&allowed)) : 1;
}

}  // namespace

Result<void> check(const SpawnOptions& options) {
  const auto no = [](std::string why) { return fail(ErrorKind::invalid_argument, std::move(why)); };
  if (!options.name.empty() && (!is_name(options.name) || options.name.front() == '$'))
    return no("the name of an actor is '" + std::string(options.name) +
              "'; it must have letters, digits, '-', '_' and '.' only, and at most " + std::to_string(kMaxNameLength));
  if (options.mailbox_capacity == 0 || options.mailbox_capacity > kMaxMailboxCapacity)
    return no("mailbox_capacity is " + std::to_string(options.mailbox_capacity) + "; it must be 1 to " +
              std::to_string(kMaxMailboxCapacity));
  if (options.max_handlers == 0) return no("max_handlers is 0; it must be positive");
  if (options.supervision.max_restarts < 0)
    return no("supervision.max_restarts is " + std::to_string(options.supervision.max_restarts) +
              "; it must not be negative");
  if (options.supervision.window.count() <= 0)
    return no("supervision.window is " + to_string(options.supervision.window) + "; it must be positive");
  if (options.supervision.backoff.initial.count() < 0)
    return no("supervision.backoff.initial is " + to_string(options.supervision.backoff.initial) +
              "; it must not be negative");
  return {};
}

namespace detail {

void dead_letter(const Cell& cell, const EnvelopeBase& envelope, const Error& why) noexcept {
  cell.core().dead_letter(cell, envelope, why);
}

SystemCore::SystemCore(SystemOptions options)
    : options_(std::move(options)),
      log_(options_.log ? options_.log : log_to_stderr()),
      default_supervision_(std::make_shared<const Supervision>()),
      random_state_(options_.deterministic_seed.value_or(
          static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()))),
      buckets_(kFirstBuckets) {}

SystemCore::~SystemCore() = default;

Result<IntrusivePtr<SystemCore>> SystemCore::start(SystemOptions options) {
  auto core = IntrusivePtr<SystemCore>::adopt(new SystemCore(std::move(options)));
  SystemCore& self = *core;
  const SystemOptions& given = self.options_;
  if (given.max_actors == 0) return fail(ErrorKind::invalid_argument, "max_actors is 0; it must be positive");
  if (given.deterministic_seed) {
    self.clock_ = std::make_unique<detail::VirtualClock>();
    self.wheel_ = std::make_unique<TimerWheel>(self.clock_->now(), [] {});
    self.deterministic_ = new Deterministic(*given.deterministic_seed);
    self.default_dispatcher_ = self.adopt(std::unique_ptr<Dispatcher>(self.deterministic_));
  } else {
    self.clock_ = std::make_unique<detail::SteadyClock>();
    self.wheel_ = std::make_unique<TimerWheel>(self.clock_->now(), [raw = core.get()] { raw->timekeeper_->wake(); });
    self.timekeeper_ = std::make_unique<Timekeeper>(*self.wheel_, *self.clock_, [raw = core.get()] {
      const std::lock_guard lock(raw->dispatchers_mutex_);
      bool busy = false;
      for (auto& dispatcher : raw->dispatchers_)
        if (dispatcher->busy()) {
          busy = true;
          dispatcher->look_after(*raw);
        }
      return busy;
    });
    const ThreadPoolOptions pool{.threads = given.threads.value_or(usable_cores()), .name = "pool", .core = {}};
    std::unique_ptr<Pool> started = TROUPE_TRY(Pool::start(pool, *self.timekeeper_));
    if (usable_cores() > 1 && pool.threads >= usable_cores()) self.pool_ = started.get();
    self.default_dispatcher_ = self.adopt(std::move(started));
    TROUPE_TRY(self.timekeeper_->start());
  }
  for (auto [branch, name] : {std::pair(&self.user_, "user"), std::pair(&self.internals_, "system")}) {
    *branch = IntrusivePtr<Cell>::adopt(new detail::ActorCell<Guardian>(
        self, nullptr, {.name = name, .supervision = always(Directive::stop)}, self.next_id()));
    TROUPE_TRY(self.add(**branch));
  }
  return core;
}

Dispatcher* SystemCore::adopt(std::unique_ptr<Dispatcher> dispatcher) {
  const std::lock_guard lock(dispatchers_mutex_);
  dispatchers_.push_back(std::move(dispatcher));
  return dispatchers_.back().get();
}

bool SystemCore::keep_core() noexcept {
  return pool_ && pool_->is_saturated() && !core_is_kept_.load(std::memory_order_relaxed) &&
         !core_is_kept_.exchange(true, std::memory_order_relaxed);
}

Result<Dispatcher*> SystemCore::pinned_thread(std::string name, std::optional<int> core) {
  TROUPE_TRY(check_not_forked());
  if (is_virtual()) return default_dispatcher_;  // so that one seed decides the order of all turns
  if (shutting_down()) return fail(ErrorKind::stopped, "the system shuts down");
  const ThreadPoolOptions one{.threads = 1, .name = std::move(name), .core = core};
  return adopt(TROUPE_TRY(Pool::start(one, *timekeeper_)));
}

// ---- the tree ----

std::size_t SystemCore::bucket_of(const Cell* parent, std::string_view name) const noexcept {
  return (std::hash<std::string_view>{}(name) ^ (std::hash<const void*>{}(parent) * 31)) & (buckets_.size() - 1);
}

Cell* SystemCore::find_child(const Cell* parent, std::string_view name) const noexcept {
  if (parent && name.starts_with('$')) {  // it was given no name, so it is in no bucket
    Cell* child = parent->first_child_;
    while (child && (!child->name_.empty() || child->name() != name)) child = child->next_sibling_;
    return child;
  }
  Cell* cell = buckets_[bucket_of(parent, name)];
  while (cell && (cell->parent_.get() != parent || cell->name_ != name)) cell = cell->next_in_bucket_;
  return cell;
}

void SystemCore::grow_buckets() {
  std::vector<Cell*> before(buckets_.size() * 2);
  before.swap(buckets_);
  for (Cell* first : before)
    while (Cell* cell = first) {
      first = cell->next_in_bucket_;
      Cell*& bucket = buckets_[bucket_of(cell->parent_.get(), cell->name_)];
      cell->next_in_bucket_ = bucket;
      bucket = cell;
    }
}

Result<void> SystemCore::add(Cell& cell) {
  TROUPE_TRY(check_not_forked());
  Cell* parent = cell.parent_.get();
  {
    const std::lock_guard lock(tree_mutex_);
    if (shutting_down()) return fail(ErrorKind::stopped, "the system shuts down: it takes no more actors");
    if (parent && !parent->takes_children_)
      return fail(ErrorKind::stopped, parent->path() + " is stopping: it takes no more children");
    if (actors_ >= options_.max_actors + 2)  // the two roots do not count
      return fail(ErrorKind::out_of_memory,
                  "there are " + std::to_string(options_.max_actors) + " actors, as many as max_actors allows");
    if (!cell.name_.empty()) {
      if (find_child(parent, cell.name_))
        return fail(ErrorKind::invalid_argument, "there is an actor at " + cell.path() + " already");
      if (named_++ >= buckets_.size()) grow_buckets();
      Cell*& bucket = buckets_[bucket_of(parent, cell.name_)];
      cell.next_in_bucket_ = bucket;
      bucket = &cell;
    }
    if (parent) {
      cell.next_sibling_ = parent->first_child_;
      if (parent->first_child_) parent->first_child_->previous_sibling_ = &cell;
      parent->first_child_ = &cell;
    }
    cell.in_tree_ = true;
    ++actors_;
    cell.retain();  // the system's share
  }
  cell.dispatcher_.schedule(cell, Scheduling::ready);
  return {};
}

void SystemCore::remove(Cell& cell, const Terminated& notice) {
  WatchList told;
  events_.remove(cell);
  refused_tells_.forget(cell);
  {
    const std::lock_guard lock(tree_mutex_);
    if (!cell.name_.empty()) {
      Cell** link = &buckets_[bucket_of(cell.parent_.get(), cell.name_)];
      while (*link != &cell) link = &(*link)->next_in_bucket_;
      *link = cell.next_in_bucket_;
      --named_;
    }
    if (cell.previous_sibling_) cell.previous_sibling_->next_sibling_ = cell.next_sibling_;
    if (cell.next_sibling_) cell.next_sibling_->previous_sibling_ = cell.previous_sibling_;
    if (cell.parent_ && cell.parent_->first_child_ == &cell) cell.parent_->first_child_ = cell.next_sibling_;
    cell.in_tree_ = false;
    --actors_;
    std::swap(told, cell.watchers_);
    if (!cell.parent_) gone_.notify_all();
  }
  while (Watch* watch = told.first()) {
    told.remove(*watch);
    try {
      watch->notice = notice;
    } catch (const std::bad_alloc&) {
      watch->notice = {{}, notice.id, notice.reason, notice.error};
    }
    const IntrusivePtr<Cell> watcher = watch->watcher;
    watcher->post(*watch);
  }
  if (cell.parent_) cell.parent_->raise(Signal::child_gone);
}

IntrusivePtr<Cell> SystemCore::find(std::string_view path) {
  if (is_forked()) return nullptr;
  const std::lock_guard lock(tree_mutex_);
  Cell* cell = nullptr;
  if (!path.starts_with('/')) return nullptr;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    cell = find_child(cell, name);
    if (!cell) return nullptr;
    path.remove_prefix(name.size());
  }
  return IntrusivePtr<Cell>::share(cell);
}

bool SystemCore::has_children(const Cell& cell) {
  const std::lock_guard lock(tree_mutex_);
  return cell.first_child_ != nullptr;
}

void SystemCore::stop_children(Cell& cell, Signal how) {
  const std::lock_guard lock(tree_mutex_);
  cell.takes_children_ = false;
  for (Cell* child = cell.first_child_; child; child = child->next_sibling_) {
    child->raise(Signal::by_parent);
    child->raise(how);
  }
}

void SystemCore::reopen_children(Cell& cell) {
  const std::lock_guard lock(tree_mutex_);
  cell.takes_children_ = true;
}

void SystemCore::obey_siblings(Cell& cell, Directive directive, const Error& error) {
  const std::lock_guard lock(tree_mutex_);
  if (!cell.parent_) return;
  for (Cell* sibling = cell.parent_->first_child_; sibling; sibling = sibling->next_sibling_)
    if (sibling != &cell && sibling->supervision_->scope == RestartScope::all_for_one)
      sibling->post_directive(directive, error);
}

void SystemCore::watch(std::unique_ptr<Watch> watch) {
  const IntrusivePtr<Cell> watcher = watch->watcher;
  Cell& watched = *watch->watched;
  {
    const std::lock_guard lock(tree_mutex_);
    if (watched.in_tree_) {
      watched.watchers_.add(*watch.release());
      return;
    }
  }
  // It has left the tree for good, so its last words do not change any more.
  watch->notice = watched.last_words();
  watcher->post(*watch.release());
}

void SystemCore::unwatch(Watch& watch) noexcept {
  // It is destroyed after the unlock, because it may be the last owner of what it watched.
  std::unique_ptr<Watch> removed;
  const std::lock_guard lock(tree_mutex_);
  if (!watch.watched->in_tree_) return;
  watch.watched->watchers_.remove(watch);
  removed.reset(&watch);
}

std::string SystemCore::path_of(std::uint64_t id) {
  std::string path = "an actor that has stopped";
  for_each_cell([&](Cell& cell) {
    if (cell.id_ == id) path = cell.path();
  });
  return path;
}

void SystemCore::for_each_cell(const std::function<void(Cell&)>& f) {
  const std::lock_guard lock(tree_mutex_);
  for (const IntrusivePtr<Cell>& branch : {user_, internals_})
    if (branch && branch->in_tree_) for_each_below(*branch, f);
}

void SystemCore::for_each_below(Cell& cell, const std::function<void(Cell&)>& f) {
  f(cell);
  for (Cell* child = cell.first_child_; child; child = child->next_sibling_) for_each_below(*child, f);
}

// ---- the rest ----

double SystemCore::random() noexcept {
  std::uint64_t z = random_state_.fetch_add(0x9E3779B97F4A7C15u, std::memory_order_relaxed);  // splitmix64
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

void SystemCore::log(LogLevel level, std::string_view source, std::string_view message) const noexcept {
  log_({level, clock_->now(), source, message});
}

void SystemCore::dead_letter(const Cell& cell, const EnvelopeBase& envelope, const Error& reason) noexcept {
  dead_letters_.fetch_add(1, std::memory_order_relaxed);
  if (is_forked() || events_.empty()) return;
  try {
    const std::string type = envelope.message_type();
    if (type == type_name(typeid(DeadLetter))) return;  // no dead letter is published about a dead letter
    events_.publish(DeadLetter{cell.path(), type, reason});
  } catch (const std::bad_alloc&) {  // then it is counted and not published
  }
}

SystemStats SystemCore::stats() noexcept {
  if (is_forked()) return {};
  const std::lock_guard lock(tree_mutex_);
  return {actors_, restarts_.load(std::memory_order_relaxed), dead_letters_.load(std::memory_order_relaxed)};
}

void SystemCore::blocked(std::uint64_t runnable_id, std::int64_t ms) {
  try {
    const std::string path = path_of(runnable_id);
    const std::string message = "a handler has held its thread for " + std::to_string(ms) +
                                " ms; other actors of that thread wait. Give slow work a pinned thread, or co_await it";
    // The timekeeper calls this, and timers must not wait for the log. (It holds the mutex of the dispatchers.)
    for (const auto& dispatcher : dispatchers_)
      if (dispatcher->take_log(LogLevel::warning, path, message)) return;
    log(LogLevel::warning, path, message);
  } catch (const std::bad_alloc&) {  // then the log does not say it
  }
}

bool SystemCore::drive_until(const std::function<bool()>& done) {
  auto& clock = static_cast<detail::VirtualClock&>(*clock_);
  const TimePoint give_up = clock.now() + kMaxVirtualWait;
  while (!done()) {
    if (deterministic_->step()) continue;
    const std::optional<TimePoint> next = wheel_->next_due();
    if (!next || *next > give_up) return false;
    clock.advance_to(*next);
    wheel_->advance(*next);
  }
  return true;
}

void SystemCore::advance(Duration by) {
  TROUPE_ASSERT(is_virtual(), "only virtual time can be moved");
  auto& clock = static_cast<detail::VirtualClock&>(*clock_);
  const TimePoint until = clock.now() + by;
  for (;;) {
    while (deterministic_->step()) {
    }
    const std::optional<TimePoint> next = wheel_->next_due();
    if (!next || *next > until) break;
    clock.advance_to(*next);
    wheel_->advance(*next);
  }
  clock.advance_to(until);
  wheel_->advance(until);
}

// ---- for templates, which do not see the definition of the core ----

std::uint64_t next_id(SystemCore& core) noexcept { return core.next_id(); }
Result<void> add_to_tree(SystemCore& core, Cell& cell) { return core.add(cell); }
IntrusivePtr<Cell> internals_of(SystemCore& core) noexcept { return core.internals(); }
TimePoint Cell::now() const noexcept { return core_.now(); }
EventStream& Cell::events() const noexcept { return core_.events(); }

}  // namespace detail

}  // namespace troupe::inline v0

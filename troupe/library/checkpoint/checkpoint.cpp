#include "troupe/library/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <set>

#include "troupe/actor/cell.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/checkpoint/copies.hpp"
#include "troupe/library/checkpoint/file.hpp"

namespace troupe::inline v0 {
namespace {

/// What passes between the device and a file at a time: the only host memory that a checkpoint needs.
constexpr std::int64_t kPieceBytes = std::int64_t{32} << 20;
static_assert(kPieceBytes % static_cast<std::int64_t>(Checksum::kStripeBytes) == 0);

Result<void> check(const Device& device, const Checkpoint::Part& part) {
  if (part.name().empty() || part.name().size() > kMaxNameBytes)
    return fail(ErrorKind::invalid_argument, "checkpoint: a name has " + std::to_string(part.name().size()) +
                                                 " bytes; it must have 1 to " + std::to_string(kMaxNameBytes));
  const AnyArray& array = part.now();
  TROUPE_TRY(DeviceParts::check(device, "checkpoint", shown(part.name()), array));
  for (int i = 0; i < array.rank(); ++i)
    if (array.strides()[i] == 0 && array.shape()[i] > 1)
      return fail(ErrorKind::invalid_argument, "checkpoint: " + shown(part.name()) + " is broadcast to " +
                                                   array.shape().to_string() +
                                                   ": its elements share memory, so it cannot be restored");
  return {};
}

Result<void> check(const Device& device, std::span<const Checkpoint::Part> parts) {
  if (parts.empty() || parts.size() > kMaxArrays)
    return fail(ErrorKind::invalid_argument, "checkpoint: there are " + std::to_string(parts.size()) +
                                                 " arrays; there must be 1 to " + std::to_string(kMaxArrays));
  std::set<std::string_view> names;
  for (const Checkpoint::Part& part : parts) {
    TROUPE_TRY(check(device, part));
    if (!names.insert(part.name()).second)
      return fail(ErrorKind::invalid_argument, "checkpoint: two arrays have the name " + shown(part.name()));
  }
  return {};
}

/// An array whose memory outlives workers.
Result<AnyArray> allocate_lasting(const Device& device, DType dtype, const Shape& shape) {
  AnyArray array(dtype);
  if (device.info().keeps_memory)
    TROUPE_TRY(DeviceParts::allocate(device, array, shape));
  else
    TROUPE_TRY(DeviceParts::allocate_host(device, array, shape));
  return array;
}

}  // namespace

namespace detail {

/// What copies of a checkpoint share, and what a call under way keeps.
class CheckpointBody {
 public:
  CheckpointBody(Device device, std::vector<Checkpoint::Part> parts)
      : device_(std::move(device)), parts_(std::move(parts)), checked_(check(device_, parts_)) {}

  static Task<Result<void>> keep(std::shared_ptr<CheckpointBody> body);
  static Task<Result<void>> restore(std::shared_ptr<CheckpointBody> body);
  static Task<Result<void>> save(std::shared_ptr<CheckpointBody> body, std::string path);
  static Task<Result<void>> load(std::shared_ptr<CheckpointBody> body, std::string path);

  const Device& device() const noexcept { return device_; }
  bool has_kept() const noexcept { return has_kept_.load(std::memory_order_acquire); }

 private:
  using Slot = std::vector<AnyArray>;  // one array for each part

  /// One call at a time, until this is gone.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (!body_) return;
      if (!body_->has_kept()) body_->spare_.clear();
      body_->under_way_.store(nullptr, std::memory_order_release);
    }

   private:
    friend class CheckpointBody;
    explicit Turn(CheckpointBody& body) noexcept : body_(&body) {}
    CheckpointBody* body_;
  };
  Result<Turn> begin(const char* call);

  SystemCore& system() const noexcept { return DeviceParts::state(device_)->system(); }
  Result<void> make_spare();
  Task<Result<void>> copy_into_spare(const char* call);
  Task<Result<void>> copy_back(const char* call, const Slot& from);
  Result<void> check_not_sealed(const char* call) const;

  std::vector<SavedArray> description() const;
  Task<Result<void>> write_array(std::shared_ptr<NewFile> file, AnyArray from, AnyArray piece);
  Task<Result<void>> read_array(std::shared_ptr<SavedFile> file, std::size_t index, AnyArray into, AnyArray piece);
  Result<AnyArray> make_piece() const;
  /// For each array of the file, which part it is.
  Result<std::vector<std::size_t>> match(const std::string& path, std::span<const SavedArray> saved) const;

  const Device device_;
  const std::vector<Checkpoint::Part> parts_;
  const Result<void> checked_;
  std::atomic<const char*> under_way_{nullptr};
  std::atomic<bool> has_kept_{false};
  Slot kept_;
  Slot spare_;  // where a copy is made; empty when there is none
};

Result<CheckpointBody::Turn> CheckpointBody::begin(const char* call) {
  if (!checked_) return fail(checked_.error());
  const char* before = nullptr;
  if (!under_way_.compare_exchange_strong(before, call, std::memory_order_acq_rel))
    return fail(ErrorKind::invalid_argument,
                std::string(call) + ": " + before + " of this checkpoint is under way; one call of it runs at a time");
  return Turn(*this);
}

Result<void> CheckpointBody::make_spare() {
  if (!spare_.empty()) return {};
  Slot made;
  for (const Checkpoint::Part& part : parts_)
    made.push_back(TROUPE_TRY(allocate_lasting(device_, part.now().dtype(), part.now().shape())));
  spare_ = std::move(made);
  return {};
}

Result<void> CheckpointBody::check_not_sealed(const char* call) const {
  for (const Checkpoint::Part& part : parts_)
    if (part.now().is_sealed())
      return fail(ErrorKind::invalid_argument,
                  std::string(call) + ": " + shown(part.name()) + " is sealed; unseal it first");
  return {};
}

Task<Result<void>> CheckpointBody::copy_into_spare(const char* call) {
  CO_TRY(make_spare());
  Copies copies(device_, call);
  for (std::size_t i = 0; i < parts_.size(); ++i) CO_TRY(copies.add(parts_[i].name(), parts_[i].now(), spare_[i]));
  co_return co_await copies.run();
}

Task<Result<void>> CheckpointBody::copy_back(const char* call, const Slot& from) {
  Copies copies(device_, call);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Checkpoint::Part& part = parts_[i];
    CO_TRY(copies.add(part.name(), from[i], part.versions_ ? part.versions_->next() : part.array_));
  }
  CO_TRY(co_await copies.run());
  for (const Checkpoint::Part& part : parts_)
    if (part.versions_) part.versions_->advance();
  co_return {};
}

// ---- in the vault ----

Task<Result<void>> CheckpointBody::keep(std::shared_ptr<CheckpointBody> body) {
  const Turn turn = CO_TRY(body->begin("keep"));
  CO_TRY(co_await body->copy_into_spare("keep"));
  std::swap(body->kept_, body->spare_);
  body->has_kept_.store(true, std::memory_order_release);
  co_return {};
}

Task<Result<void>> CheckpointBody::restore(std::shared_ptr<CheckpointBody> body) {
  const Turn turn = CO_TRY(body->begin("restore"));
  if (!body->has_kept()) co_return fail(ErrorKind::invalid_argument, "restore: nothing was kept; call keep first");
  CO_TRY(body->check_not_sealed("restore"));
  co_return co_await body->copy_back("restore", body->kept_);
}

// ---- in a file ----

std::vector<SavedArray> CheckpointBody::description() const {
  std::vector<SavedArray> all;
  for (const Checkpoint::Part& part : parts_) all.push_back({part.name(), part.now().dtype(), part.now().shape()});
  return all;
}

Result<AnyArray> CheckpointBody::make_piece() const {
  std::int64_t largest = 0;
  for (const Checkpoint::Part& part : parts_) largest = std::max(largest, part.now().size_bytes());
  AnyArray piece(DType::u8);
  TROUPE_TRY(DeviceParts::allocate_host(device_, piece, {std::min(largest, kPieceBytes)}));
  return piece;
}

namespace {

/// A part of an array, and the host memory that it passes through.
struct Passage {
  AnyArray part;
  AnyArray host;
  std::span<std::byte> bytes() const { return {host.block()->data(), static_cast<std::size_t>(host.size_bytes())}; }
};
Result<Passage> passage(const AnyArray& array, std::int64_t begin, const AnyArray& piece) {
  const std::int64_t count = std::min(array.element_count() - begin, kPieceBytes / size_bytes(array.dtype()));
  const AnyArray flat = TROUPE_TRY(array.reshape({array.element_count()}));
  return Passage{TROUPE_TRY(flat.slice(0, begin, begin + count)),
                 TROUPE_TRY(AnyArray::over(piece.block(), array.dtype(), {count}))};
}

// What is done in the thread of files. These are functions, because g++ 12 destroys the captures of a lambda twice when
// it is a temporary of a `co_await`.

Task<Result<void>> begin(detail::SystemCore& system, std::shared_ptr<NewFile> file, std::vector<std::byte> opening) {
  return in_file_thread(system, [=] { return file->begin(opening); });
}
Task<Result<void>> append(detail::SystemCore& system, std::shared_ptr<NewFile> file, Passage next) {
  return in_file_thread(system, [=] { return file->append(next.bytes()); });
}
Task<Result<void>> end_array(detail::SystemCore& system, std::shared_ptr<NewFile> file) {
  return in_file_thread(system, [=] { return file->end_array(); });
}
Task<Result<void>> finish(detail::SystemCore& system, std::shared_ptr<NewFile> file) {
  return in_file_thread(system, [=] { return file->finish(); });
}
Task<Result<void>> begin(detail::SystemCore& system, std::shared_ptr<SavedFile> file) {
  return in_file_thread(system, [=] { return file->begin(); });
}
Task<Result<void>> read(detail::SystemCore& system, std::shared_ptr<SavedFile> file, std::size_t index, Passage next) {
  return in_file_thread(system, [=] { return file->read(index, next.bytes()); });
}
Task<Result<void>> end_array(detail::SystemCore& system, std::shared_ptr<SavedFile> file, std::size_t index) {
  return in_file_thread(system, [=] { return file->end_array(index); });
}

}  // namespace

Task<Result<void>> CheckpointBody::write_array(std::shared_ptr<NewFile> file, AnyArray from, AnyArray piece) {
  for (std::int64_t begin = 0; begin < from.element_count();) {
    const Passage next = CO_TRY(passage(from, begin, piece));
    CO_TRY(co_await to_task(device_.copy(next.part, next.host)));
    CO_TRY(co_await append(system(), file, next));
    begin += next.part.element_count();
  }
  co_return co_await end_array(system(), file);
}

Task<Result<void>> CheckpointBody::save(std::shared_ptr<CheckpointBody> body, std::string path) {
  const Turn turn = CO_TRY(body->begin("save"));
  CO_TRY(co_await body->copy_into_spare("save"));
  const AnyArray piece = CO_TRY(body->make_piece());
  const auto file = std::make_shared<NewFile>(std::move(path));
  const std::vector<std::byte> opening = encode_opening(body->description());
  CO_TRY(co_await detail::begin(body->system(), file, opening));
  for (const AnyArray& array : body->spare_) CO_TRY(co_await body->write_array(file, array, piece));
  co_return co_await finish(body->system(), file);
}

Result<std::vector<std::size_t>> CheckpointBody::match(const std::string& path,
                                                       std::span<const SavedArray> saved) const {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorKind::invalid_argument, "load: " + shown(path) + " " + why);
  };
  std::vector<std::size_t> indices;
  std::vector<bool> found(parts_.size());
  for (const SavedArray& array : saved) {
    const auto part = std::ranges::find(parts_, array.name, &Checkpoint::Part::name);
    if (part == parts_.end()) return refuse("has an array " + shown(array.name) + ", which this checkpoint has not");
    const auto index = static_cast<std::size_t>(part - parts_.begin());
    if (found[index]) return refuse("has two arrays with the name " + shown(array.name));
    const SavedArray mine{part->name(), part->now().dtype(), part->now().shape()};
    if (array.dtype != mine.dtype || array.shape != mine.shape)
      return refuse("has " + shown(array.name) + " as " + array.to_string() + "; the array is " + mine.to_string());
    found[index] = true;
    indices.push_back(index);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (!found[i]) return refuse("has no array " + shown(parts_[i].name()) + ", which this checkpoint has");
  return indices;
}

Task<Result<void>> CheckpointBody::read_array(std::shared_ptr<SavedFile> file, std::size_t index, AnyArray into,
                                              AnyArray piece) {
  for (std::int64_t begin = 0; begin < into.element_count();) {
    const Passage next = CO_TRY(passage(into, begin, piece));
    CO_TRY(co_await read(system(), file, index, next));
    CO_TRY(co_await to_task(device_.copy(next.host, next.part)));
    begin += next.part.element_count();
  }
  co_return co_await end_array(system(), file, index);
}

Task<Result<void>> CheckpointBody::load(std::shared_ptr<CheckpointBody> body, std::string path) {
  const Turn turn = CO_TRY(body->begin("load"));
  CO_TRY(body->check_not_sealed("load"));
  const auto file = std::make_shared<SavedFile>(path);
  CO_TRY(co_await detail::begin(body->system(), file));
  const std::vector<std::size_t> parts = CO_TRY(body->match(path, file->arrays()));
  CO_TRY(body->make_spare());
  const AnyArray piece = CO_TRY(body->make_piece());
  for (std::size_t i = 0; i < parts.size(); ++i)
    CO_TRY(co_await body->read_array(file, i, body->spare_[parts[i]], piece));
  co_return co_await body->copy_back("load", body->spare_);
}

}  // namespace detail

Checkpoint::Checkpoint(Device device, std::vector<Part> parts)
    : body_(std::make_shared<detail::CheckpointBody>(std::move(device), std::move(parts))) {}

bool Checkpoint::has_kept() const noexcept { return body_->has_kept(); }

detail::TaskCall<void> Checkpoint::keep() {
  return {DeviceParts::state(body_->device()), detail::CheckpointBody::keep(body_)};
}
detail::TaskCall<void> Checkpoint::restore() {
  return {DeviceParts::state(body_->device()), detail::CheckpointBody::restore(body_)};
}
detail::TaskCall<void> Checkpoint::save(std::string path) {
  return {DeviceParts::state(body_->device()), detail::CheckpointBody::save(body_, std::move(path))};
}
detail::TaskCall<void> Checkpoint::load(std::string path) {
  return {DeviceParts::state(body_->device()), detail::CheckpointBody::load(body_, std::move(path))};
}

}  // namespace troupe::inline v0

// A checkpoint: what a set of arrays holds at one moment, kept in the vault or in a file, and brought back.
//
//   Checkpoint state(gpu, {{"weights", weights}, {"moments", moments}});  // Array<T> of any type, or Versioned<T>
//   CO_TRY(co_await state.keep());              // a copy in the device's memory
//   CO_TRY(co_await state.restore());           // back into the arrays
//   CO_TRY(co_await state.save("model.ckpt"));  // a file: the new one is whole, or the old one stays
//   CO_TRY(co_await state.load("model.ckpt"));  // everything is checked before any array is written
//
// Each call takes its place in the order of the device's ops, and what it copies is what the arrays hold there. A
// worker that dies meanwhile does no harm: copies are run again. format.hpp says what is in a file.
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "troupe/device/device.hpp"

// State that survives: an array of which there are two. A step reads the version that counts and writes the next one;
// when all of the step went well, the next one counts. Whatever happens to a worker meanwhile, what counts is whole.
//
//   Versioned<float> w = value(Versioned<float>::make(gpu, {n}));
//   Scope on(gpu);
//   on.assign(on.next(w), w.now() - rate * gradient);
//   CO_TRY(co_await on.commit());   // or nothing has happened, and the step can be tried again

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

/// What a scope and a checkpoint know of an array with two versions.
class TwoVersions {
 public:
  virtual const AnyArray& now() const noexcept = 0;
  virtual const AnyArray& next() const noexcept = 0;
  virtual void advance() noexcept = 0;

 protected:
  ~TwoVersions() = default;
};

}  // namespace detail

/// An array with two versions: `now()` counts, and a step writes the next one (`Scope::next`). It must outlive the
/// scopes that use it. One scope at a time writes it.
template <Element T>
class Versioned final : public detail::TwoVersions {
 public:
  /// Two arrays of this shape. Both are empty, so write `now()` first.
  static Result<Versioned> make(const Device& device, const Shape& shape) {
    Versioned made;
    made.now_ = TROUPE_TRY(device.array<T>(shape));
    made.next_ = TROUPE_TRY(device.array<T>(shape));
    return made;
  }
  Versioned(Versioned&&) noexcept = default;
  Versioned& operator=(Versioned&&) noexcept = default;

  /// The version that counts.
  const Array<T>& now() const noexcept override { return now_; }
  const Shape& shape() const noexcept { return now_.shape(); }

 private:
  friend class Scope;
  Versioned() = default;
  const Array<T>& next() const noexcept override { return next_; }
  void advance() noexcept override { std::swap(now_, next_); }

  Array<T> now_;
  Array<T> next_;
};

namespace detail {

class CheckpointBody;

}  // namespace detail

/// What a set of arrays of one device holds, kept and brought back. Copies of it are the same checkpoint, and one call
/// of it is under way at a time. The arrays stay as long as it does; a `Versioned` one must outlive it and stay where
/// it is, and no scope may be writing it while it is restored or loaded.
class Checkpoint {
 public:
  /// An array and its name: `{"weights", weights}`. The name has 1 to 200 bytes, and no other array of the checkpoint
  /// has it.
  class Part {
   public:
    /// An array of any type and strides; each of its elements has memory of its own.
    Part(std::string name, AnyArray array) noexcept : name_(std::move(name)), array_(std::move(array)) {}
    /// One with two versions: the one that counts is kept, and what is brought back counts from then on.
    template <Element T>
    Part(std::string name, Versioned<T>& array) noexcept : name_(std::move(name)), versions_(&array) {}

    const std::string& name() const noexcept { return name_; }  ///< As it was given.
    /// What counts now.
    const AnyArray& now() const noexcept { return versions_ ? versions_->now() : array_; }

   private:
    friend class detail::CheckpointBody;
    std::string name_;
    AnyArray array_;
    detail::TwoVersions* versions_ = nullptr;
  };

  /// A checkpoint of 1 to 1024 arrays. What is wrong with them (an empty handle, an array of another device, a name
  /// twice) is what each of its calls ends in.
  Checkpoint(Device device, std::vector<Part> parts);

  /// Copies the arrays within the device's memory. What was kept before stays until the new copy is whole; so after the
  /// second time, there are two copies of everything. Ends in `buffer_tainted` when an array is not whole.
  detail::TaskCall<void> keep();
  /// Brings back what `keep` has kept, as often as you like; `invalid_argument` when nothing was kept. All arrays are
  /// restored, or none is touched; if the device itself is lost in between, those that were not restored are tainted.
  detail::TaskCall<void> restore();
  /// Writes the arrays into a file, from a copy that is made first: the arrays may change meanwhile. Whatever happens,
  /// there is the old file or the whole new one, on the disk. What the system answers (no such folder, no permission,
  /// a full disk) is the error, with its number as `native_code`.
  detail::TaskCall<void> save(std::string path);
  /// Reads a file that `save` has written, checks all of it, and then writes the arrays, as `restore` does. It must
  /// have exactly these arrays, by name, type and shape, in any order: else `invalid_argument`, and nothing was
  /// written. `unsupported` for a file of another format version.
  detail::TaskCall<void> load(std::string path);

  /// Whether there is something to restore.
  bool has_kept() const noexcept;

 private:
  std::shared_ptr<detail::CheckpointBody> body_;  // shared by copies, and with a call under way
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop

// State that survives: an array of which there are two. A step reads the version that counts and writes the next one;
// when all of the step went well, the next one counts. Whatever happens to a worker meanwhile, what counts is whole.
//
//   Versioned<float> w = value(Versioned<float>::make(gpu, {n}));
//   Scope on(gpu);
//   on.assign(on.next(w), w.now() - rate * gradient);
//   CO_TRY(co_await on.commit());   // or nothing has happened, and the step can be tried again
#pragma once

#include <utility>

#include "troupe/device/device.hpp"

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

}  // namespace troupe::inline v0
#pragma GCC visibility pop

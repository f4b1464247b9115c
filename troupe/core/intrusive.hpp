// Shared ownership with the count inside the object: one allocation, and a raw pointer can become an owner again.
// Used where two sides of a message or two threads keep one thing alive; everything else is a value or a `unique_ptr`.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#pragma GCC visibility push(default)
namespace troupe::inline v0::detail {

/// Base of things owned by `IntrusivePtr`. Born with one owner: whoever called `new`.
class RefCounted {
 public:
  RefCounted() = default;
  /// Born with that many owners, who all `adopt` it.
  explicit RefCounted(std::uint32_t owners) noexcept : owners_(owners) {}
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  /// The caller owns it already, so no order with other memory is needed (relaxed).
  void retain() const noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  /// What any owner wrote is visible to the one that deletes (acquire-release). A sole owner stays the sole owner, so
  /// it need not count down.
  void release() const noexcept {
    if (owners_.load(std::memory_order_acquire) == 1 || owners_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

 protected:
  virtual ~RefCounted() = default;

 private:
  mutable std::atomic<std::uint32_t> owners_{1};
};

/// An owner of a `RefCounted` object, or of none.
template <class T>
class IntrusivePtr {
 public:
  IntrusivePtr() = default;
  IntrusivePtr(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): an empty pointer, as elsewhere
  /// One more owner of `object`, which somebody owns already.
  static IntrusivePtr share(T* object) noexcept {
    if (object) object->retain();
    return adopt(object);
  }
  /// Takes over one ownership that the caller had.
  static IntrusivePtr adopt(T* object) noexcept {
    IntrusivePtr owner;
    owner.object_ = object;
    return owner;
  }

  IntrusivePtr(const IntrusivePtr& other) noexcept : object_(other.object_) {
    if (object_) object_->retain();
  }
  template <class U>
    requires std::is_convertible_v<U*, T*>
  // NOLINTNEXTLINE(google-explicit-constructor): an owner of a derived object is one of its base
  IntrusivePtr(IntrusivePtr<U> other) noexcept : object_(other.leak()) {}
  IntrusivePtr(IntrusivePtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~IntrusivePtr() {
    if (object_) object_->release();
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) noexcept { return a.object_ == b.object_; }

  /// Gives the ownership to the caller, who must `release` it or `adopt` it.
  T* leak() noexcept { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop

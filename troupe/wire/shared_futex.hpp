// Sleeping on a word that other processes change. Like troupe/core/park.hpp, but the kernel finds the sleepers by the
// shared page, not by the address, so each process may map the word somewhere else. A waiter's mapping may be
// read-only.
#pragma once

#include <atomic>
#include <cstdint>

#include "troupe/core/clock.hpp"

namespace troupe::inline v0::wire {

/// Sleeps while `word == expected`, until it is woken or `until` has come. May wake for no reason: call it in a loop.
void shared_futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimePoint until) noexcept;
void shared_futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
/// Wakes the sleepers of all processes.
void shared_futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace troupe::inline v0::wire

// Sleeping on a word that other processes change. As troupe/core/park.hpp, but the kernel finds the sleepers by the
// shared page and not by the address, so each process may have the word mapped somewhere else. A waiter's mapping may
// be read-only.
#pragma once

#include <atomic>
#include <cstdint>

#include "troupe/core/clock.hpp"

namespace troupe::inline v0::wire {

/// Sleeps while `*word == expected`, until woken, until `until`, or for no reason at all: call it in a loop.
void shared_futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimePoint until) noexcept;
void shared_futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
/// Wakes the sleepers of all processes.
void shared_futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace troupe::inline v0::wire

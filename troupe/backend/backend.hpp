// What a worker needs of an accelerator: memory it can map, lanes that run work in order and raise their timelines, and
// a way to tell an error from the end of the world. A backend is a folder beside this file; the worker's loop is the
// same for all of them.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "troupe/core/clock.hpp"
#include "troupe/core/kinds.hpp"
#include "troupe/core/log.hpp"
#include "troupe/core/result.hpp"
#include "troupe/op/table.hpp"
#include "troupe/wire/channel.hpp"
#include "troupe/wire/chunk.hpp"
#include "troupe/wire/protocol.hpp"

namespace troupe::backend {

/// What a backend is opened with; all of it outlives the backend.
struct Setup {
  wire::Channel& channel;
  wire::Bell& bell;  // rung after each timeline raised
  LogSink log;
  /// Called first of all in each thread that will run ops, and after code of the user's was loaded.
  std::function<void()> in_new_thread = [] {};
  std::function<void()> after_loading = [] {};
  /// Which of the backend's devices, by its own name for it; empty: the only one.
  std::string device = {};
  CompletionPolicy completion = CompletionPolicy::timeline;
  /// Of each lane: the higher, the sooner its work is taken when the accelerator has a choice.
  std::array<std::int8_t, wire::kMaxLanes> priorities = {};
  /// Nothing in this process works any more: says so, and ends what can be ended. Any thread; may return.
  std::function<void(const Error&)> poisoned = [](const Error&) {};
};

/// One op on its way to a lane. Its record stays in the ring until its timeline is raised.
struct Work {
  wire::Position position = 0;
  std::uint64_t units = 0;
  const std::atomic<std::uint32_t>* cancelled = nullptr;
  std::uint32_t lane = 0;
  wire::Ticket ticket = 0;
  /// A guess, in elements or multiplications; short work may be run at once by whoever hands it in.
  std::uint64_t estimate = 0;
  /// It cannot be run, and its reply is written already: it only takes its turn.
  bool refused = false;
  /// The proof of its reply, if it has failed (`Channel::write_reply`).
  std::uint16_t failure = 0;
  /// The timeline is raised right before it and right after it.
  bool alone = false;
  /// It writes what one of the last few ops of its lane reads: they are done, and known to be done, before it begins.
  /// (Otherwise they could not be run again, should this worker die.)
  bool begins_anew = false;
  /// Ops on other lanes that must be done first: lane l up to `after[l]`, for every bit l set in `waits`.
  std::uint32_t waits = 0;
  std::array<wire::Ticket, wire::kMaxLanes> after{};
};

/// `Memory`: the vault as this worker has mapped it. `Lane`: runs work in order. `Event`: when a lane has reached a
/// ticket. `NativeError`: the backend's own codes, how each becomes an `Error`, and which of them no call in this
/// process will ever recover from.
template <class B>
concept Backend =
    requires(B& backend, typename B::Memory& memory, typename B::Lane& lane, const typename B::Event& event,
             typename B::NativeError native, const Setup& setup, Work& work, op::AnyOp& op, op::Range range) {
      { B::kName } -> std::convertible_to<std::string_view>;
      /// How long the loop looks for more work before it sleeps. To be woken costs some 15 us.
      { B::kSpin } -> std::convertible_to<Duration>;
      { B::open(setup) } -> std::same_as<Result<std::unique_ptr<B>>>;
      { backend.memory() } -> std::same_as<typename B::Memory&>;
      { memory.map(wire::Chunk{}, wire::Descriptor{}) } -> std::same_as<Result<void>>;
      /// The accelerator's own memory, as a descriptor that outlives this process.
      { memory.make(std::uint64_t{}) } -> std::same_as<Result<wire::Descriptor>>;
      /// A chunk that is in this worker only.
      { memory.make_here(wire::Chunk{}) } -> std::same_as<Result<void>>;
      /// From now on nothing in this process can write that chunk, or everything can again; it stays where it is.
      { memory.protect(wire::ProtectChunk{}, wire::Descriptor{}) } -> std::same_as<Result<void>>;
      { memory.unmap(std::uint32_t{}) } -> std::same_as<void>;
      { memory.contains(range) } -> std::same_as<bool>;
      /// Hands work in with its op, in ring order, from one thread; the backend may take the op away. None when the
      /// work was refused. Waits when the lane's queue is full.
      { backend.submit(work, op) } -> std::same_as<void>;
      /// No more chunks will be mapped, so nobody waits for one.
      { memory.close() } -> std::same_as<void>;
      /// No more work is at hand. Timelines that were not raised yet, because more might follow, are now: those of
      /// lanes that will soon come so far, or all of them.
      { backend.flush_due() } -> std::same_as<void>;
      { backend.flush() } -> std::same_as<void>;
      { lane.completed(event) } -> std::same_as<bool>;
      /// Makes ready what first calls would have to wait for; in a standby, ahead of time.
      { backend.warm() } -> std::same_as<void>;
      { B::to_error(native) } -> std::same_as<Error>;
      { B::is_fatal(native) } -> std::same_as<bool>;
    };

}  // namespace troupe::backend

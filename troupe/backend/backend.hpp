// What a worker needs from an accelerator: memory that it can map, lanes that run work in order and raise their
// timelines, and a way to tell which errors poison the context. A backend is a folder beside this file; the worker's
// loop is the same for all of them.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "troupe/core/clock.hpp"
#include "troupe/core/kinds.hpp"
#include "troupe/core/log.hpp"
#include "troupe/core/result.hpp"
#include "troupe/op/fences.hpp"
#include "troupe/op/table.hpp"
#include "troupe/wire/channel.hpp"
#include "troupe/wire/chunk.hpp"
#include "troupe/wire/protocol.hpp"

namespace troupe::backend {

/// What a backend is opened with; all of it must outlive the backend.
struct Setup {
  wire::Channel& channel;
  wire::Bell& bell;  // rung after a timeline was raised
  LogSink log;
  /// Called first in each thread that will run ops, and after code of the user was loaded.
  std::function<void()> in_new_thread = [] {};
  std::function<void()> after_loading = [] {};
  /// The backend's own name of the device; empty: the only one.
  std::string device = {};
  CompletionPolicy completion = CompletionPolicy::timeline;
  /// How many threads compute at once on a CPU; none: as many as there are.
  std::optional<int> cpu_threads = {};
  /// By lane: when the accelerator has a choice, it takes work of a higher priority first.
  std::array<std::int8_t, wire::kMaxLanes> priorities = {};
  /// Call it when the context is poisoned: it tells the app and ends what can be ended. Any thread; may return.
  std::function<void(const Error&)> poisoned = [](const Error&) {};
};

/// One op on its way to a lane. Its record stays in the ring until its timeline is raised.
struct Work {
  wire::Position position = 0;
  std::uint64_t units = 0;
  const std::atomic<std::uint32_t>* cancelled = nullptr;
  std::uint32_t lane = 0;
  wire::Ticket ticket = 0;
  /// An estimate, in elements or multiplications; the thread that submits short work may run it at once.
  std::uint64_t estimate = 0;
  /// It cannot be run, and its reply is written already: it only keeps its place in the order.
  bool refused = false;
  /// The proof of its reply, if it has failed (`Channel::write_reply`).
  std::uint16_t failure = 0;
  /// The timeline is raised right before it and right after it.
  bool alone = false;
  /// It writes what one of the last few ops of its lane reads: the timeline must say that they are done before it
  /// begins. (Otherwise they could not be run again if this worker dies.)
  bool begins_anew = false;
  /// Ops on other lanes that must be done first: lane l up to `after[l]`, for every bit l set in `waits`.
  std::uint32_t waits = 0;
  std::array<wire::Ticket, wire::kMaxLanes> after{};
  /// In guard mode: fill their fences before the op, and compare them after it. They stand in the op's record.
  op::FencedArrays fenced;
};

/// `Memory`: the vault as this worker has mapped it. `Lane`: runs work in order. `Event`: when a lane has reached a
/// ticket. `NativeError`: the backend's own codes, how each becomes an `Error`, and which of them are sticky: no call
/// in this process recovers from them.
template <class B>
concept Backend =
    requires(B& backend, typename B::Memory& memory, typename B::Lane& lane, const typename B::Event& event,
             typename B::NativeError native, const Setup& setup, Work& work, op::AnyOp& op, op::Range range) {
      { B::kName } -> std::convertible_to<std::string_view>;
      /// How long the loop looks for more work before it sleeps. Waking up costs some 15 us.
      { B::kSpin } -> std::convertible_to<Duration>;
      { B::open(setup) } -> std::same_as<Result<std::unique_ptr<B>>>;
      { backend.memory() } -> std::same_as<typename B::Memory&>;
      { memory.map(wire::Chunk{}, wire::Descriptor{}) } -> std::same_as<Result<void>>;
      /// The accelerator's own memory, as a descriptor that outlives this process.
      { memory.make(std::uint64_t{}) } -> std::same_as<Result<wire::Descriptor>>;
      /// Memory for a chunk that exists in this worker only.
      { memory.make_here(wire::Chunk{}) } -> std::same_as<Result<void>>;
      /// Makes that chunk read-only or writable in this process; its address stays.
      { memory.protect(wire::ProtectChunk{}, wire::Descriptor{}) } -> std::same_as<Result<void>>;
      { memory.unmap(std::uint32_t{}) } -> std::same_as<void>;
      { memory.contains(range) } -> std::same_as<bool>;
      /// Takes work with its op, in ring order, from one thread; the backend may move the op away. Refused work has no
      /// op. Waits when the lane's queue is full.
      { backend.submit(work, op) } -> std::same_as<void>;
      /// No more chunks will be mapped, so nobody waits for one.
      { memory.close() } -> std::same_as<void>;
      /// No more work is at hand: raises timelines that were held back because more might follow. `flush_due` does so
      /// for lanes that are nearly done, `flush` for all.
      { backend.flush_due() } -> std::same_as<void>;
      { backend.flush() } -> std::same_as<void>;
      { lane.completed(event) } -> std::same_as<bool>;
      /// Prepares what first calls would have to wait for; in a standby this happens ahead of time.
      { backend.warm() } -> std::same_as<void>;
      { B::to_error(native) } -> std::same_as<Error>;
      { B::is_fatal(native) } -> std::same_as<bool>;
    };

}  // namespace troupe::backend

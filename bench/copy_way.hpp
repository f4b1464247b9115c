// Between the host and a GPU there are two kinds of memory and two directions. Ours and raw CUDA are asked for the same
// one, by this.
#pragma once

namespace troupe::bench {

struct CopyWay {
  enum class HostMemory { pinned, ordinary };
  enum class Direction { in, out };  // as the GPU sees it

  HostMemory memory;
  Direction direction;

  static constexpr CopyWay pinned_in() { return {HostMemory::pinned, Direction::in}; }
  static constexpr CopyWay pinned_out() { return {HostMemory::pinned, Direction::out}; }
  static constexpr CopyWay ordinary_in() { return {HostMemory::ordinary, Direction::in}; }
  static constexpr CopyWay ordinary_out() { return {HostMemory::ordinary, Direction::out}; }

  bool is_pinned() const { return memory == HostMemory::pinned; }
  bool is_in() const { return direction == Direction::in; }
};

}  // namespace troupe::bench

// How the terms of a reduction are shared out among threads: so that a large GPU has work for all of them, once. By the
// shapes alone, so that sums are the same every time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"

namespace troupe::cuda {

/// The blocks of threads that an SM shall run at once, as many as there are registers for; of elements of that size.
constexpr int reduce_blocks(int size_bytes) noexcept { return size_bytes <= 2 ? 3 : 4; }
/// So many threads a large GPU runs at once. More would be a second round, in which most of it would have nothing to
/// do.
constexpr std::int64_t busy_threads(std::int64_t size_bytes) noexcept {
  constexpr std::int64_t kProcessors = 132;
  return kProcessors * kReduceThreads * reduce_blocks(static_cast<int>(size_bytes));
}

/// Whether groups are of outputs that are neighbours in the input, and not of terms: `kept` and `reduced` begin with
/// the input's strides.
template <int n, int m>
bool is_by_columns(const KernelAxes<n>& kept, const KernelAxes<m>& reduced) noexcept {
  const auto nearest = [](const auto& axes) {
    const long long apart = axes.rank == 0 ? 0 : axes.strides[0][axes.rank - 1];
    return apart == 0 ? INT64_MAX : apart < 0 ? -apart : apart;
  };
  return kept.rank > 0 && nearest(kept) < nearest(reduced);
}

struct Sharing {
  unsigned lanes = 1;            // threads that share an output, or a group of outputs: a power of two
  std::int64_t chunks = 1;       // into which its terms are cut
  std::int64_t chunk_steps = 0;  // in each: terms, or groups of terms
};

/// `outputs` are groups of outputs by columns, and then `steps` are terms; else single ones, and groups of terms.
/// `busy`: threads that keep the GPU busy.
inline Sharing share(bool by_columns, std::int64_t outputs, std::int64_t steps, std::int64_t busy) noexcept {
  constexpr std::int64_t kLeastSteps = 4;       // of a thread, where lanes share an output
  constexpr std::int64_t kLeastChunkSteps = 8;  // and where chunks do
  constexpr std::int64_t kLeastChunks = 4;      // fewer are not worth a second kernel
  constexpr std::int64_t kMostChunks = 4096;
  const auto power = [](std::int64_t number, std::int64_t most) {
    return static_cast<unsigned>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(number, 1, most))));
  };
  Sharing sharing;
  // What neighbouring threads read at once is 256 bytes or more by columns, and 512 bytes by rows.
  if (!by_columns) sharing.lanes = power(steps, 32);
  const unsigned most = by_columns ? kReduceThreads / power(outputs, 16) : kReduceThreads;
  while (sharing.lanes < most && outputs * 2 * sharing.lanes <= busy && steps / (2 * sharing.lanes) >= kLeastSteps)
    sharing.lanes *= 2;
  const std::int64_t wanted = busy / std::max<std::int64_t>(outputs * sharing.lanes, 1);
  const std::int64_t possible = std::min({wanted, steps / (sharing.lanes * kLeastChunkSteps), kMostChunks});
  const std::int64_t chunks = possible < kLeastChunks ? 1 : possible;
  sharing.chunk_steps = (steps + chunks - 1) / chunks;
  if (sharing.chunk_steps > 0) sharing.chunks = (steps + sharing.chunk_steps - 1) / sharing.chunk_steps;
  return sharing;
}

/// The threads that share the chunks of an output.
inline unsigned lanes_of_chunks(std::int64_t outputs, std::int64_t chunks) noexcept {
  constexpr std::int64_t kEnough = 1 << 15;
  constexpr std::int64_t kLeastChunks = 2;
  unsigned lanes = 1;
  while (lanes < kReduceThreads && outputs * lanes < kEnough && chunks / (2 * lanes) >= kLeastChunks) lanes *= 2;
  return lanes;
}

}  // namespace troupe::cuda

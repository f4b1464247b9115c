// Which sequences an op of attention has: those of a batch, shorter ones by their lengths, packed ones by their
// offsets, and those of a cache by lengths and a table of blocks. All of it is read once and looked at before it is
// used.
#pragma once

#include <vector>

#include "troupe/backend/host/dnn/attention_blocks.hpp"

namespace troupe::host {

struct FoundSequences {
  std::vector<AttentionSequence> sequences;
  DnnFinding finding;
};
/// Of an op without a cache.
Result<FoundSequences> sequences_of(const op::AttentionTerms& terms, const op::AttentionInputs& in,
                                    const HostViews& here);

/// Whether lengths count the tokens that an op has for each sequence, or only those before them.
enum class LengthsCount : bool { queries_too, what_is_there };

struct CachedSequences {
  std::vector<AttentionSequence> sequences;
  DnnIndices table;
  DnnFinding finding;
};
/// Of an op with `tokens` for each sequence, and a cache of that shape.
Result<CachedSequences> cached_sequences(const op::View& table, const op::View& lengths, const Shape& cache,
                                         std::int64_t tokens, LengthsCount count, const HostViews& here);

}  // namespace troupe::host

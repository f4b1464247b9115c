#include "troupe/backend/host/dnn/attention_sequences.hpp"

namespace troupe::host {
namespace {

constexpr std::int64_t kAnything = std::numeric_limits<std::int64_t>::max();

/// Offsets ascend from 0 to the number of tokens.
DnnFinding check_ascent(const DnnIndices& offsets, std::int64_t tokens) noexcept {
  const std::int64_t last = offsets.count() - 1;
  if (offsets[0] != 0) return {.fault = DnnFault::first_offset, .place = 0, .value = offsets[0], .bound = 0};
  for (std::int64_t i = 1; i <= last; ++i)
    if (offsets[i] < offsets[i - 1])
      return {.fault = DnnFault::offset_falls, .place = i, .value = offsets[i], .bound = offsets[i - 1]};
  if (offsets[last] == tokens) return {};
  return {.fault = DnnFault::last_offset, .place = last, .value = offsets[last], .bound = tokens};
}

Result<FoundSequences> packed_sequences(const op::AttentionTerms& terms, const op::AttentionInputs& in,
                                        const HostViews& here) {
  const auto read = [&](const op::View& view) {
    return DnnIndices::read(here(view), DnnFault::none, kAnything, 0, here.team());
  };
  const DnnIndices queries = TROUPE_TRY(read(in.lengths_or_query_offsets)),
                   keys = TROUPE_TRY(read(in.mask_or_key_offsets));
  FoundSequences made;
  made.finding = check_ascent(queries, in.q.shape[2]);
  if (made.finding.fault == DnnFault::none) made.finding = check_ascent(keys, in.k.shape[2]);
  for (std::int64_t i = 0; i + 1 < queries.count(); ++i)
    made.sequences.push_back({.first_query = queries[i],
                              .queries = queries[i + 1] - queries[i],
                              .first_key = keys[i],
                              .keys = keys[i + 1] - keys[i],
                              .ends_together = terms.ends_together});
  return made;
}

}  // namespace

Result<FoundSequences> sequences_of(const op::AttentionTerms& terms, const op::AttentionInputs& in,
                                    const HostViews& here) {
  if (terms.is_packed) return packed_sequences(terms, in, here);
  FoundSequences made;
  const AttentionSequence whole{.first_query = 0,
                                .queries = in.q.shape[2],
                                .first_key = 0,
                                .keys = in.k.shape[2],
                                .ends_together = terms.ends_together};
  made.sequences.assign(static_cast<std::size_t>(in.q.shape[0]), whole);
  if (!terms.has_lengths) return made;
  const DnnIndices lengths = TROUPE_TRY(
      DnnIndices::read(here(in.lengths_or_query_offsets), DnnFault::length_outside, whole.keys + 1, 0, here.team()));
  made.finding = lengths.found();
  made.finding.bound = whole.keys;
  for (std::int64_t i = 0; i < lengths.count(); ++i) made.sequences[static_cast<std::size_t>(i)].keys = lengths[i];
  return made;
}

Result<CachedSequences> cached_sequences(const op::View& table, const op::View& lengths, const Shape& cache,
                                         std::int64_t tokens, LengthsCount count, const HostViews& here) {
  CachedSequences made;
  const std::int64_t most = table.shape[1] * cache[1];
  const DnnIndices read = TROUPE_TRY(DnnIndices::read(here(lengths), DnnFault::none, kAnything, 0, here.team()));
  made.table = TROUPE_TRY(DnnIndices::read(here(table), DnnFault::none, kAnything, 0, here.team()));
  const std::int64_t more = count == LengthsCount::queries_too ? 0 : tokens;
  for (std::int64_t b = 0; b < read.count(); ++b) {
    const std::int64_t length = read[b];
    if (length < 0 || length > most - more) {
      if (made.finding.fault == DnnFault::none)
        made.finding = {.fault = DnnFault::length_outside, .place = b, .value = length, .bound = most - more};
      continue;
    }
    const std::int64_t keys = length + more;
    made.sequences.push_back(
        {.first_query = 0, .queries = tokens, .first_key = 0, .keys = keys, .ends_together = true});
  }
  if (made.finding.fault != DnnFault::none) return made;
  // Only blocks that tokens are in must be in the cache: behind them a table may have anything.
  for (std::int64_t b = 0; b < read.count(); ++b)
    for (std::int64_t i = 0; i * cache[1] < made.sequences[static_cast<std::size_t>(b)].keys; ++i) {
      const std::int64_t place = b * table.shape[1] + i, block = made.table[place];
      if (block >= 0 && block < cache[0]) continue;
      made.finding = {.fault = DnnFault::block_outside, .place = place, .value = block, .bound = cache[0]};
      return made;
    }
  return made;
}

}  // namespace troupe::host

// What attention does block by block, dense or from a cache: which rows a block of queries has, which keys they see,
// and how keys and values are packed. Rows are pairs of a query and one of the heads that share a head of keys, so
// that keys are packed once for all of these heads. A row's result depends on its own keys alone, and on where blocks
// of keys begin, which is at multiples of kKeyBlock in its sequence.
#pragma once

#include <cmath>
#include <limits>

#include "troupe/backend/host/dnn/attention_rows.hpp"
#include "troupe/backend/host/dnn/dnn_drops.hpp"
#include "troupe/backend/host/dnn/dnn_numbers.hpp"
#include "troupe/op/dnn_attention.hpp"

namespace troupe::host {

/// One sequence: where its queries and keys begin in the arrays, and how many there are.
struct AttentionSequence {
  std::int64_t first_query = 0;
  std::int64_t queries = 0;
  std::int64_t first_key = 0;
  std::int64_t keys = 0;
  bool ends_together = false;

  /// The place of a query among the keys.
  std::int64_t place(std::int64_t query) const noexcept { return query + (ends_together ? keys - queries : 0); }
};

/// Keys or values of one head of one sequence, token by token: side by side, or in blocks of a cache.
struct TokenRows {
  const std::byte* first = nullptr;
  DType dtype{};
  std::int64_t token_step = 0;
  std::int64_t element_step = 0;
  const DnnIndices* table = nullptr;
  std::int64_t first_block = 0;  // of this sequence in the table
  std::int64_t block_tokens = 1;
  std::int64_t block_step = 0;

  const std::byte* operator[](std::int64_t token) const noexcept {
    if (table == nullptr) return first + token * token_step;
    const std::int64_t block = (*table)[first_block + token / block_tokens];
    return first + block * block_step + token % block_tokens * token_step;
  }
};
/// Head `head` of element `batch` of an array [batch, heads, tokens, width].
inline TokenRows token_rows(const HostView& view, std::int64_t batch, std::int64_t head,
                            std::int64_t first_token) noexcept {
  const std::int64_t size = size_bytes(view.dtype);
  const std::int64_t begin = batch * view.strides[0] + head * view.strides[1] + first_token * view.strides[2];
  return {.first = view.data + begin * size,
          .dtype = view.dtype,
          .token_step = view.strides[2] * size,
          .element_step = view.strides[3] * size};
}

/// Rows of a block of tokens: [kKeyBlock, width], with zeros behind the last one.
template <class C>
void pack_rows(const TokenRows& tokens, std::int64_t first, std::int64_t count, std::int64_t width, C* to) noexcept {
  for (std::int64_t i = 0; i < count; ++i)
    read_numbers(tokens.dtype, tokens[first + i], tokens.element_step, to + i * width, width);
  std::fill_n(to + count * width, (kKeyBlock - count) * width, C(0));
}
/// The same turned: [width, kKeyBlock].
template <class C>
void turn_rows(const C* rows, std::int64_t width, C* to) noexcept {
  for (std::int64_t i = 0; i < kKeyBlock; ++i)
    for (std::int64_t d = 0; d < width; ++d) to[d * kKeyBlock + i] = rows[i * width + d];
}

/// Keys from `begin` to before `end`.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
/// Those that a query at that place sees, but for masks.
inline KeyRange visible_keys(const op::AttentionTerms& terms, std::int64_t place, std::int64_t keys) noexcept {
  KeyRange range{0, keys};
  if (terms.causal) range.end = std::clamp<std::int64_t>(place + 1, 0, keys);
  if (terms.window > 0) {
    range.begin = std::clamp<std::int64_t>(place - terms.window + 1, 0, keys);
    range.end = std::clamp<std::int64_t>(place + terms.window, 0, range.end);
  }
  return range;
}

/// One head of keys of one sequence, with the heads of queries that share it.
class AttentionHead {
 public:
  AttentionHead(const op::AttentionTerms& terms, const AttentionSequence& sequence, std::int64_t batch,
                std::int64_t key_head, std::int64_t group) noexcept
      : terms_(terms), sequence_(sequence), batch_(batch), key_head_(key_head), group_(group) {}

  const AttentionSequence& sequence() const noexcept { return sequence_; }
  std::int64_t batch() const noexcept { return batch_; }
  std::int64_t key_head() const noexcept { return key_head_; }
  std::int64_t rows() const noexcept { return group_ * sequence_.queries; }
  std::int64_t head(std::int64_t row) const noexcept { return key_head_ * group_ + row / sequence_.queries; }
  std::int64_t query(std::int64_t row) const noexcept { return row % sequence_.queries; }
  KeyRange keys(std::int64_t row) const noexcept {
    return visible_keys(terms_, sequence_.place(query(row)), sequence_.keys);
  }
  /// Those that any of some rows sees.
  KeyRange keys(std::int64_t begin, std::int64_t end) const noexcept {
    KeyRange all{sequence_.keys, 0};
    for (std::int64_t row = begin; row < end; ++row) {
      const KeyRange mine = keys(row);
      if (mine.begin >= mine.end) continue;
      all = {std::min(all.begin, mine.begin), std::max(all.end, mine.end)};
    }
    return all;
  }
  /// Where a row of an array [batch, heads, tokens, ...] is.
  std::byte* at(const HostView& view, std::int64_t row) const noexcept {
    const std::int64_t place =
        batch_ * view.strides[0] + head(row) * view.strides[1] + (sequence_.first_query + query(row)) * view.strides[2];
    return view.data + place * size_bytes(view.dtype);
  }

 private:
  const op::AttentionTerms& terms_;
  AttentionSequence sequence_;
  std::int64_t batch_;
  std::int64_t key_head_;
  std::int64_t group_;
};

/// Scales the scores of some rows with a block of keys, masks them, and says which keys dropout leaves out.
template <class C>
class AttentionScores {
 public:
  AttentionScores(const op::AttentionTerms& terms, const HostView& mask, std::int64_t heads, std::int64_t queries,
                  std::int64_t keys) noexcept
      : terms_(terms),
        mask_(mask),
        heads_(heads),
        queries_(queries),
        keys_(keys),
        drops_(terms.source, terms.probability) {}

  /// Of one row with the keys from `first` on: minus infinity for those that it does not see.
  void finish(const AttentionHead& head, std::int64_t row, std::int64_t first, C* scores) const noexcept {
    constexpr C kNothing = -std::numeric_limits<C>::infinity();
    const KeyRange seen = head.keys(row);
    const auto scale = static_cast<C>(terms_.scale);
    for (std::int64_t j = 0; j < kKeyBlock; ++j) {
      const bool is_seen = first + j >= seen.begin && first + j < seen.end;
      scores[j] = is_seen ? scores[j] * scale : kNothing;
    }
    if (!terms_.has_mask) return;
    const std::int64_t count = std::min(kKeyBlock, head.sequence().keys - first);
    const std::int64_t step = mask_.strides[3] * size_bytes(mask_.dtype);
    const std::byte* const at = head.at(mask_, row) + first * step;
    if (mask_.dtype == DType::boolean) {
      for (std::int64_t j = 0; j < count; ++j)
        if (!load<bool>(at + j * step)) scores[j] = kNothing;
    } else {
      C added[kKeyBlock];
      read_numbers(mask_.dtype, at, step, added, count);
      for (std::int64_t j = 0; j < count; ++j) scores[j] += added[j];
    }
  }
  double scale() const noexcept { return terms_.scale; }
  bool drops() const noexcept { return terms_.probability > 0; }
  /// out = numbers / (1 - probability), or 0, for one row and the keys from `first` on. `out` may be `numbers`.
  void drop(const AttentionHead& head, std::int64_t row, std::int64_t first, const C* numbers, C* out) const noexcept {
    const AttentionSequence& of = head.sequence();
    const std::int64_t score =
        ((head.batch() * heads_ + head.head(row)) * queries_ + of.first_query + head.query(row)) * keys_ +
        of.first_key + first;
    drops_.apply(static_cast<std::uint64_t>(score), numbers, out, kKeyBlock);
  }

 private:
  const op::AttentionTerms& terms_;
  HostView mask_;
  std::int64_t heads_;
  std::int64_t queries_;
  std::int64_t keys_;
  Drops drops_;
};

/// The buffers of one thread for attention forward.
template <class C>
class AttentionBlock {
 public:
  static Result<AttentionBlock> make(std::int64_t width, std::int64_t value_width) {
    AttentionBlock made;
    made.width_ = width;
    made.value_width_ = value_width;
    made.memory_ = TROUPE_TRY(NumberBuffers<C>::make(6, kKeyBlock * std::max(width, value_width)));
    made.scores_ = TROUPE_TRY(NumberBuffers<C>::make(2, kQueryBlock * kKeyBlock));
    return made;
  }

  /// y of rows `begin` to before `end` of a head, at most kQueryBlock, and the logarithms of their sums where they are
  /// wanted. Queries come from `q`, keys and values from wherever they are.
  void attend(const AttentionHead& head, const AttentionScores<C>& scores, const HostView& q, const TokenRows& keys,
              const TokenRows& values, std::int64_t begin, std::int64_t end, const HostView& y,
              const HostView* sums) noexcept {
    const std::int64_t rows = end - begin;
    for (std::int64_t i = 0; i < rows; ++i) {
      read_numbers(q.dtype, head.at(q, begin + i), q.strides[3] * size_bytes(q.dtype), queries() + i * width_, width_);
      greatest_[i] = -std::numeric_limits<C>::infinity();
      sums_[i] = 0;
    }
    std::fill_n(result(), rows * value_width_, C(0));
    const KeyRange seen = head.keys(begin, end);
    for (std::int64_t first = seen.begin / kKeyBlock * kKeyBlock; first < seen.end; first += kKeyBlock) {
      const std::int64_t count = std::min(kKeyBlock, head.sequence().keys - first);
      pack_rows(keys, first, count, width_, packed());
      turn_rows(packed(), width_, turned());
      pack_rows(values, first, count, value_width_, packed());
      attention_rows<C>().scores(queries(), turned(), scores_[0], rows, width_);
      for (std::int64_t i = 0; i < rows; ++i) {
        scores.finish(head, begin + i, first, scores_[0] + i * kKeyBlock);
        weigh(i);
        if (scores.drops()) scores.drop(head, begin + i, first, scores_[1] + i * kKeyBlock, scores_[1] + i * kKeyBlock);
      }
      attention_rows<C>().add_values(scores_[1], packed(), result(), rows, value_width_);
    }
    for (std::int64_t i = 0; i < rows; ++i) store_row(head, begin + i, i, y, sums);
  }

 private:
  C* queries() const noexcept { return memory_[0]; }
  C* turned() const noexcept { return memory_[1]; }
  C* packed() const noexcept { return memory_[2]; }
  C* result() const noexcept { return memory_[3]; }

  /// Scores of row i become weights, relative to the greatest score so far; what was summed before follows.
  void weigh(std::int64_t i) noexcept {
    C* const row = scores_[0] + i * kKeyBlock;
    C* const weights = scores_[1] + i * kKeyBlock;
    const auto here = static_cast<C>(fold_numbers(Reduction::max, row, kKeyBlock));
    const C greatest = here > greatest_[i] || here != here ? here : greatest_[i];
    if (greatest == -std::numeric_limits<C>::infinity()) {  // no key was seen so far
      std::fill_n(weights, kKeyBlock, C(0));
      return;
    }
    for (std::int64_t j = 0; j < kKeyBlock; ++j) row[j] -= greatest;
    apply_row(Unary::exp, row, weights, kKeyBlock);
    const C factor = std::exp(greatest_[i] - greatest);
    sums_[i] = sums_[i] * static_cast<double>(factor) + fold_numbers(Reduction::sum, weights, kKeyBlock);
    greatest_[i] = greatest;
    C* const y = result() + i * value_width_;
    if (factor != 1)
      for (std::int64_t d = 0; d < value_width_; ++d) y[d] *= factor;
  }

  void store_row(const AttentionHead& head, std::int64_t row, std::int64_t i, const HostView& y,
                 const HostView* sums) const noexcept {
    C* const numbers = result() + i * value_width_;
    if (sums_[i] != 0) {
      const auto sum = static_cast<C>(sums_[i]);
      for (std::int64_t d = 0; d < value_width_; ++d) numbers[d] /= sum;
    }
    write_numbers(y.dtype, numbers, head.at(y, row), y.strides[3] * size_bytes(y.dtype), value_width_);
    if (sums == nullptr) return;
    store(head.at(*sums, row), static_cast<C>(static_cast<double>(greatest_[i]) + std::log(sums_[i])));
  }

  std::int64_t width_ = 0;
  std::int64_t value_width_ = 0;
  NumberBuffers<C> memory_;
  NumberBuffers<C> scores_;
  std::array<C, kQueryBlock> greatest_{};
  std::array<double, kQueryBlock> sums_{};
};

}  // namespace troupe::host

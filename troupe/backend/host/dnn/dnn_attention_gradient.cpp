// The gradient of attention. One task has one head of keys of one sequence, with all heads of queries that share it:
// block of keys by block of keys, in order, it makes the weights again from the sums that the forward direction kept,
// and adds to the slopes of all of them. So nothing is summed by two threads, and every team gives the same bits.
#include "troupe/backend/host/dnn/attention_blocks.hpp"
#include "troupe/backend/host/dnn/attention_sequences.hpp"
#include "troupe/backend/host/host_tools.hpp"

namespace troupe::host {
namespace {

/// The arrays of the op in this process.
struct GradientViews {
  HostView q, k, v, y, sums, dy, dq, dk, dv;
};
GradientViews views_of(const op::DnnAttentionGradient& op, const HostViews& here) noexcept {
  return {here(op.in.q), here(op.in.k), here(op.in.v), here(op.y), here(op.sums),
          here(op.dy),   here(op.dq),   here(op.dk),   here(op.dv)};
}

template <class C>
class AttentionSlopes {
 public:
  static Result<AttentionSlopes> make(const GradientViews& views, std::int64_t rows) {
    AttentionSlopes made;
    made.width_ = views.q.shape[3];
    made.value_width_ = views.v.shape[3];
    const std::int64_t widest = std::max(made.width_, made.value_width_);
    made.blocks_ = TROUPE_TRY(NumberBuffers<C>::make(6, kKeyBlock * widest));
    made.scores_ = TROUPE_TRY(NumberBuffers<C>::make(4, kQueryBlock * kKeyBlock));
    made.rows_ = TROUPE_TRY(NumberBuffers<C>::make(4, rows * widest));
    made.sums_ = TROUPE_TRY(NumberBuffers<double>::make(2, rows));
    return made;
  }

  /// All slopes of one head of keys.
  void run(const AttentionHead& head, const AttentionScores<C>& scores, const GradientViews& views) noexcept {
    read(head, views);
    const AttentionSequence& sequence = head.sequence();
    const TokenRows keys = token_rows(views.k, head.batch(), head.key_head(), sequence.first_key);
    const TokenRows values = token_rows(views.v, head.batch(), head.key_head(), sequence.first_key);
    const TokenRows dk = token_rows(views.dk, head.batch(), head.key_head(), sequence.first_key);
    const TokenRows dv = token_rows(views.dv, head.batch(), head.key_head(), sequence.first_key);
    for (std::int64_t first = 0; first < sequence.keys; first += kKeyBlock) {
      const std::int64_t count = std::min(kKeyBlock, sequence.keys - first);
      pack_rows(values, first, count, value_width_, blocks_[1]);
      turn_rows(blocks_[1], value_width_, blocks_[2]);
      pack_rows(keys, first, count, width_, blocks_[0]);
      turn_rows(blocks_[0], width_, blocks_[1]);
      std::fill_n(blocks_[3], kKeyBlock * width_, C(0));
      std::fill_n(blocks_[4], kKeyBlock * value_width_, C(0));
      for (std::int64_t begin = 0; begin < head.rows(); begin += kQueryBlock)
        add_block(head, scores, first, begin, std::min(begin + kQueryBlock, head.rows()));
      write(dk, first, count, width_, blocks_[3]);
      write(dv, first, count, value_width_, blocks_[4]);
    }
    for (std::int64_t row = 0; row < head.rows(); ++row)
      write_numbers(views.dq.dtype, dq(row), head.at(views.dq, row), views.dq.strides[3] * size_bytes(views.dq.dtype),
                    width_);
  }

 private:
  C* q(std::int64_t row) const noexcept { return rows_[0] + row * width_; }
  C* dy(std::int64_t row) const noexcept { return rows_[1] + row * value_width_; }
  C* dq(std::int64_t row) const noexcept { return rows_[2] + row * width_; }

  /// Queries, slopes of the result, the sums of their products with it, and the sums of exponentials.
  void read(const AttentionHead& head, const GradientViews& views) noexcept {
    const auto step = [](const HostView& view) { return view.strides[3] * size_bytes(view.dtype); };
    std::fill_n(rows_[2], head.rows() * width_, C(0));
    for (std::int64_t row = 0; row < head.rows(); ++row) {
      read_numbers(views.q.dtype, head.at(views.q, row), step(views.q), q(row), width_);
      read_numbers(views.dy.dtype, head.at(views.dy, row), step(views.dy), dy(row), value_width_);
      read_numbers(views.y.dtype, head.at(views.y, row), step(views.y), rows_[3], value_width_);
      double product = 0;
      for (std::int64_t d = 0; d < value_width_; ++d)
        product += static_cast<double>(dy(row)[d]) * static_cast<double>(rows_[3][d]);
      sums_[0][row] = product;
      sums_[1][row] = static_cast<double>(load<C>(head.at(views.sums, row)));
    }
  }

  /// What rows `begin` to before `end` and the keys from `first` on add to all slopes.
  void add_block(const AttentionHead& head, const AttentionScores<C>& scores, std::int64_t first, std::int64_t begin,
                 std::int64_t end) noexcept {
    const KeyRange seen = head.keys(begin, end);
    if (first >= seen.end || first + kKeyBlock <= seen.begin) return;
    const std::int64_t rows = end - begin;
    const AttentionRows<C>& products = attention_rows<C>();
    products.scores(q(begin), blocks_[1], scores_[0], rows, width_);
    products.scores(dy(begin), blocks_[2], scores_[1], rows, value_width_);
    for (std::int64_t i = 0; i < rows; ++i) {
      C* const p = scores_[0] + i * kKeyBlock;
      C* const slopes = scores_[1] + i * kKeyBlock;
      C* const kept = scores_[2] + i * kKeyBlock;  // what is left of the weights
      weigh(head, scores, first, begin + i, p, scores_[3]);
      std::copy_n(p, kKeyBlock, kept);
      if (scores.drops()) {
        scores.drop(head, begin + i, first, kept, kept);
        scores.drop(head, begin + i, first, slopes, slopes);
      }
      const auto product = static_cast<C>(sums_[0][begin + i]);
      const auto scale = static_cast<C>(scores.scale());
      for (std::int64_t j = 0; j < kKeyBlock; ++j) slopes[j] = p[j] * (slopes[j] - product) * scale;
    }
    products.add_values(scores_[1], blocks_[0], dq(begin), rows, width_);
    products.add_turned(scores_[1], q(begin), blocks_[3], rows, width_);
    products.add_turned(scores_[2], dy(begin), blocks_[4], rows, value_width_);
  }

  /// Scores of one row become weights.
  void weigh(const AttentionHead& head, const AttentionScores<C>& scores, std::int64_t first, std::int64_t row, C* p,
             C* buffer) const noexcept {
    const double sum = sums_[1][row];
    scores.finish(head, row, first, p);
    if (sum == -std::numeric_limits<double>::infinity()) {  // it saw no key
      std::fill_n(p, kKeyBlock, C(0));
      return;
    }
    for (std::int64_t j = 0; j < kKeyBlock; ++j) buffer[j] = p[j] - static_cast<C>(sum);
    apply_row(Unary::exp, buffer, p, kKeyBlock);
  }

  static void write(const TokenRows& to, std::int64_t first, std::int64_t count, std::int64_t width,
                    const C* from) noexcept {
    for (std::int64_t i = 0; i < count; ++i)
      write_numbers(to.dtype, from + i * width, const_cast<std::byte*>(to[first + i]), to.element_step, width);
  }

  std::int64_t width_ = 0;
  std::int64_t value_width_ = 0;
  NumberBuffers<C> blocks_;  // keys; keys and values turned; slopes of keys and of values
  NumberBuffers<C> scores_;  // weights, slopes, what is left of the weights; a row
  NumberBuffers<C> rows_;    // queries, slopes of the result and of the queries; a row
  NumberBuffers<double> sums_;
};

/// A padded key has slopes of 0.
void clear_padding(const HostView& slopes, std::int64_t batch, std::int64_t begin) noexcept {
  const std::int64_t size = size_bytes(slopes.dtype);
  for (std::int64_t head = 0; head < slopes.shape[1]; ++head)
    for (std::int64_t token = begin; token < slopes.shape[2]; ++token) {
      std::byte* const row =
          slopes.data + (batch * slopes.strides[0] + head * slopes.strides[1] + token * slopes.strides[2]) * size;
      for (std::int64_t d = 0; d < slopes.shape[3]; ++d)
        std::fill_n(row + d * slopes.strides[3] * size, size, std::byte{0});
    }
}

template <class C>
Result<void> run_slopes(const op::DnnAttentionGradient& op, std::span<const AttentionSequence> sequences,
                        const HostViews& here) {
  const GradientViews views = views_of(op, here);
  if (views.q.data == nullptr && views.k.data == nullptr && views.v.data == nullptr) return {};
  const std::int64_t key_heads = views.k.shape[1], group = views.q.shape[1] / key_heads;
  const AttentionScores<C> scores(op.terms, op.terms.has_mask ? here(op.in.mask_or_key_offsets) : HostView{},
                                  views.q.shape[1], views.q.shape[2], views.k.shape[2]);
  const std::int64_t tasks = static_cast<std::int64_t>(sequences.size()) * key_heads;
  return each_part(here.team(), tasks, Grain::of_items(1), [&](std::int64_t task, std::int64_t end) -> Result<void> {
    for (; task < end; ++task) {
      const AttentionSequence& sequence = sequences[static_cast<std::size_t>(task / key_heads)];
      const std::int64_t batch = op.terms.is_packed ? 0 : task / key_heads;
      const AttentionHead head(op.terms, sequence, batch, task % key_heads, group);
      auto slopes = TROUPE_TRY(AttentionSlopes<C>::make(views, std::max<std::int64_t>(head.rows(), 1)));
      slopes.run(head, scores, views);
      if (!op.terms.has_lengths || task % key_heads != 0) continue;
      clear_padding(views.dk, batch, sequence.keys);
      clear_padding(views.dv, batch, sequence.keys);
    }
    return {};
  });
}

}  // namespace

Result<void> run_op(const op::DnnAttentionGradient& op, const HostViews& here) {
  const FoundSequences found = TROUPE_TRY(sequences_of(op.terms, op.in, here));
  if (op.terms.judges() && !is_well(found.finding, op.verdict, here)) return {};
  return with_numbers(op.y.dtype,
                      [&]<class C>(std::type_identity<C>) { return run_slopes<C>(op, found.sequences, here); });
}

}  // namespace troupe::host

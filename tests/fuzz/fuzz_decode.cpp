// libFuzzer over everything that reads bytes from another process: ops, the messages of the socket, and the ring's
// memory. The first byte says which. Sanitizers see reads and writes that should not be; the asserts below say what
// must hold of whatever comes out, because the worker relies on it without asking again.
//
//   ./dev fuzz
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "troupe/core/assert.hpp"
#include "troupe/op/fields.hpp"
#include "troupe/wire/encoding.hpp"
#include "troupe/wire/protocol.hpp"
#include "troupe/wire/ring.hpp"

namespace {

using namespace troupe;
using Bytes = std::span<const std::byte>;

template <class T>
void check_error(const Result<T>& result) {
  TROUPE_ASSERT(result || result.error().kind() == ErrorKind::invalid_argument, "bad bytes are an invalid argument");
}

/// The view's own functions agree with each other. Whether it can be.
bool check_view(const op::View& view) {
  const bool is_dense = op::is_dense(view);
  const bool overlaps = op::may_overlap_itself(view);
  const Result<op::Range> range = op::range_of(view);
  check_error(range);
  if (!range) return false;
  TROUPE_ASSERT(range->empty() == (op::element_count(view) == 0), "a view with elements has a range");
  TROUPE_ASSERT(!(is_dense && overlaps), "a dense view does not overlap itself");
  if (range->empty()) return true;
  TROUPE_ASSERT(op::chunk_of(range->begin) == op::chunk_of(range->end - 1), "a range lies in one chunk");
  TROUPE_ASSERT(op::chunk_of(range->begin) < op::kMaxChunks, "a range lies in a chunk that can be");
  return true;
}

/// What the worker's loop does with a record, and what it relies on.
void decode_op(Bytes bytes) {
  op::AnyOp op;
  const Result<void> decoded = op.decode(bytes);
  check_error(decoded);
  if (!decoded) return;
  op::Views views;
  op.info().views(op.get(), views);
  bool all_fit = true;
  std::size_t with_elements = 0;
  for (const op::ViewUse& use : views.all()) {
    all_fit = check_view(*use.view) && all_fit;
    with_elements += all_fit && op::element_count(*use.view) != 0;
  }
  op::Toucher toucher;
  const Result<void> good = op::examine(op.info(), op.get(), views, toucher);
  TROUPE_ASSERT(
      good || good.error().kind() == ErrorKind::invalid_argument || good.error().kind() == ErrorKind::unsupported,
      "an op that cannot run is refused");
  if (good) {
    TROUPE_ASSERT(all_fit, "an op is good when all its views are");
    TROUPE_ASSERT(toucher.touches().size() == with_elements, "a view with elements is touched");
  }
  (void)op.info().work(op.get(), toucher.elements());
  // By bytes: an op may hold a NaN, which equals nothing.
  const std::vector<std::byte> once = op.encoded();
  op::AnyOp again;
  TROUPE_ASSERT(again.decode(once) && again.encoded() == once, "a decoded op encodes to the bytes it was encoded to");
  (void)op::describe(op);
  const std::string text = op::to_json(op);
  const Result<op::AnyOp> from_text = op::from_json(text);
  TROUPE_ASSERT(from_text && op::to_json(*from_text) == text, "an op comes back from its JSON");
  // Of a NaN, JSON keeps that it is one, and its sign.
  TROUPE_ASSERT(text.contains("nan") || from_text->encoded() == once, "an op comes back from its JSON, bit by bit");
}

/// The same behind a header that is right, so that nobody has to guess it.
void decode_op_of_kind(std::uint8_t choice, Bytes fields) {
  static const std::vector<op::Kind> kKinds = [] {
    std::vector<op::Kind> kinds;
    for (const op::FamilyOps* family : op::families())
      for (const op::OpInfo& info : family->ops) kinds.push_back(info.kind);
    return kinds;
  }();
  wire::Writer out;
  out.put(wire::kOpVersion);
  out.put(kKinds[choice % kKinds.size()]);
  out.put_bytes(fields);
  decode_op(out.bytes());
}

void decode_messages(Bytes bytes) {
  check_error(wire::decode_to_worker(bytes));
  check_error(wire::decode_to_app(bytes));
}

/// A ring whose memory is the input, walked as a worker does.
void walk_ring(bool marks_are_right, Bytes bytes) {
  constexpr std::uint64_t kUnits = 16;
  struct alignas(64) Memory {
    std::array<std::byte, kUnits * wire::kUnitBytes> bytes{};
  };
  Memory memory;
  std::memcpy(memory.bytes.data(), bytes.data(), std::min(bytes.size(), memory.bytes.size()));
  if (marks_are_right) {
    for (std::uint32_t unit = 0; unit < kUnits; ++unit) {
      const std::uint32_t mark = unit + 1;
      std::memcpy(memory.bytes.data() + unit * wire::kUnitBytes, &mark, sizeof mark);
    }
  }
  const wire::Ring ring(memory.bytes.data(), kUnits);
  for (wire::Position position = 0; position < kUnits;) {
    const std::optional<wire::Record> record = ring.at(position);
    if (!record) break;
    TROUPE_ASSERT(record->units > 0 && position + record->units <= kUnits, "a record lies in the ring");
    if (!record->skip) {
      TROUPE_ASSERT(record->cancelled->load() == record->cancelled->load(), "the flag can be read");
      // In memory of its own, so that a read past the end is seen.
      const std::vector<std::byte> copy(record->bytes.begin(), record->bytes.end());
      decode_op(copy);
    }
    position += record->units;
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Bytes input = std::as_bytes(std::span(data, size)).subspan(2);
  switch (data[0] % 4) {
    case 0: decode_op(input); break;
    case 1: decode_op_of_kind(data[1], input); break;
    case 2: decode_messages(input); break;
    default: walk_ring(data[1] % 2 == 0, input);
  }
  return 0;
}

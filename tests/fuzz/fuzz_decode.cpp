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
#include <vector>

#include "troupe/core/assert.hpp"
#include "troupe/op/families.hpp"
#include "troupe/wire/encoding.hpp"
#include "troupe/wire/ring.hpp"
#include "troupe/worker/protocol.hpp"

namespace {

using namespace troupe;
using Bytes = std::span<const std::byte>;

template <class T>
void check_error(const Result<T>& result) {
  TROUPE_ASSERT(result || result.error().kind() == ErrorKind::invalid_argument, "bad bytes are an invalid argument");
}

/// Every view of an op, checked one by one.
class ViewChecker {
 public:
  void reads(const op::View& view) { check(view); }
  void writes(const op::View& view) { check(view); }
  void updates(const op::View& view) { check(view); }
  void arguments(const std::vector<op::Argument>& arguments) {
    TROUPE_ASSERT(arguments.size() <= op::kMaxViews, "an op has a limited number of arrays");
    for (const op::Argument& argument : arguments) check(argument.view);
  }
  template <class T>
  void field(const T&) noexcept {}

  std::size_t with_elements() const noexcept { return with_elements_; }
  bool all_fit() const noexcept { return all_fit_; }

 private:
  void check(const op::View& view) {
    (void)op::is_dense(view);
    const bool overlaps = op::may_overlap_itself(view);
    const Result<op::Range> range = op::range_of(view);
    check_error(range);
    all_fit_ = all_fit_ && range.has_value();
    if (!range) return;
    TROUPE_ASSERT(range->empty() == (op::element_count(view) == 0), "a view with elements has a range");
    TROUPE_ASSERT(!(op::is_dense(view) && overlaps), "a dense view does not overlap itself");
    if (range->empty()) return;
    ++with_elements_;
    TROUPE_ASSERT(op::chunk_of(range->begin) == op::chunk_of(range->end - 1), "a range lies in one chunk");
    TROUPE_ASSERT(op::chunk_of(range->begin) < op::kMaxChunks, "a range lies in a chunk that can be");
  }

  std::size_t with_elements_ = 0;
  bool all_fit_ = true;
};

/// By bytes: an op may hold a NaN, which equals nothing.
template <class Op>
void check_round_trip(const Op& op) {
  wire::Writer out;
  op::encode(op, out);
  const Result<bool> same =
      op::decode<bool>(out.bytes(), [&]<class Again>(const op::OpHeader&, const Again& again) -> Result<bool> {
        wire::Writer twice;
        op::encode(again, twice);
        return std::ranges::equal(out.bytes(), twice.bytes());
      });
  TROUPE_ASSERT(same && *same, "a decoded op encodes to the bytes it was encoded to");
}

void decode_op(Bytes bytes) {
  check_error(op::decode<void>(bytes, []<class Op>(const op::OpHeader& header, const Op& op) -> Result<void> {
    TROUPE_ASSERT(header.kind == Op::kKind && header.version == op::kOpVersion, "the header is that of the op");
    op::Toucher toucher;
    Op::describe(op, toucher);
    (void)op::work_of(op, toucher);
    ViewChecker checker;
    Op::describe(op, checker);
    check_error(toucher.status());
    TROUPE_ASSERT(toucher.status().has_value() == checker.all_fit(), "an op is good when all its views are");
    if (toucher.status())
      TROUPE_ASSERT(toucher.touches().size() == checker.with_elements(), "a view with elements is touched");
    check_round_trip(op);
    return {};
  }));
}

/// The same behind a header that is right, so that nobody has to guess it.
void decode_op_of_kind(std::uint8_t choice, Bytes fields) {
  static const std::vector<op::Kind> kKinds = [] {
    std::vector<op::Kind> kinds;
    op::with_each_op([&]<class Op>() { kinds.push_back(Op::kKind); });
    return kinds;
  }();
  wire::Writer out;
  out.put(op::kOpVersion);
  out.put(kKinds[choice % kKinds.size()]);
  out.put_bytes(fields);
  decode_op(out.bytes());
}

void decode_messages(Bytes bytes) {
  check_error(worker::decode_to_worker(bytes));
  check_error(worker::decode_to_app(bytes));
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

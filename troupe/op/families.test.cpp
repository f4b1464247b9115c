#include "troupe/op/families.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <any>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace troupe::op {
namespace {

using Bytes = std::vector<std::byte>;

template <class Op>
Bytes encoded(const Op& op) {
  wire::Writer out;
  encode(op, out);
  return {out.bytes().begin(), out.bytes().end()};
}

/// The touches as "r", "w" (whole), "g" (written with gaps) and "u" (read and written), in order.
template <class Op>
std::string touches_of(const Op& op) {
  Toucher toucher;
  Op::describe(op, toucher);
  EXPECT_TRUE(toucher.status());
  std::string text;
  for (const Touch& touch : toucher.touches().all())
    text += touch.reads && touch.writes ? 'u' : touch.reads ? 'r' : touch.whole ? 'w' : 'g';
  return text;
}

/// Whichever op `bytes` are becomes `out`. (A Result<std::any> is more than clang can think of.)
Result<void> decode_any(std::span<const std::byte> bytes, std::any& out) {
  const Result<int> decoded =
      decode<int>(bytes, [&]<class Decoded>(const OpHeader& header, const Decoded& op) -> Result<int> {
        if (header.kind != Decoded::kKind || header.version != kOpVersion)
          return fail(ErrorKind::internal, "its header");
        out = op;
        return 1;
      });
  if (!decoded) return fail(decoded.error());
  return {};
}

/// The op of that kind that `bytes` are.
template <class Op>
Result<Op> decoded(std::span<const std::byte> bytes) {
  std::any any;
  if (Result<void> good = decode_any(bytes, any); !good) return fail(std::move(good).error());
  const Op* const op = std::any_cast<Op>(&any);
  if (!op) return fail(ErrorKind::internal, "another op");
  return *op;
}

void expect_sound(const Toucher& toucher) {
  if (!toucher.status()) {
    EXPECT_EQ(toucher.status().error().kind(), ErrorKind::invalid_argument);
    return;
  }
  for (const Touch& touch : toucher.touches().all()) {
    EXPECT_FALSE(touch.range.empty());
    EXPECT_LT(chunk_of(touch.range.begin), kMaxChunks);
    EXPECT_EQ(chunk_of(touch.range.begin), chunk_of(touch.range.end - 1));
    EXPECT_TRUE(touch.reads || touch.writes);
  }
}

/// Decodes bytes that may be anything, and does with the op what the worker's loop does. True when they were an op.
bool survives_decoding(std::span<const std::byte> bytes) {
  const Result<int> result = decode<int>(bytes, []<class Op>(const OpHeader&, const Op& op) -> Result<int> {
    Toucher toucher;
    Op::describe(op, toucher);
    (void)work_of(op, toucher);
    expect_sound(toucher);
    return 1;
  });
  if (!result) {
    EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
  }
  return result.has_value();
}

// ---- ops at random ----

class RandomOps {
 public:
  explicit RandomOps(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  View view() {
    std::vector<std::int64_t> extents(static_cast<std::size_t>(number(0, kMaxRank)));
    std::vector<std::int64_t> distances(extents.size());
    for (std::int64_t& extent : extents) extent = number(0, 3);
    for (std::int64_t& distance : distances) distance = number(-50, 50);
    return {.address = address_of(static_cast<std::uint32_t>(number(0, kMaxChunks - 1)),
                                  static_cast<std::uint64_t>(number(1 << 20, 1 << 30))),
            .dtype = static_cast<DType>(number(0, kDTypes - 1)),
            .shape = Shape(extents),
            .strides = Strides(distances)};
  }
  Scalar scalar() {
    return visit(static_cast<DType>(number(0, kDTypes - 1)), [&]<class T>(std::type_identity<T>) {
      return Scalar(convert<T>(static_cast<double>(number(-3, 3)) / 2));
    });
  }
  std::string text(std::int64_t most) {
    std::string text(static_cast<std::size_t>(number(0, most)), ' ');
    for (char& c : text) c = static_cast<char>(number(-128, 127));
    return text;
  }
  Bytes bytes(std::int64_t most) {
    Bytes bytes(static_cast<std::size_t>(number(0, most)));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(number(0, 255));
    return bytes;
  }

  template <class Op>
  Op make() {
    Op op;
    Op::describe(op, *this);
    return op;
  }

  // So that any op can be filled through its own description.
  template <std::integral T>
  void field(T& out) {
    out = static_cast<T>(number(0, std::numeric_limits<std::int32_t>::max()));
  }
  void field(double& out) { out = static_cast<double>(number(-9, 9)) / 2; }
  template <class T>
    requires std::is_enum_v<T>
  void field(T& out) {
    out = static_cast<T>(number(0, static_cast<std::int64_t>(T::kLast)));
  }
  void reads(View& out) { out = view(); }
  void writes(View& out) { out = view(); }
  void updates(View& out) { out = view(); }
  template <PlainStruct T>
  void field(T& out) {
    for (std::byte& byte : std::as_writable_bytes(std::span(&out, 1))) byte = static_cast<std::byte>(number(0, 255));
  }
  void field(View& out) { out = view(); }
  void field(Scalar& out) { out = scalar(); }
  void field(std::string& out) { out = text(60); }
  void field(Bytes& out) { out = bytes(60); }
  void arguments(std::vector<Argument>& out) {
    out.resize(static_cast<std::size_t>(number(0, 4)));
    for (Argument& argument : out) argument = {.access = static_cast<Access>(number(0, 2)), .view = view()};
  }

 private:
  std::mt19937_64 random_;
};

/// One kind of op, as values: the tests over all of them are loops then, and quick to compile.
struct OpKind {
  std::string_view name;
  Kind kind = 0;
  Bytes (*random)(RandomOps&) = nullptr;
  /// What is wrong with a random op after it was encoded and decoded; empty when nothing is.
  std::string (*round_trip)(RandomOps&) = nullptr;
};

template <class Op>
std::string round_trip(RandomOps& random) {
  const Op op = random.make<Op>();
  const Result<Op> back = decoded<Op>(encoded(op));
  if (!back) return std::string(back.error().message());
  if (*back != op) return "another value";
  if (encoded(*back) != encoded(op)) return "other bytes";
  return touches_of(*back) == touches_of(op) ? "" : "other touches";
}

std::vector<OpKind> every_op() {
  std::vector<OpKind> kinds;
  with_each_op([&]<class Op>() {
    kinds.push_back({.name = Op::kName,
                     .kind = Op::kKind,
                     .random = [](RandomOps& random) { return encoded(random.make<Op>()); },
                     .round_trip = round_trip<Op>});
  });
  return kinds;
}

// ---- tests ----

TEST(Families, every_op_comes_back_as_it_was) {
  RandomOps random(1);
  for (const OpKind& op : every_op())
    for (int round = 0; round < 500; ++round) ASSERT_EQ(op.round_trip(random), "") << op.name;
}

TEST(Families, an_op_at_its_limits_comes_back_and_fits_the_largest_record) {
  RandomOps random(2);
  PluginCall op;
  op.path.assign(kMaxTextBytes, 'p');
  op.function.assign(kMaxTextBytes, 'f');
  op.parameters.assign(kMaxParameterBytes, std::byte{1});
  op.arrays.resize(kMaxPluginArrays);
  for (Argument& argument : op.arrays)
    argument.view = View{.shape = {1, 1, 1, 1, 1, 1, 1, 1}, .strides = {1, 1, 1, 1, 1, 1, 1, 1}};
  const Result<PluginCall> back = decoded<PluginCall>(encoded(op));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, op);
  EXPECT_LE(encoded(op).size(), kMaxOpBytes);
}

TEST(Families, an_op_beyond_its_limits_is_no_op) {
  PluginCall op;
  op.path.assign(kMaxTextBytes + 1, 'p');
  EXPECT_EQ(decoded<PluginCall>(encoded(op)).error().kind(), ErrorKind::invalid_argument);
  op = {};
  op.parameters.resize(kMaxParameterBytes + 1);
  EXPECT_FALSE(decoded<PluginCall>(encoded(op)));
  op = {};
  op.arrays.resize(kMaxViews + 1);
  EXPECT_FALSE(decoded<PluginCall>(encoded(op)));
}

TEST(Families, every_truncation_is_refused) {
  RandomOps random(3);
  for (const OpKind& op : every_op()) {
    for (int round = 0; round < 5; ++round) {
      const Bytes whole = op.random(random);
      for (std::size_t size = 0; size < whole.size(); ++size) {
        // In memory of its own, so that a sanitizer sees every byte beyond.
        const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(survives_decoding(cut)) << op.name << " cut to " << size << " of " << whole.size();
      }
    }
  }
}

TEST(Families, bytes_behind_an_op_are_refused) {
  RandomOps random(4);
  for (const OpKind& op : every_op()) {
    Bytes longer = op.random(random);
    longer.push_back(std::byte{0});
    std::any any;
    EXPECT_EQ(decode_any(longer, any).error().kind(), ErrorKind::invalid_argument) << op.name;
  }
}

TEST(Families, every_corruption_of_a_byte_is_another_op_or_none) {
  RandomOps random(5);
  for (const OpKind& op : every_op()) {
    Bytes bytes = op.random(random);
    EXPECT_TRUE(survives_decoding(bytes)) << op.name;
    for (std::byte& byte : bytes) {
      const std::byte before = byte;
      for (const unsigned change : {0x01U, 0x02U, 0x04U, 0x08U, 0x10U, 0x20U, 0x40U, 0x80U, 0x7fU, 0xffU}) {
        byte = before ^ static_cast<std::byte>(change);
        survives_decoding(bytes);
      }
      byte = before;
    }
  }
}

TEST(Families, bytes_at_random_are_decoded_or_refused) {
  RandomOps random(6);
  const std::vector<OpKind> kinds = every_op();
  for (int round = 0; round < 2000; ++round) {
    Bytes bytes = random.bytes(400);
    if (bytes.size() < 4) continue;
    for (const OpKind& op : kinds) {
      wire::Writer header;
      header.put(kOpVersion);
      header.put(op.kind);
      std::ranges::copy(header.bytes(), bytes.begin());
      survives_decoding(bytes);
    }
  }
}

TEST(Families, a_record_of_another_version_says_so) {
  Bytes bytes = encoded(Nop{});
  bytes[0] = std::byte{kOpVersion + 1};
  const Result<Nop> result = decoded<Nop>(bytes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
  EXPECT_NE(result.error().message().find("version " + std::to_string(kOpVersion + 1)), std::string::npos)
      << result.error().message();
}

TEST(Families, a_kind_that_does_not_exist_is_named) {
  for (const Kind unknown : {kind(Family::control, 1), kind(Family::memory, 200), static_cast<Kind>(0xffff)}) {
    wire::Writer out;
    out.put(kOpVersion);
    out.put(unknown);
    const Result<Nop> result = decoded<Nop>(out.bytes());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
    EXPECT_NE(result.error().message().find("kind " + std::to_string(unknown)), std::string::npos);
  }
}

TEST(Families, nothing_at_all_is_no_op) {
  EXPECT_EQ(decoded<Nop>({}).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(decoded<Nop>(Bytes(3)).error().kind(), ErrorKind::invalid_argument);
}

TEST(Families, every_op_has_a_kind_and_a_name_of_its_own) {
  std::set<Kind> kinds;
  std::set<std::string> names;
  const std::vector<OpKind> every = every_op();
  for (const OpKind& op : every) {
    kinds.insert(op.kind);
    names.emplace(op.name);
    EXPECT_EQ(name_of(op.kind), op.name);
    EXPECT_LT(family_number(op.kind), kFamilies);
  }
  EXPECT_EQ(kinds.size(), every.size());
  EXPECT_EQ(names.size(), every.size());
  EXPECT_EQ(name_of(0xffff), "kind 65535");
}

// ---- what ops touch ----

View vector_at(std::uint64_t offset, std::int64_t elements = 8) {
  return {.address = address_of(1, offset), .dtype = DType::f32, .shape = {elements}, .strides = {1}};
}

TEST(Touches, are_what_each_op_reads_and_writes) {
  const View a = vector_at(0), b = vector_at(1000), c = vector_at(2000);
  EXPECT_EQ(touches_of(Nop{}), "");
  EXPECT_EQ(touches_of(Fill{.out = a, .value = {}}), "w");
  EXPECT_EQ(touches_of(Copy{.in = a, .out = b}), "rw");
  EXPECT_EQ(touches_of(Cast{.in = a, .out = b}), "rw");
  EXPECT_EQ(touches_of(Axpy{.alpha = Scalar(1.0F), .x = a, .y = b}), "ru");
  EXPECT_EQ(touches_of(Gemm{.alpha = Scalar(1.0F), .beta = Scalar(1.0F), .a = a, .b = b, .c = c}), "rru");
  EXPECT_EQ(touches_of(Gemm{.alpha = Scalar(1.0F), .beta = Scalar(0.0F), .a = a, .b = b, .c = c}), "rrw");
  PluginCall call;
  call.arrays = {{Access::read, a}, {Access::write, b}, {Access::update, c}};
  EXPECT_EQ(touches_of(call), "rwu");
}

TEST(Touches, agree_with_the_access_of_each_argument) {
  RandomOps random(7);
  for (int round = 0; round < 1000; ++round) {
    const auto call = random.make<PluginCall>();
    Toucher toucher;
    PluginCall::describe(call, toucher);
    ASSERT_TRUE(toucher.status());
    std::size_t i = 0;
    std::uint64_t elements = 0;
    for (const Argument& argument : call.arrays) {
      if (element_count(argument.view) == 0) continue;
      ASSERT_LT(i, toucher.touches().size());
      const Touch& touch = toucher.touches().all()[i++];
      EXPECT_EQ(touch.range, *range_of(argument.view));
      EXPECT_EQ(touch.reads, argument.access != Access::write);
      EXPECT_EQ(touch.writes, argument.access != Access::read);
      EXPECT_EQ(touch.whole, argument.access != Access::read && is_dense(argument.view));
      elements += static_cast<std::uint64_t>(element_count(argument.view));
    }
    EXPECT_EQ(i, toucher.touches().size());
    EXPECT_EQ(toucher.elements(), elements);
  }
}

TEST(Touches, are_none_without_elements) {
  EXPECT_EQ(touches_of(Copy{.in = vector_at(0, 0), .out = vector_at(9, 0)}), "");
}

TEST(Touches, say_when_a_write_leaves_gaps) {
  View gaps = vector_at(0);
  gaps.strides = {2};
  EXPECT_EQ(touches_of(Fill{.out = gaps, .value = {}}), "g");
}

TEST(Touches, fail_with_the_first_view_that_cannot_be) {
  const Copy copy{.in = vector_at(kMaxChunkBytes - 4), .out = vector_at(0)};
  Toucher toucher;
  Copy::describe(copy, toucher);
  EXPECT_EQ(toucher.status().error().kind(), ErrorKind::invalid_argument);
}

TEST(Touches, are_at_most_as_many_as_an_op_has_views) {
  Toucher toucher;
  for (std::size_t i = 0; i < kMaxViews; ++i) toucher.reads(vector_at(64 * i));
  EXPECT_TRUE(toucher.status());
  toucher.reads(vector_at(0));
  EXPECT_EQ(toucher.status().error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(toucher.touches().size(), kMaxViews);
}

TEST(Work, is_elements_unless_an_op_knows_better) {
  const Gemm gemm{.alpha = Scalar(1.0F),
                  .beta = Scalar(0.0F),
                  .a = {.address = 0, .dtype = DType::f32, .shape = {2, 3}, .strides = {3, 1}},
                  .b = {.address = 100, .dtype = DType::f32, .shape = {3, 5}, .strides = {5, 1}},
                  .c = {.address = 200, .dtype = DType::f32, .shape = {2, 5}, .strides = {5, 1}}};
  Toucher toucher;
  Gemm::describe(gemm, toucher);
  EXPECT_EQ(work_of(gemm, toucher), 30U);
  EXPECT_EQ(work_of(Nop{}, toucher), toucher.elements());
  EXPECT_EQ(work_of(PluginCall{}, Toucher{}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace troupe::op

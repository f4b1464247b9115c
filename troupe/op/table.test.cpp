#include "troupe/op/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "troupe/op/blas.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/fields.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/plugin.hpp"
#include "troupe/op/samples.test.hpp"
#include "troupe/op/survives.test.hpp"

namespace troupe::op {
namespace {

using Bytes = std::vector<std::byte>;

/// The touches as "r", "w" (whole), "g" (written with gaps) and "u" (read and written), in order.
std::string touches_of(const AnyOp& op) {
  Views views;
  op.info().views(op.get(), views);
  Toucher toucher;
  EXPECT_TRUE(toucher.add(views));
  std::string text;
  for (const Touch& touch : toucher.touches().all())
    text += touch.reads && touch.writes ? 'u' : touch.reads ? 'r' : touch.whole ? 'w' : 'g';
  return text;
}
template <class Op>
std::string touches_of(const Op& op) {
  return touches_of(AnyOp(op));
}

// ---- ops at random ----

class RandomFields final : public FieldSource {
 public:
  explicit RandomFields(std::uint64_t seed) : random_(seed) {}

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
    std::array<std::byte, 16> bytes{};
    const auto dtype = static_cast<DType>(number(0, kDTypes - 1));
    if (number(0, 3) != 0)
      return visit(dtype, [&]<class T>(std::type_identity<T>) {
        return Scalar(convert<T>(static_cast<double>(number(-300, 300)) / 7));
      });
    for (auto i = 0; i < size_bytes(dtype); ++i) bytes[static_cast<std::size_t>(i)] = byte();
    return Scalar::from_bytes(dtype, bytes);  // NaNs and all
  }
  std::byte byte() { return static_cast<std::byte>(number(0, 255)); }
  Bytes bytes(std::int64_t most) {
    Bytes bytes(static_cast<std::size_t>(number(0, most)));
    for (std::byte& one : bytes) one = byte();
    return bytes;
  }

  Result<FieldValue> value_of(const std::string&, const FieldValue& now) override {
    FieldValue value = now;
    std::visit([&](auto& alternative) { fill(alternative); }, value);
    return value;
  }
  AnyOp make(const OpInfo& info) {
    AnyOp op(info);
    EXPECT_TRUE(info.assign(op.get(), *this)) << info.name;
    return op;
  }

 private:
  void fill(bool& flag) { flag = number(0, 1) == 1; }
  void fill(std::int64_t& out) { out = number(-100, std::numeric_limits<std::int32_t>::max()); }
  void fill(std::uint64_t& out) { out = static_cast<std::uint64_t>(number(0, 255)); }
  void fill(double& out) { out = static_cast<double>(number(-90, 90)) / 7; }
  void fill(Choice& out) { out.number = static_cast<std::uint64_t>(number(0, std::ssize(out.names) - 1)); }
  void fill(View& out) { out = view(); }
  void fill(Scalar& out) { out = scalar(); }
  void fill(std::string& out) {
    out.clear();
    for (const std::byte one : bytes(60)) out += static_cast<char>(one);
  }
  void fill(Bytes& out) { out = bytes(60); }
  void fill(std::vector<Argument>& out) {
    out.resize(static_cast<std::size_t>(number(0, 4)));
    for (Argument& argument : out) argument = {.access = static_cast<Access>(number(0, 2)), .view = view()};
  }

  std::mt19937_64 random_;
};

std::vector<const OpInfo*> every_op() {
  std::vector<const OpInfo*> all;
  for (const FamilyOps* family : families())
    for (const OpInfo& info : family->ops) all.push_back(&info);
  return all;
}

// ---- bytes ----

TEST(OpTable, every_op_comes_back_from_its_bytes_as_it_was) {
  RandomFields random(1);
  for (const OpInfo* info : every_op())
    for (int round = 0; round < 300; ++round) {
      const AnyOp op = random.make(*info);
      AnyOp back;
      ASSERT_TRUE(back.decode(op.encoded())) << info->name;
      ASSERT_EQ(back.encoded(), op.encoded()) << info->name;
      ASSERT_EQ(difference(op, back), "") << info->name;
      ASSERT_EQ(touches_of(back), touches_of(op)) << info->name;
    }
}

TEST(OpTable, every_op_comes_back_from_its_json_as_it_was) {
  RandomFields random(8);
  for (const OpInfo* info : every_op())
    for (int round = 0; round < 100; ++round) {
      const AnyOp op = random.make(*info);
      const Result<AnyOp> back = from_json(to_json(op));
      ASSERT_TRUE(back) << back.error().to_string() << "\n" << to_json(op);
      ASSERT_EQ(back->encoded(), op.encoded()) << to_json(op) << "\n" << to_json(*back);
    }
}

TEST(OpTable, every_truncation_is_refused) {
  RandomFields random(3);
  for (const OpInfo* info : every_op())
    for (int round = 0; round < 5; ++round) {
      const Bytes whole = random.make(*info).encoded();
      for (std::size_t size = 0; size < whole.size(); ++size) {
        // In memory of its own, so that a sanitizer sees every byte beyond.
        const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        AnyOp op;
        EXPECT_FALSE(op.decode(cut)) << info->name << " cut to " << size << " of " << whole.size();
      }
    }
}

TEST(OpTable, bytes_behind_an_op_are_refused) {
  RandomFields random(4);
  for (const OpInfo* info : every_op()) {
    Bytes longer = random.make(*info).encoded();
    longer.push_back(std::byte{0});
    AnyOp op;
    EXPECT_EQ(op.decode(longer).error().kind(), ErrorKind::invalid_argument) << info->name;
    EXPECT_FALSE(op);
  }
}

TEST(OpTable, every_corruption_of_a_byte_is_another_op_or_none) {
  for (const auto& [kind, sample] : sample_ops()) {
    Bytes bytes = sample.encoded();
    EXPECT_TRUE(survives(bytes)) << sample.info().name;
    for (std::byte& byte : bytes) {
      const std::byte before = byte;
      for (const unsigned change : {0x01U, 0x02U, 0x04U, 0x08U, 0x10U, 0x20U, 0x40U, 0x80U, 0x7fU, 0xffU}) {
        byte = before ^ static_cast<std::byte>(change);
        survives(bytes);
      }
      byte = before;
    }
  }
}

TEST(OpTable, bytes_at_random_are_decoded_or_refused) {
  RandomFields random(6);
  for (int round = 0; round < 500; ++round) {
    Bytes bytes = random.bytes(400);
    if (bytes.size() < 4) continue;
    for (const OpInfo* info : every_op()) {
      wire::Writer header;
      header.put(wire::kOpVersion);
      header.put(info->kind);
      std::ranges::copy(header.bytes(), bytes.begin());
      survives(bytes);
    }
  }
}

TEST(OpTable, an_op_at_its_limits_comes_back_and_fits_the_largest_record) {
  PluginCall call;
  call.path.assign(kMaxTextBytes, 'p');
  call.function.assign(kMaxTextBytes, 'f');
  call.parameters.assign(kMaxParameterBytes, std::byte{1});
  call.arrays.resize(kMaxPluginArrays);
  for (Argument& argument : call.arrays)
    argument.view = View{.shape = {1, 1, 1, 1, 1, 1, 1, 1}, .strides = {1, 1, 1, 1, 1, 1, 1, 1}};
  const Bytes bytes = AnyOp(call).encoded();
  AnyOp back;
  ASSERT_TRUE(back.decode(bytes));
  EXPECT_EQ(*back.get_if<PluginCall>(), call);
  EXPECT_LE(bytes.size(), kMaxOpBytes);
}

TEST(OpTable, a_record_of_another_version_says_so) {
  Bytes bytes = AnyOp(Nop{}).encoded();
  bytes[0] = std::byte{wire::kOpVersion + 1};
  AnyOp op;
  const Result<void> result = op.decode(bytes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
  EXPECT_NE(result.error().message().find("version " + std::to_string(wire::kOpVersion + 1)), std::string::npos)
      << result.error().message();
}

TEST(OpTable, a_kind_that_does_not_exist_is_named) {
  for (const Kind unknown : {kind(kControlFamily, 1), kind(kMemoryFamily, 200), static_cast<Kind>(0xffff)}) {
    wire::Writer out;
    out.put(wire::kOpVersion);
    out.put(unknown);
    AnyOp op;
    const Result<void> result = op.decode(out.bytes());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
    EXPECT_NE(result.error().message().find("kind " + std::to_string(unknown)), std::string::npos);
  }
}

TEST(OpTable, nothing_at_all_is_no_op) {
  AnyOp op;
  EXPECT_EQ(op.decode({}).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(op.decode(Bytes(3)).error().kind(), ErrorKind::invalid_argument);
}

TEST(OpTable, every_op_has_a_name_of_its_own_that_begins_with_its_family) {
  std::set<std::string> names;
  int place = 0;
  for (const FamilyOps* family : families()) {
    for (const OpInfo& info : family->ops) {
      names.emplace(info.name);
      EXPECT_EQ(family_number(info.kind), place) << info.name << ": its family's number is its place in families.hpp";
      EXPECT_TRUE(info.name.starts_with(std::string(family->name) + ".")) << info.name;
      EXPECT_EQ(name_of(info.kind), info.name);
      EXPECT_EQ(find_op(info.kind), &info);
      std::set<std::string> fields;
      for (const Field& field : fields_of(AnyOp(info)))
        EXPECT_TRUE(fields.insert(field.name).second) << info.name << " has two fields " << field.name;
    }
    ++place;
  }
  EXPECT_EQ(names.size(), every_op().size());
  EXPECT_EQ(name_of(0xffff), "kind 65535");
}

TEST(OpTable, an_op_moves_from_one_place_to_another) {
  AnyOp one(PluginCall{.path = "p", .function = "f", .arrays = {}, .parameters = Bytes(100)});
  AnyOp other(std::move(one));
  EXPECT_FALSE(one);  // NOLINT(bugprone-use-after-move): that is what is asked
  ASSERT_TRUE(other);
  one = std::move(other);
  EXPECT_EQ(one.get_if<PluginCall>()->parameters.size(), 100U);
  EXPECT_EQ(one.get_if<Nop>(), nullptr);
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
  EXPECT_EQ(touches_of(Syrk{.alpha = Scalar(1.0F), .beta = Scalar(0.0F), .a = a, .b = {}, .c = c}), "rg");
  EXPECT_EQ(touches_of(Syrk{.alpha = Scalar(1.0F), .beta = Scalar(1.0F), .a = a, .b = {}, .c = c}), "ru");
}

TEST(Touches, agree_with_the_access_of_each_argument) {
  RandomFields random(7);
  for (int round = 0; round < 1000; ++round) {
    const AnyOp op = random.make(info_of<PluginCall>());
    const PluginCall& call = *op.get_if<PluginCall>();
    Views views;
    op.info().views(op.get(), views);
    Toucher toucher;
    ASSERT_TRUE(toucher.add(views));
    std::size_t i = 0;
    std::uint64_t elements = 0;
    for (const Argument& argument : call.arrays) {
      if (element_count(argument.view) == 0) continue;
      ASSERT_LT(i, toucher.touches().size());
      const Touch& touch = toucher.touches().all()[i++];
      EXPECT_EQ(touch.range, *range_of(argument.view));
      EXPECT_EQ(touch.reads, argument.access == Access::read || argument.access == Access::update);
      EXPECT_EQ(touch.writes, argument.access != Access::read);
      const bool is_whole = argument.access == Access::write || argument.access == Access::update;
      EXPECT_EQ(touch.whole, is_whole && is_dense(argument.view));
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
  Views views;
  info_of<Copy>().views(&copy, views);
  EXPECT_EQ(Toucher().add(views).error().kind(), ErrorKind::invalid_argument);
}

TEST(Touches, are_at_most_as_many_as_an_op_has_views) {
  const View view = vector_at(0);
  Views views;
  for (std::size_t i = 0; i < kMaxViews; ++i) views.add({"x", &view, Access::read});
  EXPECT_TRUE(Toucher().add(views));
  views.add({"x", &view, Access::read});
  Toucher toucher;
  EXPECT_EQ(toucher.add(views).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(toucher.touches().size(), kMaxViews);
}

TEST(Work, is_elements_unless_an_op_knows_better) {
  const Gemm gemm{.alpha = Scalar(1.0F),
                  .beta = Scalar(0.0F),
                  .a = {.address = 0, .dtype = DType::f32, .shape = {2, 3}, .strides = {3, 1}},
                  .b = {.address = 100, .dtype = DType::f32, .shape = {3, 5}, .strides = {5, 1}},
                  .c = {.address = 200, .dtype = DType::f32, .shape = {2, 5}, .strides = {5, 1}}};
  const auto work = []<class Op>(const Op& op) { return info_of<Op>().work(&op, 7); };
  EXPECT_EQ(work(gemm), 30U);
  EXPECT_EQ(work(Nop{}), 7U);
  EXPECT_EQ(work(PluginCall{}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace troupe::op

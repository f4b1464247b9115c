#include "troupe/op/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "troupe/op/jit.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/samples.test.hpp"
#include "troupe/op/survives.test.hpp"

namespace troupe::op {
namespace {

using Bytes = std::vector<std::byte>;

TEST(OpChecks, let_a_good_op_of_every_kind_pass) {
  const std::map<Kind, AnyOp> samples = sample_ops();
  for (const FamilyOps* family : families())
    for (const OpInfo& row : family->ops) {
      const OpInfo* const info = &row;
      const auto found = samples.find(info->kind);
      ASSERT_NE(found, samples.end()) << info->name << " needs a sample in add_" << family->name << "_samples";
      Views views;
      info->views(found->second.get(), views);
      Toucher toucher;
      const Result<void> good = examine(*info, found->second.get(), views, toucher);
      EXPECT_TRUE(good) << info->name << ": " << good.error().to_string();
    }
}

/// Gives each field the value that it has, but one.
class OneOther final : public FieldSource {
 public:
  OneOther(const AnyOp& op, std::string name, FieldValue value) : name_(std::move(name)), value_(std::move(value)) {
    for (Field& field : fields_of(op)) fields_.push_back(std::move(field));
  }
  Result<FieldValue> value_of(const std::string& name, const FieldValue& now) override {
    if (name == name_) return value_;
    for (const Field& field : fields_)
      if (field.name == name) return field.value;
    return now;  // one that it has only now
  }

 private:
  std::string name_;
  FieldValue value_;
  std::vector<Field> fields_;
};

/// Whether the op may run once that field has that value, by way of its bytes.
bool runs_with(const AnyOp& op, const std::string& name, FieldValue value) {
  AnyOp changed(op.info());
  OneOther source(op, name, std::move(value));
  if (!op.info().assign(changed.get(), source)) return false;
  return survives(changed.encoded());
}

/// Values that no field of that type can have.
std::vector<FieldValue> impossible(const Field& field) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (const View* view = std::get_if<View>(&field.value)) {
    View negative = *view, outside = *view, wrapped = *view;
    negative.shape = Shape{-1};
    negative.strides = Strides{1};
    outside.address = address_of(kMaxChunks - 1, kMaxChunkBytes - 1);
    wrapped.shape = Shape{1LL << 40, 1LL << 40};
    wrapped.strides = Strides{1LL << 40, 1};
    return {negative, outside, wrapped};
  }
  if (std::holds_alternative<Scalar>(field.value)) return {Scalar(std::complex<double>(nan, 0)), Scalar(nan)};
  if (std::holds_alternative<double>(field.value)) return {nan};
  if (std::holds_alternative<std::int64_t>(field.value)) return {std::int64_t{-1}, std::int64_t{1} << 62};
  if (std::holds_alternative<std::uint64_t>(field.value)) return {std::uint64_t{255}};
  if (std::holds_alternative<std::string>(field.value)) return {std::string(), std::string(kMaxTextBytes + 1, 'x')};
  if (std::holds_alternative<Bytes>(field.value)) return {Bytes(kMaxParameterBytes + 1)};
  if (std::holds_alternative<std::vector<Argument>>(field.value)) return {std::vector<Argument>(kMaxViews + 1)};
  if (const Choice* choice = std::get_if<Choice>(&field.value)) return {Choice{choice->names.size(), choice->names}};
  return {};
}

/// Fields for which every value of their type is one they can have.
bool can_be_anything(const OpInfo& info, const std::string& field) {
  static const std::set<std::string> kAnything = {"memory.fill value",
                                                  "tensor.binary factor_1",
                                                  "dnn.adjust_loss_scale interval",
                                                  "dnn.attention window",
                                                  "dnn.attention_gradient window",
                                                  "dnn.cross_entropy ignored",
                                                  "dnn.cross_entropy_gradient ignored",
                                                  "dnn.embedding_gradient padding",
                                                  "dnn.optimizer_step step",
                                                  "dnn.paged_attention window",
                                                  "dnn.rotary first",
                                                  "jit.launch plan.program",
                                                  "jit.launch plan.address",
                                                  "jit.launch plan.size_bytes",
                                                  "jit.launch plan.shared_bytes",
                                                  "jit.launch plan.blocks_x",
                                                  "jit.launch plan.blocks_y",
                                                  "jit.launch plan.blocks_z",
                                                  "jit.launch plan.threads_x",
                                                  "jit.set program",
                                                  "jit.set address",
                                                  "jit.set size_bytes"};
  const bool is_source = field == "stream" || field == "seed" || field == "position";
  const bool draws =
      info.name.starts_with("random.") || info.name.starts_with("dnn.attention") || info.name == "dnn.dropout";
  if (is_source && draws) return true;
  return field.ends_with(".structure") || kAnything.contains(std::string(info.name) + " " + field);
}

TEST(OpChecks, refuse_every_field_that_is_what_it_cannot_be) {
  for (const auto& [kind, sample] : sample_ops())
    for (const Field& field : fields_of(sample)) {
      if (can_be_anything(sample.info(), field.name)) continue;
      for (const FieldValue& value : impossible(field))
        EXPECT_FALSE(runs_with(sample, field.name, value)) << describe(sample) << " with another " << field.name;
    }
}

TEST(OpChecks, refuse_a_launch_of_no_blocks) {
  const AnyOp launch = std::move(sample_ops().at(Launch::kKind));
  for (const char* axis : {"plan.blocks_x", "plan.blocks_y", "plan.blocks_z", "plan.threads_x"})
    EXPECT_FALSE(runs_with(launch, axis, std::uint64_t{0})) << axis;
}

TEST(OpChecks, refuse_a_view_of_another_rank_or_type) {
  const std::set<std::string> of_any_shape{"memory.fill", "memory.ready", "blas.scal"};
  const std::set<std::string> of_any_type{"memory.fill", "memory.ready", "memory.cast"};
  const std::set<std::string> promoted{"tensor.ternary in_1", "tensor.ternary in_2"};  // to the type of the others
  const std::set<std::string> of_a_type_of_its_own{"primitives.arg_reduce x", "primitives.argsort keys",
                                                   "primitives.histogram x"};
  for (const auto& [kind, sample] : sample_ops())
    for (const Field& field : fields_of(sample)) {
      const View* const view = std::get_if<View>(&field.value);
      if (!view) continue;
      const std::string name(sample.info().name);
      View longer = *view;
      longer.shape = Shape{1, 1, 1, 1, 1, 1, 1, 1};
      longer.strides = contiguous_strides(longer.shape);
      const bool may_be_long = of_any_shape.contains(name) || (name == "blas.measure") ||
                               (name == "blas.dot" && field.name == "out") ||
                               (name.starts_with("random.") && field.name == "out") ||
                               (name.starts_with("primitives.histogram") && field.name == "x");
      EXPECT_FALSE(!may_be_long && runs_with(sample, field.name, longer)) << name << " " << field.name;
      View other = *view;
      other.dtype = view->dtype == DType::u8 ? DType::i8 : DType::u8;
      const std::string view_name = name + " " + field.name;
      const bool may_be_other =
          of_any_type.contains(name) || promoted.contains(view_name) || of_a_type_of_its_own.contains(view_name);
      EXPECT_FALSE(!may_be_other && runs_with(sample, field.name, other)) << name << " " << field.name;
    }
}

/// Where the bytes of two ops differ first.
std::size_t first_difference(const Bytes& a, const Bytes& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

TEST(OpChecks, refuse_a_byte_that_is_no_flag_and_no_choice) {
  int tried = 0;
  for (const auto& [kind, sample] : sample_ops())
    for (const Field& field : fields_of(sample)) {
      FieldValue other;
      std::size_t values = 2;
      if (const bool* flag = std::get_if<bool>(&field.value)) {
        other = !*flag;
      } else if (const Choice* choice = std::get_if<Choice>(&field.value)) {
        values = choice->names.size();
        if (values == 1) continue;  // there is no other
        other = Choice{(choice->number + 1) % values, choice->names};
      } else {
        continue;
      }
      AnyOp changed(sample.info());
      OneOther source(sample, field.name, other);
      ASSERT_TRUE(sample.info().assign(changed.get(), source));
      Bytes bytes = sample.encoded();
      const std::size_t where = first_difference(bytes, changed.encoded());
      ASSERT_LT(where, bytes.size());
      for (const std::size_t bad : {values, std::size_t{255}}) {
        bytes[where] = static_cast<std::byte>(bad);
        AnyOp op;
        EXPECT_FALSE(op.decode(bytes)) << sample.info().name << " " << field.name;
      }
      ++tried;
    }
  EXPECT_GT(tried, 40);
}

TEST(OpChecks, refuse_writes_that_overlap) {
  Places at;
  const View a = at({4});
  const AnyOp copy(Copy{.in = a, .out = a});
  EXPECT_FALSE(survives(copy.encoded()));
  View repeated = at({4});
  repeated.strides = Strides{0};
  EXPECT_FALSE(survives(AnyOp(Fill{.out = repeated, .value = Scalar(1.0)}).encoded()));
  EXPECT_TRUE(survives(AnyOp(Copy{.in = repeated, .out = at({4})}).encoded()));
  View even = at({4});
  even.strides = Strides{2};
  View odd = even;
  odd.address += 4;
  EXPECT_TRUE(survives(AnyOp(Copy{.in = even, .out = odd}).encoded()));
  odd.address += 4;
  EXPECT_FALSE(survives(AnyOp(Copy{.in = even, .out = odd}).encoded()));
}

}  // namespace
}  // namespace troupe::op

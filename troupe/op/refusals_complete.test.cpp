// Refusals that have no op to check (records, JSON, engines), and whether the table of refusals.test.cpp has all
// others: ops are changed in many ways, and what is said of them must stand in it.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "troupe/core/sanitized.hpp"
#include "troupe/op/contraction_plan.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/fields.hpp"
#include "troupe/op/refusals.test.hpp"
#include "troupe/op/samples.test.hpp"

namespace troupe::op {
namespace {

using enum DType;
using Complex = std::complex<double>;

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

// ---- what is refused before there is an op to check ----

template <class T>
std::string text_of(const Result<T>& result) {
  return result ? "(it is not refused)" : std::string(result.error().message());
}

std::string decoded(const std::vector<std::byte>& bytes) {
  AnyOp op;
  return text_of(op.decode(bytes));
}

TEST(Refusals, of_records_say_what_is_wrong_with_the_bytes) {
  const std::vector<std::byte> good = AnyOp(Nop{}).encoded();
  std::vector<std::byte> of_another_version = good, of_another_kind = good, longer = good;
  of_another_version[0] = std::byte{99};
  of_another_kind[2] = std::byte{200};
  longer.push_back({});
  EXPECT_EQ(decoded({}), "the record is too short to be an op");
  EXPECT_EQ(decoded(of_another_version),
            "the record has op version 99; it must have version " + std::to_string(wire::kOpVersion));
  EXPECT_EQ(decoded(of_another_kind), "the record has kind 200; there is no such op");
  EXPECT_EQ(decoded(longer),
            "the record of control.nop is corrupt: it ends early or late, or a field has no valid value");
}

TEST(Refusals, of_json_say_which_field_is_wrong) {
  const auto read = [](const char* json) { return text_of(from_json(json)); };
  EXPECT_EQ(read("{"), "this is not JSON from byte 1 on");
  EXPECT_EQ(read("{}"), "the field \"op\" is missing");
  EXPECT_EQ(read(R"({"op": "memory.melt"})"), "there is no op \"memory.melt\"");
  EXPECT_EQ(read(R"({"op": "memory.ready"})"), "memory.ready: the field \"in\" is missing");
  EXPECT_EQ(read(R"({"op": "memory.ready", "in": 3})"),
            "memory.ready: the field \"in\" cannot have the value that is given");
  EXPECT_EQ(read(R"({"op": "control.nop", "x": 3})"), "control.nop has no field \"x\"");
}

TEST(Refusals, of_an_engine_say_which_one_to_take) {
  const Contract op = *sample_ops().at(Contract::kKind).get_if<Contract>();
  const auto plan = [&](TensorEngine engine, const ContractionRates& rates) {
    return text_of(plan_contraction(axes_of(op), f32, engine, rates));
  };
  EXPECT_EQ(plan(TensorEngine::cutensor, kHostRates),
            "einsum: the engine cutensor needs a GPU; use automatic, gemm or loops");
  ContractionRates poor = kGpuRates;
  poor.max_scratch_bytes = 0;
  Contract strided = op;
  strided.a.strides = Strides{30, 7};  // neither of them is 1, so it would have to be packed
  EXPECT_EQ(text_of(plan_contraction(axes_of(strided), f32, TensorEngine::gemm, poor)),
            "einsum: the engine gemm needs more than 0 bytes of scratch memory here; use automatic or loops");
}

// ---- whether the table has them all ----

/// The sentence without what differs from op to op: the call, the names of arrays and factors, types and numbers.
std::string normalised(std::string text) {
  static const std::pair<std::regex, const char*> kSteps[] = {
      {std::regex("^[a-z_0-9]+( gradient)?"), "CALL"},
      {std::regex("engine is [a-z0-9_]+"), "engine is ENGINE"},
      {std::regex("\\[[^\\]]*\\]"), "[]"},
      {std::regex("\\b(f8e4m3|f8e5m2|f16|bf16|f32|f64|c64|c128|i8|i16|i32|i64|u8|u16|u32|u64|bool)\\b"), "TYPE"},
      {std::regex("TYPE(, TYPE)*( or TYPE)?"), "TYPE"},
      {std::regex("[-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?([-+][0-9.]+(e[-+]?[0-9]+)?i)?"), "#"},
      {std::regex("\\b(CSR|CSC|COO|BSR)\\b"), "FORMAT"},
      {std::regex("\\b(relu|gelu_tanh)\\b"), "ACTIVATION"},
      {std::regex("\\bbit_(and|or|xor)\\b"), "FUNCTION"},
      {std::regex("the (sum|product|min|max|FUNCTION) of\\b"), "the FUNCTION of"},
      {std::regex("the result|\\b(in_0|in_1|in_2|numbers)\\b"), "NAME"},
      {std::regex(
           "\\b([abcdlqrsuvwxy]|vt|lu|x|y|in|out|from|to|preactivation|bias|bias_gradient|dense|pivots|verdict|total|"
           "alpha|beta|gamma|sine|cosine|scale_d|arrays|matrices|values|indices|offsets|row_indices|"
           "column_indices|d[xyw]|d?scale|d?shift|(running_)?(mean|variance)|addend|epsilon|momentum|"
           "(to|from|matrix)\\.[a-z]+|sums|keys|sorted|moved|best|flags|counts?|lengths|places|bounds)"
           "\\b'?"),
       "NAME"},
      {std::regex(
           "\\b(d?w_ih|d?w_hh|d?b_ih|d?b_hh|d?weights|d?start|d?end|gradients|array|matrix) #|\\b(d?[hc](#|_n)|kept)"),
       "NAME"},
      {std::regex("\\b(dx|dy|dk|dq|dv|k|dloss|dlogits|logits|target|weights?|loss|table|dtable|measure|loss_scale|next|"
                  "mask|positions|key_cache|value_cache|query_offsets|key_offsets)\\b"),
       "NAME"},
      {std::regex("\\b(value|first|second|master|gradient) #"), "NAME"},
      {std::regex(
           "NAME#|\\b(delta|label_smoothing|rate|dampening|weight_decay|max_norm|growth|backoff|probability|base)\\b"),
       "NAME"},
      {std::regex("NAME\\.NAME"), "NAME"},
  };
  for (const auto& [what, by] : kSteps) text = std::regex_replace(text, what, by);
  return text;
}

/// Gives each field the value that it has, but those that are named.
class Changed final : public FieldSource {
 public:
  Changed(const AnyOp& op, std::map<std::string, FieldValue> changes) : values_(std::move(changes)) {
    for (Field& field : fields_of(op)) values_.emplace(field.name, std::move(field.value));
  }
  Result<FieldValue> value_of(const std::string& name, const FieldValue& now) override {
    const auto found = values_.find(name);
    return found == values_.end() ? now : found->second;
  }

 private:
  std::map<std::string, FieldValue> values_;
};

/// Values that a field might have by mistake.
std::vector<FieldValue> mistakes(const Field& field) {
  std::vector<FieldValue> all;
  if (const View* view = std::get_if<View>(&field.value)) {
    for (const DType dtype : {f64, f16, c64, i8, i32, i64, boolean}) {
      View other = *view;
      other.dtype = dtype;
      all.emplace_back(other);
    }
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{2}, Shape{5}, Shape{4, 2}, Shape{3, 3}, Shape{2, 0},
                               Shape{5, 2, 3}, Shape{2, 3, 3}, Shape{2, 3, 5}, Shape{1, 1, 1, 1}}) {
      View other = *view;
      reshape(other, shape);
      all.emplace_back(other);
    }
    View strided = *view;
    for (int i = 0; i < strided.strides.rank(); ++i) strided.strides[i] *= 2;
    all.emplace_back(strided);
  } else if (std::holds_alternative<Scalar>(field.value)) {
    all = {Scalar(kNaN), Scalar(Complex(0, 1)), Scalar(0.5), Scalar(0.0)};
  } else if (std::holds_alternative<double>(field.value)) {
    all = {kNaN, kInfinity, 0.0, 2.0};
  } else if (std::holds_alternative<std::int64_t>(field.value)) {
    for (const std::int64_t number : {-1LL, 0LL, 2LL, 3LL, 5000LL, 1LL << 40}) all.emplace_back(number);
  } else if (std::holds_alternative<std::uint64_t>(field.value)) {
    for (const std::uint64_t number : {0ULL, 1ULL, 3ULL, 7ULL, 255ULL, 65536ULL}) all.emplace_back(number);
  } else if (const bool* flag = std::get_if<bool>(&field.value)) {
    all.emplace_back(!*flag);
  } else if (const Choice* choice = std::get_if<Choice>(&field.value)) {
    for (std::size_t i = 0; i < choice->names.size(); ++i) all.emplace_back(Choice{i, choice->names});
  } else if (std::holds_alternative<std::string>(field.value)) {
    all = {std::string(), std::string(5000, 'x')};
  } else if (std::holds_alternative<std::vector<std::byte>>(field.value)) {
    for (const std::size_t count : {0, 1, 70, 5000}) all.emplace_back(std::vector<std::byte>(count));
  } else if (const auto* arguments = std::get_if<std::vector<Argument>>(&field.value)) {
    for (const std::size_t count : {0, 2, 6, 20, 70, 198})
      all.emplace_back(std::vector<Argument>(count, arguments->front()));
  }
  return all;
}

TEST(Refusals, stand_all_in_the_table) {
  std::set<std::string> known;
  for (const Refusal& row : refusals()) known.insert(normalised(row.text));
  std::mt19937_64 random(1);
  std::set<std::string> seen, told;
  const auto look = [&](const AnyOp& sample, std::map<std::string, FieldValue> changes) {
    AnyOp changed(sample.info());
    Changed source(sample, std::move(changes));
    if (!sample.info().assign(changed.get(), source)) return;
    const Error refused = refusal_of(changed);
    if (refused.kind() == ErrorKind::internal || !seen.insert(std::string(refused.message())).second) return;
    const std::string sentence = normalised(std::string(refused.message()));
    EXPECT_TRUE(known.contains(sentence) || !told.insert(sentence).second)
        << "no row has this refusal: " << refused.message() << "\n  which is: " << sentence;
  };
  for (const auto& [kind, op] : sample_ops()) {
    std::vector<std::pair<std::string, FieldValue>> wrong;
    std::map<DType, std::map<std::string, FieldValue>> retyped;
    for (const Field& field : fields_of(op)) {
      for (FieldValue& value : mistakes(field)) wrong.emplace_back(field.name, std::move(value));
      if (const View* view = std::get_if<View>(&field.value))
        for (const DType dtype : {f64, f16, f8e4m3, c64, i8, i32, boolean}) {
          View other = *view;
          other.dtype = dtype;
          retyped[dtype].emplace(field.name, other);
        }
    }
    for (const auto& [name, value] : wrong) look(op, {{name, value}});
    for (const auto& [dtype, changes] : retyped) look(op, changes);
    const int mixtures = kSanitized ? 50 : 500;
    for (int i = 0; i < mixtures && !wrong.empty(); ++i) {
      std::map<std::string, FieldValue> several;
      for (int changes = 0; changes < 3; ++changes) several.insert(wrong[random() % wrong.size()]);
      look(op, several);
      for (auto& [dtype, changes] : retyped) {
        std::map<std::string, FieldValue> all = several;
        all.insert(changes.begin(), changes.end());
        if (i % 5 == 0) look(op, all);
      }
    }
  }
  EXPECT_GT(seen.size(), 1000) << "what is changed must be refused in many ways";
}

}  // namespace
}  // namespace troupe::op

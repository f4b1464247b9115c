#include "troupe/backend/cuda/tensor/expression_source.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "troupe/backend/cuda/tensor/expression_arguments.hpp"
#include "troupe/core/assert.hpp"

namespace troupe::cuda {
namespace {

using op::Step;

constexpr std::size_t kOut = op::kMaxExpressionInputs;

const char* type_text(DType dtype) {
  constexpr std::array<const char*, kDTypes> kTexts{
      "double",         "float",          "troupe::f16",         "troupe::bf16",
      "troupe::f8e4m3", "troupe::f8e5m2", "std::int8_t",         "std::uint8_t",
      "std::int16_t",   "std::int32_t",   "std::uint32_t",       "std::int64_t",
      "std::uint64_t",  "bool",           "std::complex<float>", "std::complex<double>",
      "std::uint16_t"};
  return kTexts[static_cast<std::size_t>(dtype)];
}

std::string function_text(const Step& step) {
  if (step.arity == 1) return "Unary::" + std::string(name(static_cast<Unary>(step.function)));
  if (step.arity == 2) return "Binary::" + std::string(name(static_cast<Binary>(step.function)));
  return "Ternary::" + std::string(name(static_cast<Ternary>(step.function)));
}

std::string operand_text(op::Operand operand) {
  const std::string index = std::to_string(operand.index());
  switch (operand.from()) {
    case op::Operand::From::input: return "x" + index;
    case op::Operand::From::number: return "number_of<C>(m, " + index + ")";
    case op::Operand::From::step: break;
  }
  return "s" + index;
}

/// s2 = tanh(s1), and so on. What comes after the last step may be a sum, too.
std::string steps_text(const op::ExpressionProgram& program, bool rounds_last) {
  std::string text;
  const std::size_t count = program.step_count();
  for (std::size_t i = 0; i < count; ++i) {
    const Step step = program.step(i);
    std::string applied = "tensor::apply<" + function_text(step) + ">(";
    for (std::size_t j = 0; j < step.arity; ++j) applied += (j == 0 ? "" : ", ") + operand_text(step.operands[j]);
    text += "    const C s" + std::to_string(i) + " = " +
            (i + 1 < count || rounds_last ? "rounded(" + applied + "), m.zero)" : applied + ")") + ";\n";
  }
  return text;
}

}  // namespace

int items_of(const op::Evaluate& op) noexcept {
  std::int64_t largest = size_bytes(op.out.dtype);
  for (const op::Argument& input : op.inputs) largest = std::max(largest, size_bytes(input.view.dtype));
  constexpr int kMost = 8;  // numbers of each input at a time: more take too many registers
  return std::min(static_cast<int>(16 / largest), kMost);
}

ExpressionLayout layout_of(const op::Evaluate& op, const GroupAxes<kOut + 1>& axes) noexcept {
  if (axes.rows.rank != 0 || axes.groups > kMostDivided || axes.ways[kOut] != Way::whole) return {};
  ExpressionLayout layout{.is_plain = true, .single = 0};
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (axes.ways[i] == Way::single)
      layout.single |= 1U << i;
    else if (axes.ways[i] != Way::whole)
      return {};
  }
  return layout;
}

void ExpressionKey::add_program(const op::ExpressionProgram& program) noexcept {
  TROUPE_ASSERT(program.steps.size() <= op::kMaxExpressionSteps * sizeof(Step) && program.inputs.size() <= kOut,
                "checked with the op");
  bytes_[size_++] = static_cast<char>(program.inputs.size());
  for (const op::Argument& input : program.inputs) bytes_[size_++] = static_cast<char>(input.view.dtype);
  std::memcpy(bytes_ + size_, program.steps.data(), program.steps.size());
  size_ += program.steps.size();
}

ExpressionKey::ExpressionKey(const op::Evaluate& op, const ExpressionLayout& layout) noexcept {
  bytes_[size_++] = layout.is_plain ? 'p' : 's';
  bytes_[size_++] = static_cast<char>(layout.single);
  bytes_[size_++] = static_cast<char>(op.out.dtype);
  add_program(op);
}

ExpressionKey::ExpressionKey(const op::EvaluateReduce& op, bool by_columns) noexcept {
  bytes_[size_++] = by_columns ? 'c' : 'r';
  bytes_[size_++] = static_cast<char>(reduced_by(op.function));
  bytes_[size_++] = static_cast<char>(op.computed_in());
  add_program(op);
}

std::string source_of(const op::Evaluate& op, const ExpressionLayout& layout) {
  const std::string items = std::to_string(items_of(op));
  std::string loads, numbers;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const std::string index = std::to_string(i);
    const std::string type = type_text(op.inputs[i].view.dtype);
    if ((layout.single >> i & 1) != 0) {
      loads += "  const C x" + index + " = converted<C>(*static_cast<const " + type + "*>(m.in[" + index + "]));\n";
    } else {
      loads += "  const auto in" + index + " = group.load<" + type + ">(m, " + index + ");\n";
      numbers += "    const C x" + index + " = converted<C>(in" + index + ".items[i]);\n";
    }
  }
  return "#include \"troupe/backend/cuda/tensor/expression_thread.cuh\"\n"
         "using namespace troupe;\n"
         "using namespace troupe::cuda;\n"
         "using C = " +
         std::string(type_text(op.computed_in())) +
         ";\n"
         "using Out = " +
         type_text(op.out.dtype) +
         ";\n"
         "extern \"C\" __global__ void __launch_bounds__(kGroupThreads)\n"
         "    " +
         kExpressionKernel +
         "(const __grid_constant__ CompiledArguments m) {\n"
         "  const auto group = " +
         (layout.is_plain ? "Plain" : "Strided") + "Group<" + items +
         ">::of_thread(m);\n"
         "  if (group.items <= 0) return;\n" +
         loads + "  Group<Out, " + items +
         "> out;\n"
         "#pragma unroll\n"
         "  for (int i = 0; i < " +
         items + "; ++i) {\n" + numbers + steps_text(op, false) + "    out.items[i] = written<Out>(s" +
         std::to_string(op.step_count() - 1) +
         ");\n"
         "  }\n"
         "  group.store(m, out);\n"
         "}\n";
}

std::string source_of(const op::EvaluateReduce& op, bool by_columns) {
  const std::string items = std::to_string(reduced_items(static_cast<int>(size_bytes(op.computed_in()))));
  std::string loads, numbers;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const std::string index = std::to_string(i);
    loads += "    C in" + index + "[" + items + "];\n    load_numbers<C, " + type_text(op.inputs[i].view.dtype) +
             ">(m, " + index + ", at, strides, items, in" + index + ");\n";
    numbers += "      const C x" + index + " = in" + index + "[i];\n";
  }
  return "#include \"troupe/backend/cuda/tensor/expression_reduce.cuh\"\n"
         "using namespace troupe;\n"
         "using namespace troupe::cuda;\n"
         "using C = " +
         std::string(type_text(op.computed_in())) +
         ";\n"
         "struct Source {\n"
         "  using Number = C;\n"
         "  __device__ static void load(const ExpressionReduceArguments& m, const InputPlaces& at,\n"
         "                              const long long* strides, int items, C (&out)[" +
         items + "]) {\n" + loads +
         "#pragma unroll\n"
         "    for (int i = 0; i < " +
         items + "; ++i) {\n" + numbers + steps_text(op, true) + "      out[i] = s" +
         std::to_string(op.step_count() - 1) +
         ";\n"
         "    }\n"
         "  }\n"
         "};\n"
         "using Reduce = ExpressionReduce<Reduction::" +
         std::string(name(reduced_by(op.function))) +
         ", Source>;\n"
         "extern \"C\" __global__ void __launch_bounds__(kReduceThreads)\n"
         "    " +
         kExpressionKernel +
         "(const __grid_constant__ ExpressionReduceArguments m) {\n"
         "  __shared__ Bytes16 memory[Reduce::kMemory];\n"
         "  Reduce::" +
         (by_columns ? "columns" : "rows") +
         "(m, memory);\n"
         "}\n";
}

}  // namespace troupe::cuda

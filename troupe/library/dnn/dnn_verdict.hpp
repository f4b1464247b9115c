// What the numbers in a verdict of the dnn family (op/dnn_finding.hpp) mean, in a sentence that names the place; and
// calls of ops that write one.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "troupe/device/make_call.hpp"
#include "troupe/op/dnn_finding.hpp"

namespace troupe::inline v0 {

/// `invalid_argument` unless the words say that all is well. The sentence begins with the name of the call.
Result<void> judge_dnn(std::string_view call, std::span<const std::int32_t> words);

using DnnJudge = Result<void> (*)(std::span<const std::int32_t>);
/// Of an op that has one name for users.
template <class Op>
Result<void> judge_dnn_op(std::span<const std::int32_t> words) {
  return judge_dnn(op::info_of<Op>().call(), words);
}

/// A call of an op whose last array is a verdict.
template <class Op>
Call<void> make_dnn_call(const Device& device, Op op, std::span<const AnyArray* const> arrays,
                         DnnJudge judge = judge_dnn_op<Op>) {
  Result<HostArray<std::int32_t>> verdict = device.host_array<std::int32_t>({op::kDnnVerdictWords});
  if (!verdict) return fail(std::move(verdict).error());
  op.verdict = verdict->view();
  std::array<const AnyArray*, 16> few{};
  std::vector<const AnyArray*> many;  // lists of users may be of any length
  if (arrays.size() >= few.size()) many.resize(arrays.size() + 1);
  const std::span all = many.empty() ? std::span(few).first(arrays.size() + 1) : std::span(many);
  std::ranges::copy(arrays, all.begin());
  all.back() = &*verdict;
  return make_judged_call<void>(device, {}, op, std::span<const AnyArray* const>(all), *verdict, judge);
}
template <class Op>
Call<void> make_dnn_call(const Device& device, const Op& op, std::initializer_list<const AnyArray*> arrays,
                         DnnJudge judge = judge_dnn_op<Op>) {
  return make_dnn_call(device, op, std::span<const AnyArray* const>(arrays.begin(), arrays.size()), judge);
}

}  // namespace troupe::inline v0

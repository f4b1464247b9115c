#include "troupe/library/random/random.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/op/random.hpp"

namespace troupe::inline v0 {
namespace {

op::RandomSource source_of(const Generator& generator) noexcept {
  return {.engine = generator.engine(),
          .stream = generator.stream(),
          .seed = generator.seed(),
          .position = generator.position(),
          .dimensions = generator.dimensions()};
}

/// A call of the op; the generator moves on by `count` unless the op is refused.
template <class Op>
Call<void> draw(const Device& device, Generator& generator, std::int64_t count, const Op& op,
                std::initializer_list<const AnyArray*> arrays) {
  Result<detail::IntrusivePtr<detail::OpCall>> call = DeviceParts::make_op_call(
      device, op::info_of<Op>(), &op, std::span<const AnyArray* const>(arrays.begin(), arrays.size()));
  if (!call) return fail(std::move(call).error());
  generator = generator.at(generator.position() + static_cast<std::uint64_t>(count));
  return {DeviceParts::state(device), std::move(*call), {}};
}

template <op::Distribution distribution>
Call<void> fill(const Device& device, Generator& generator, const AnyArray& out, double first, double second = 0) {
  const op::RandomFill<distribution> op{
      .source = source_of(generator), .first = first, .second = second, .out = out.view()};
  return draw(device, generator, out.element_count(), op, {&out});
}

op::Scalar scalar_of(detail::WholeNumber number) noexcept {
  return number.is_unsigned ? op::Scalar(number.bits) : op::Scalar(static_cast<std::int64_t>(number.bits));
}

}  // namespace

Random Device::random() const { return Random(*this); }

Call<void> Random::bits(Generator& generator, const AnyArray& out) const {
  const op::RandomBits op{.source = source_of(generator), .out = out.view()};
  return draw(device_, generator, out.element_count(), op, {&out});
}
Call<void> Random::integers(Generator& generator, const AnyArray& out, detail::WholeNumber low,
                            detail::WholeNumber high) const {
  const op::RandomIntegers op{
      .source = source_of(generator), .low = scalar_of(low), .high = scalar_of(high), .out = out.view()};
  return draw(device_, generator, out.element_count(), op, {&out});
}
Call<void> Random::discrete(Generator& generator, const AnyArray& table, const AnyArray& out) const {
  const op::RandomDiscrete op{.source = source_of(generator), .table = table.view(), .out = out.view()};
  return draw(device_, generator, out.element_count(), op, {&table, &out});
}
Call<void> Random::permutation(Generator& generator, const AnyArray& out) const {
  const op::RandomPermutation op{.source = source_of(generator), .out = out.view()};
  return draw(device_, generator, 1, op, {&out});
}

Call<void> Random::uniform(Generator& generator, const AnyArray& out, double low, double high) const {
  return fill<op::Distribution::uniform>(device_, generator, out, low, high);
}
Call<void> Random::normal(Generator& generator, const AnyArray& out, double mean, double stddev) const {
  return fill<op::Distribution::normal>(device_, generator, out, mean, stddev);
}
Call<void> Random::log_normal(Generator& generator, const AnyArray& out, double mean, double stddev) const {
  return fill<op::Distribution::log_normal>(device_, generator, out, mean, stddev);
}
Call<void> Random::exponential(Generator& generator, const AnyArray& out, double rate) const {
  return fill<op::Distribution::exponential>(device_, generator, out, rate);
}
Call<void> Random::cauchy(Generator& generator, const AnyArray& out, double location, double scale) const {
  return fill<op::Distribution::cauchy>(device_, generator, out, location, scale);
}
Call<void> Random::gamma(Generator& generator, const AnyArray& out, double shape, double scale) const {
  return fill<op::Distribution::gamma>(device_, generator, out, shape, scale);
}
Call<void> Random::beta(Generator& generator, const AnyArray& out, double a, double b) const {
  return fill<op::Distribution::beta>(device_, generator, out, a, b);
}
Call<void> Random::bernoulli(Generator& generator, const AnyArray& out, double probability) const {
  return fill<op::Distribution::bernoulli>(device_, generator, out, probability);
}
Call<void> Random::poisson(Generator& generator, const AnyArray& out, double rate) const {
  return fill<op::Distribution::poisson>(device_, generator, out, rate);
}

}  // namespace troupe::inline v0

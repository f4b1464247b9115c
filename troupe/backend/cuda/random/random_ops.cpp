#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/backend/cuda/random/random_engines.hpp"
#include "troupe/backend/cuda/random/random_groups.hpp"
#include "troupe/backend/cuda/random/random_kernels.hpp"
#include "troupe/op/random.hpp"

namespace troupe::cuda {
namespace {

/// Launches the kernel for so many groups at a time as bits of an engine without a counter are made.
template <class Numbers>
Result<void> launch_with_bits(CUfunction kernel, RandomTarget target, const op::RandomSource& source, int in_group,
                              Numbers of, const LaneTools& on) {
  const random::Space space = in_group == kWordGroup ? random::kWords : random::kNumbers;
  const long long groups = target.groups;
  const std::int64_t at_once = std::min<std::int64_t>(groups, EngineBits::positions_at_once(space) / in_group);
  if (groups == 0) return {};
  const EngineBits bits = TROUPE_TRY(EngineBits::create(source, space, at_once * in_group, on));
  target.bits = bits.bits();
  std::array<void*, 2> arguments{&target, &of};
  for (target.first_group = 0; target.first_group < groups; target.first_group += at_once) {
    target.groups = std::min<std::int64_t>(at_once, groups - target.first_group);
    const std::uint64_t position = number_in_all(target, 0, in_group) * static_cast<std::uint64_t>(in_group);
    TROUPE_TRY(bits.make(position, target.groups * in_group));
    TROUPE_TRY(on.launch(kernel, target.groups, arguments));
  }
  return {};
}

/// Launches a kernel whose threads take `in_group` positions each.
template <class Numbers>
Result<void> launch(RandomKernel name, DType dtype, const op::RandomSource& source, const op::View& out, int in_group,
                    Numbers of, const LaneTools& on) {
  RandomTarget target{.source = random::source_of(source),
                      .position = source.position,
                      .first_group = 0,
                      .groups = 0,
                      .bits = nullptr,
                      .out = on.data(out),
                      .is_aligned = false,
                      .layout = layout_of(out, nullptr)};
  // Where the whole group would begin that the first position is in.
  const auto bytes = static_cast<std::uint64_t>(size_bytes(out.dtype));
  const std::uint64_t group_at = on.at(out) - source.position % static_cast<std::uint64_t>(in_group) * bytes;
  target.is_aligned = target.layout.rank == 0 && group_at % (bytes * static_cast<std::uint64_t>(in_group)) == 0;
  target.groups = groups_of(source.position, target.layout.count, in_group);
  const CUfunction kernel = TROUPE_TRY(on.kernel(name, dtype));
  if (!target.source.is_by_counter) return launch_with_bits(kernel, target, source, in_group, of, on);
  std::array<void*, 2> arguments{&target, &of};  // in the order of the kernel's parameters
  return on.launch(kernel, target.groups, arguments);
}

/// How many positions a thread takes of distributions over floating-point types.
int group_of(const op::View& out) noexcept { return out.dtype == DType::f64 ? kNumberGroup : kWordGroup; }

template <op::Distribution distribution>
Result<void> launch_two(RandomKernel kernel, const op::RandomFill<distribution>& op, int in_group,
                        const LaneTools& on) {
  return launch(kernel, op.out.dtype, op.source, op.out, in_group, TwoNumbers{op.first, op.second}, on);
}

}  // namespace

Result<void> run_op(const op::RandomBits& op, const LaneTools& on) {
  const int in_group = op.out.dtype == DType::u64 ? kNumberGroup : kWordGroup;
  return launch(RandomKernel::bits, op.out.dtype, op.source, op.out, in_group, NoNumbers{}, on);
}

Result<void> run_op(const op::RandomIntegers& op, const LaneTools& on) {
  const IntegerNumbers of{op.low_bits(), op.range()};
  if (random::is_wide(of.range))
    return launch(RandomKernel::wide_integers, op.out.dtype, op.source, op.out, kNumberGroup, of, on);
  return launch(RandomKernel::integers, op.out.dtype, op.source, op.out, kWordGroup, of, on);
}

Result<void> run_op(const op::RandomDiscrete& op, const LaneTools& on) {
  const TableNumbers of{on.data<const unsigned long long>(op.table), op.table.shape[0], op.table.strides[0],
                        op.table.strides[1]};
  return launch(RandomKernel::discrete, op.out.dtype, op.source, op.out, 1, of, on);
}

Result<void> run_op(const op::RandomPermutation& op, const LaneTools& on) {
  if (op.out.shape[0] == 0) return {};
  const random::Permutation of(random::own_source_at(op.source, op.source.position), op.source.position,
                               static_cast<std::uint64_t>(op.out.shape[0]));
  // All that is random of it are its keys, which are made: its elements need no bits.
  return launch(RandomKernel::permutation, op.out.dtype, op::RandomSource{}, op.out, 1, of, on);
}

Result<void> run_op(const op::RandomUniform& op, const LaneTools& on) {
  const op::UniformNumbers numbers = op::uniform_numbers(op.first, op.second, op.out.dtype);
  const int bits = op::uniform_bits(op.out.dtype);
  const double step = std::ldexp(1.0, -bits);
  const UniformArguments of{.low = numbers.low,
                            .width = numbers.width,
                            .top = numbers.top,
                            .step = step,
                            .shift = 32 - bits,
                            .is_unit = numbers.low == 0 && numbers.width == 1 && 1 - step <= numbers.top};
  return launch(RandomKernel::uniform, op.out.dtype, op.source, op.out, group_of(op.out), of, on);
}
Result<void> run_op(const op::RandomNormal& op, const LaneTools& on) {
  const RandomKernel kernel = op::has_points(op.source.engine) ? RandomKernel::point_normal : RandomKernel::normal;
  return launch_two(kernel, op, group_of(op.out), on);
}
Result<void> run_op(const op::RandomLogNormal& op, const LaneTools& on) {
  const RandomKernel kernel =
      op::has_points(op.source.engine) ? RandomKernel::point_log_normal : RandomKernel::log_normal;
  return launch_two(kernel, op, group_of(op.out), on);
}
Result<void> run_op(const op::RandomExponential& op, const LaneTools& on) {
  return launch_two(RandomKernel::exponential, op, group_of(op.out), on);
}
Result<void> run_op(const op::RandomCauchy& op, const LaneTools& on) {
  return launch_two(RandomKernel::cauchy, op, group_of(op.out), on);
}
Result<void> run_op(const op::RandomGamma& op, const LaneTools& on) {
  return launch_two(RandomKernel::gamma, op, 1, on);
}
Result<void> run_op(const op::RandomBeta& op, const LaneTools& on) { return launch_two(RandomKernel::beta, op, 1, on); }

Result<void> run_op(const op::RandomBernoulli& op, const LaneTools& on) {
  const random::Chance of = random::chance_of(op.first);
  return launch(RandomKernel::bernoulli, DType::u8, op.source, op.out, kWordGroup, of, on);  // a bool is a byte, too
}
Result<void> run_op(const op::RandomPoisson& op, const LaneTools& on) {
  return launch(RandomKernel::poisson, op.out.dtype, op.source, op.out, 1, random::poisson_numbers(op.first), on);
}

void add_random(RunTable& table) { table.add(op::RandomOps{}); }

}  // namespace troupe::cuda

#endif

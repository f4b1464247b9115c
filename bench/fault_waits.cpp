#include "bench/fault_waits.hpp"

#include <algorithm>
#include <vector>

#include "bench/doomed.hpp"

namespace troupe::bench::ours {
namespace {

constexpr std::int64_t kRows = 256;
constexpr int kGemmsBefore = 10;

/// Two matrices that become each other times a third one, in turn. All elements of the third are such that a matrix of
/// ones becomes a matrix of ones.
struct Matrices {
  explicit Matrices(const Device& of) : device(of), factor(filled(1.0F / kRows)), even(filled(1)), odd(filled(1)) {
    for (int i = 0; i < kGemmsBefore; ++i) value(multiply(i).get());
  }

  Call<void> multiply(int turn) const {
    return turn % 2 == 0 ? device.blas().gemm(factor, even, odd) : device.blas().gemm(factor, odd, even);
  }
  void expect_ones() const {
    for (const Array<float>& matrix : {even, odd}) {
      const HostArray<float> content = value(device.read(matrix).wait_at_most(kPatience).get());
      if (!std::ranges::all_of(content, [](float element) { return element == 1.0F; }))
        throw std::runtime_error("the product is wrong");
    }
  }

  const Device device;
  const Array<float> factor, even, odd;

 private:
  Array<float> filled(float with) const {
    Array<float> array = value(device.array<float>({kRows, kRows}));
    value(device.fill(array, with).get());
    return array;
  }
};

/// What is seen of a chain: when each of its ops has ended. All of it in one actor.
struct Observer {
  Device device;
  int kill_after;  // so many ends
  std::vector<Clock::time_point> ends = {};

  void one_has_ended() {
    ends.push_back(Clock::now());
    if (std::cmp_equal(ends.size(), kill_after)) device.kill_worker();
  }
  double longest_gap_ms() const {
    double longest = 0;
    for (std::size_t i = 1; i < ends.size(); ++i) longest = std::max(longest, ms_between(ends[i - 1], ends[i]));
    return longest;
  }
};

Task<Result<void>> observed(Call<void> call, Observer* observer) {
  CO_TRY(co_await std::move(call));
  observer->one_has_ended();
  co_return {};
}

Task<Result<void>> chain(const Matrices* matrices, int count, Observer* observer) {
  std::vector<Task<Result<void>>> tasks;
  for (int i = 0; i < count; ++i) tasks.push_back(observed(matrices->multiply(i), observer));
  for (Result<void>& end : co_await when_all(std::move(tasks))) CO_TRY(std::move(end));
  co_return {};
}

void expect_one_lost(const Doomed& doomed) {
  if (const std::int64_t generation = doomed.device.generation(); generation != 2)
    throw std::runtime_error("one worker should be lost, and this is generation " + std::to_string(generation));
}

}  // namespace

double gemm_after_kill_ms(const std::string& device) {
  const Doomed doomed(device);
  const Matrices matrices(doomed.device);
  doomed.wait_until_all_rest();
  const Clock::time_point begin = Clock::now();
  doomed.device.kill_worker();
  do value(matrices.multiply(0).wait_at_most(kPatience).get());
  while (doomed.device.generation() == 1);  // a kill takes a moment
  const double ms = ms_since(begin);
  matrices.expect_ones();
  return ms;
}

double chain_gap_ms(const std::string& device, int count) {
  Doomed doomed(device);
  const Matrices matrices(doomed.device);
  doomed.wait_until_all_rest();
  Observer observer{.device = doomed.device, .kill_after = count / 4};
  value(doomed.system.run(chain(&matrices, count, &observer)));
  expect_one_lost(doomed);
  matrices.expect_ones();
  return observer.longest_gap_ms();
}

double awaited_fault_ms(const std::string& device) {
  const Doomed doomed(device);
  doomed.wait_until_all_rest();
  const Clock::time_point begin = Clock::now();
  const Result<void> end = doomed.fault(writes(doomed.lost)).wait_at_most(kPatience).get();
  const double ms = ms_since(begin);
  expect_error(end, doomed.fault_kind());
  return ms;
}

double queued_behind_fault_ms(const std::string& device) {
  const Doomed doomed(device);
  doomed.wait_until_all_rest();
  value(doomed.fault(writes(doomed.lost)).submit());
  const Clock::time_point begin = Clock::now();
  value(doomed.copy().wait_at_most(kPatience).get());
  return ms_since(begin);
}

double awaited_hang_ms(const std::string& device) {
  const Doomed doomed(device);
  doomed.wait_until_all_rest();
  const Clock::time_point deadline = Clock::now() + kDeadline;
  const Result<void> end = doomed.hang().deadline(kDeadline).wait_at_most(kPatience).get();
  const double ms = ms_since(deadline);
  expect_error(end, ErrorKind::deadline_exceeded);
  return ms;
}

double queued_behind_hang_ms(const std::string& device) {
  const Doomed doomed(device);
  doomed.wait_until_all_rest();
  const Clock::time_point deadline = Clock::now() + kDeadline;
  value(doomed.hang().deadline(kDeadline).submit());
  value(doomed.copy().wait_at_most(kPatience).get());
  return ms_since(deadline);
}

}  // namespace troupe::bench::ours

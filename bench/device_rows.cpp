#include "bench/device_rows.hpp"

#include <memory>

#include "bench/device_ours.hpp"
#include "bench/direct_linear.hpp"
#include "bench/direct_reference.hpp"
#include "bench/eigen_reference.hpp"
#include "bench/fault_wait_rows.hpp"
#include "bench/fault_waits.hpp"
#include "bench/linear_ours.hpp"
#include "bench/process_reference.hpp"
#include "bench/scope_cost.hpp"

namespace troupe::bench {
namespace {

constexpr int kRoundTrips = 50'000;
constexpr int kPipelined = 1'000'000;
constexpr int kSubmitted = 20'000;
constexpr int kPerceptronSteps = 200;
constexpr int kAllocations = 200'000;
constexpr int kGemmSize = 1024;
constexpr double kGemmOps = 2.0 * kGemmSize * kGemmSize * kGemmSize;
constexpr int kGemms = 20;
constexpr std::size_t kTransferBytes = std::size_t{256} << 20;
constexpr int kTransfers = 5;
constexpr int kCrashes = 9;
constexpr double kIdleSeconds = 2;

Measurement scaled(double factor, Measurement measure) {
  return [factor, measure = std::move(measure)] { return factor * measure(); };
}
References one(std::string name, Measurement measure) {
  return {.all = {{std::move(name), std::move(measure)}}, .why_none = {}};
}

std::vector<Row> hop_rows(const Options& options) {
  const int trips = options.count(kRoundTrips);
  const int pipelined = options.count(kPipelined);
  return {
      {.name = "no-op to a worker process and back",
       .unit = "ns",
       .ours = [=] { return ours::nop_ns(trips); },
       .references = one("two processes, a word there and back", [=] { return ping_pong_ns(trips); }),
       .limit = Limit::at_least_times(0.125),
       .rounds = options.rounds()},
      {.name = "no-ops pipelined, each answered",
       .unit = "M/s",
       .better = Better::higher,
       .ours = scaled(1e-6, [=] { return ours::nops_per_s(pipelined); }),
       .references = one("two processes, a bare ring", scaled(1e-6, [=] { return ring_records_per_s(pipelined); })),
       .limit = Limit::at_least_times(0.1),
       .rounds = options.rounds()},
  };
}

Row deadline_row(const Options& options) {
  const int count = options.count(kSubmitted);
  const auto cost = std::make_shared<Pair>([=] { return ours::deadline_cost_ns(count); });  // by both sides
  return {
      .name = "fills submitted, a deadline for each",
      .unit = "ns",
      .ours = [=] { return cost->first(); },
      .references = {.all = {{"the same without", [=] { return cost->second(); }, /*is_ours=*/true}}, .why_none = {}},
      .limit = Limit::at_most_times(1.02),
      .rounds = options.rounds(9)};
}

std::vector<Row> scope_rows(const Options& options) {
  const int count = options.count(kSubmitted), steps = options.count(kPerceptronSteps);
  const auto cost = std::make_shared<Pair>([=] { return scope_cost_ns(count); });  // by both sides
  const auto step = std::make_shared<Pair>([=] { return perceptron_step_ns(steps); });
  return {
      {.name = "fills in a scope, each",
       .unit = "ns",
       .ours = [=] { return cost->first(); },
       .references = {.all = {{"submitted alone", [=] { return cost->second(); }, /*is_ours=*/true}}, .why_none = {}},
       .limit = Limit::printed(),
       .rounds = options.rounds()},
      {.name = "step of a perceptron in a scope",
       .unit = "us",
       .ours = scaled(1e-3, [=] { return step->first(); }),
       .references = {.all = {{"the same ops, arrays given", scaled(1e-3, [=] { return step->second(); }),
                               /*is_ours=*/true},
                              {"a plain loop of one thread",
                               scaled(1e-3, [=] { return perceptron_in_a_loop_ns(steps); })}},
                      .why_none = {}},
       .limit = Limit::printed(),
       .rounds = options.rounds()},
  };
}

std::vector<Row> memory_rows(const Options& options) {
  const int allocations = options.count(kAllocations);
  const int transfers = options.count(kTransfers);
  const auto transfer = [&](const char* name, double (*measure)(std::size_t, int)) -> Row {
    return {.name = name,
            .unit = "GB/s",
            .better = Better::higher,
            .ours = scaled(1e-9, [=] { return measure(kTransferBytes, transfers); }),
            .references = one("memcpy", scaled(1e-9, [=] { return memcpy_bytes_per_s(kTransferBytes, transfers); })),
            .limit = Limit::at_least_times(0.9),
            .rounds = options.rounds()};
  };
  return {
      {.name = "allocate and free an array",
       .unit = "ns",
       .ours = [=] { return ours::allocate_and_free_ns(allocations); },
       .references = one("malloc and free", [=] { return malloc_and_free_ns(allocations); }),
       .limit = Limit::at_least_times(0.1),
       .rounds = options.rounds()},
      {.name = "system calls per allocate and free",
       .unit = "calls",
       .ours = [=] { return ours::system_calls_per_allocate_and_free(allocations); },
       .limit = Limit::at_most(0),
       .rounds = options.rounds(3),
       .pick = Pick::worst},
      transfer("256 MiB written from a HostArray", ours::write_bytes_per_s),
      transfer("256 MiB read into a HostArray", ours::read_bytes_per_s),
  };
}

Row gemm_row(const Options& options) {
  const int gemms = options.count(kGemms);
  return {.name = "gemm 1024 f32 through a worker",
          .unit = "GFLOP/s",
          .better = Better::higher,
          .ours = scaled(1e-9, [=] { return ours::gemm_flops(kGemmSize, gemms); }),
          .references = one("OpenBLAS in this process", [=] { return kGemmOps / direct_gemm_ns(kGemmSize, gemms); }),
          .limit = Limit::at_least_times(0.95),
          .rounds = options.rounds()};
}

/// Ops that take over a millisecond: what our side adds does not show.
Row long_row(const Options& options, const char* name, std::function<double(LinearOurs&)> ours, References references,
             Limit limit = Limit::at_most_times(1.05)) {
  return {.name = name,
          .unit = "ms",
          .ours = scaled(1e-6,
                         [ours = std::move(ours)] {
                           LinearOurs on("host");
                           return ours(on);
                         }),
          .references = std::move(references),
          .limit = limit,
          .rounds = options.rounds()};
}

std::vector<Row> linear_rows(const Options& options) {
  const int count = options.count(20);
  const auto direct = [](const char* name, Measurement ns) { return one(name, scaled(1e-6, std::move(ns))); };
  return {
      long_row(
          options, "LU f32 1024 through a worker, in columns",
          [=](LinearOurs& on) { return on.lu_ns(1024, count, LinearOurs::Layout::in_columns); },
          direct("sgetrf in this process", [=] { return direct_lu_ns(1024, count); })),
      long_row(
          options, "the same in rows, which are turned twice", [=](LinearOurs& on) { return on.lu_ns(1024, count); },
          direct("sgetrf in this process", [=] { return direct_lu_ns(1024, count); }), Limit::printed()),
      long_row(
          options, "Cholesky f32 1024 through a worker", [=](LinearOurs& on) { return on.cholesky_ns(1024, count); },
          direct("spotrf in this process", [=] { return direct_cholesky_ns(1024, count); })),
      long_row(
          options, "SVD f32 512 through a worker", [=](LinearOurs& on) { return on.svd_ns(512, count); },
          direct("sgesdd in this process", [=] { return direct_svd_ns(512, count); })),
      long_row(
          options, "einsum abcd,cdef->abef f32, 28 each", [=](LinearOurs& on) { return on.einsum_ns(28, count); },
          direct("sgemm 784 in this process", [=] { return direct_gemm_ns(28 * 28, count); })),
  };
}

std::vector<Row> sparse_rows(const Options& options) {
  constexpr int kRows = 200'000;
  constexpr int kColumns = 32;
  const int count = options.count(20);
  const auto eigen = [](Measurement ns) { return one("Eigen in this process", scaled(1e-6, std::move(ns))); };
  References multiplied = eigen([=] { return eigen_multiply_ns(kRows, 1, count); });
  multiplied.all.push_back(
      {"a plain loop in this process", scaled(1e-6, [=] { return direct_sparse_multiply_ns(kRows, count); })});
  constexpr int kSide = 1000;
  References solved = eigen([=] { return eigen_cg_round_ns(kSide, options.count(5)); });
  solved.all.push_back({"ops of a scope", scaled(1e-6, [=] {
                          LinearOurs on("host");
                          return on.cg_round_by_scope_ns(kSide, options.count(5));
                        })});
  return {
      long_row(
          options, "SpMV f32, 2 million elements",
          [=](LinearOurs& on) { return on.sparse_multiply_ns(1, count, kRows); }, std::move(multiplied)),
      long_row(
          options, "SpMM f32, the same times 32 columns",
          [=](LinearOurs& on) { return on.sparse_multiply_ns(kColumns, count, kRows); },
          eigen([=] { return eigen_multiply_ns(kRows, kColumns, count); })),
      long_row(
          options, "SpSV f32, its lower triangle", [=](LinearOurs& on) { return on.sparse_solve_ns(kRows, 1, count); },
          eigen([=] { return eigen_solve_ns(kRows, 1, count); })),
      long_row(
          options, "SpSM f32, the same for 32 columns",
          [=](LinearOurs& on) { return on.sparse_solve_ns(kRows, kColumns, count); },
          eigen([=] { return eigen_solve_ns(kRows, kColumns, count); })),
      long_row(
          options, "SDDMM f32, 2 million dots of 64",
          [=](LinearOurs& on) { return on.sparse_sample_ns(kRows, 2 * kColumns, count); },
          eigen([=] { return eigen_sample_ns(kRows, 2 * kColumns, count); })),
      long_row(
          options, "SpGEMM f32, 200 thousand elements, squared",
          [=](LinearOurs& on) { return on.sparse_product_ns(kRows / 10, count); },
          eigen([=] { return eigen_product_ns(kRows / 10, count); })),
      long_row(
          options, "CG f64, a round on a million unknowns",
          [=](LinearOurs& on) { return on.cg_round_ns(kSide, options.count(5)); }, std::move(solved)),
  };
}

Row idle_row(const Options& options) {
  const double seconds = options.quick ? kIdleSeconds / 4 : kIdleSeconds;
  return {.name = "an idle system with a device and a standby",
          .unit = "%",
          .ours = [=] { return ours::idle_percent(seconds); },
          .limit = Limit::below(1),
          .rounds = options.rounds(3)};
}

/// Every round is one crash of a new device's worker.
std::vector<Row> crash_rows(const Options& options) {
  std::vector<Row> rows = fault_wait_rows(options, "host", kCrashes, {.gemm_after_kill = Limit::below(5)});
  rows.push_back({.name = "hung op: deadline to its caller's error",
                  .unit = "ms",
                  .ours = [] { return ours::awaited_hang_ms("host"); },
                  .limit = Limit::printed(),
                  .rounds = options.rounds(kCrashes),
                  .shows_worst = true});
  rows.push_back({.name = "worker crash to next op, without a standby",
                  .unit = "ms",
                  .ours = [] { return ours::crash_to_next_op_ms(); },
                  .limit = Limit::below(150),
                  .rounds = options.rounds(kCrashes),
                  .shows_worst = true});
  return rows;
}

}  // namespace

std::vector<Row> device_rows(const Options& options) {
  std::vector<Row> rows = hop_rows(options);
  rows.push_back(deadline_row(options));
  for (Row& row : scope_rows(options)) rows.push_back(std::move(row));
  for (Row& row : memory_rows(options)) rows.push_back(std::move(row));
  rows.push_back(gemm_row(options));
  for (Row& row : linear_rows(options)) rows.push_back(std::move(row));
  for (Row& row : sparse_rows(options)) rows.push_back(std::move(row));
  rows.push_back(idle_row(options));
  for (Row& row : crash_rows(options)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace troupe::bench

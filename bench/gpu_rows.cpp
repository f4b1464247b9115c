#include "bench/gpu_rows.hpp"

#if !TROUPE_CUDA_BACKEND

namespace troupe::bench {

std::vector<Row> gpu_rows(const Options&) { return {}; }
Result<void> check_gpu() {
  return fail(ErrorKind::unsupported, "--gpu: this program was built without the CUDA toolkit");
}

}  // namespace troupe::bench

#else

#include <memory>
#include <optional>
#include <utility>

#include "bench/einsum_rows.hpp"
#include "bench/fault_wait_rows.hpp"
#include "bench/gpu_crashes.hpp"
#include "bench/pair.hpp"
#include "bench/raw_fault.hpp"
#include "bench/shared_gpu.hpp"
#include "bench/worker_processes.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {
namespace {

constexpr int kRoundTrips = 10'000;
constexpr int kPipelined = 20'480;
constexpr int kSubmitted = 20'000;
constexpr int kSmallGemms = 5'000;
constexpr int kPipelinedGemms = 2'048;
constexpr int kLargeGemms = 8;
constexpr int kSteps = 200;
constexpr int kAllocations = 50'000;
constexpr std::size_t kAllocationBytes = std::size_t{1} << 20;
constexpr std::size_t kLargeCopyBytes = std::size_t{256} << 20;
constexpr std::size_t kSmallCopyBytes = std::size_t{4} << 10;
constexpr int kLargeCopies = 10;
constexpr int kSmallCopies = 5'000;
constexpr int kCrashes = 5;
constexpr int kFewCrashes = 3;
constexpr double kIdleSeconds = 2;

constexpr double kUs = 1e-3;  // of a nanosecond

References one(std::string name, Measurement measure) {
  return {.all = {{std::move(name), std::move(measure)}}, .why_none = {}};
}

/// The same beside PyTorch, which is there to compare with: raw CUDA is what the limit is about.
References with_torch(References references, std::string name, Measurement measure) {
  references.all.push_back({std::move(name), std::move(measure)});
  return references;
}

// ---- the hop ----

std::vector<Row> launch_rows(const SharedGpu& gpu, const Options& options) {
  const int trips = options.count(kRoundTrips);
  const int pipelined = options.count(kPipelined);
  const auto raw_trip = [=] { return kUs * gpu->raw().empty_ns(trips); };
  const auto from_one_thread = [=] { return kUs * gpu->ours().empty_pipelined_ns(pipelined, 1); };
  return {
      {.name = "empty kernel, a plain thread waits",
       .unit = "us",
       .ours = [=] { return kUs * gpu->ours().empty_ns(trips); },
       .references = one("raw: launch, flag, spin", raw_trip),
       .limit = Limit::at_most_times(1.15),
       .rounds = options.rounds(9)},
      {.name = "no kernel: a flag alone, a plain thread waits",
       .unit = "us",
       .ours = [=] { return kUs * gpu->ours().nop_ns(trips); },
       .references = one("raw: flag, spin", [=] { return kUs * gpu->raw().flag_ns(trips); }),
       .limit = Limit::printed(),
       .rounds = options.rounds(5)},
      {.name = "empty kernel, a coroutine awaits",
       .unit = "us",
       .ours = [=] { return kUs * gpu->ours().empty_awaited_ns(trips); },
       .references = one("raw: launch, flag, spin", raw_trip),
       .limit = Limit::at_most_over(3),
       .rounds = options.rounds(9)},
      {.name = "empty kernels pipelined, each answered",
       .unit = "us",
       .ours = from_one_thread,
       .references = one("raw: a flag for each", [=] { return kUs * gpu->raw().empty_pipelined_ns(pipelined); }),
       .limit = Limit::at_most_times(1.10),
       .rounds = options.rounds(9)},
      {.name = "the same from four threads at once",
       .unit = "us",
       .ours = [=] { return kUs * gpu->ours_with_threads().empty_pipelined_ns(pipelined, kThreads); },
       .references = {.all = {{"ours from one thread", from_one_thread, /*is_ours=*/true}}, .why_none = {}},
       .limit = Limit::at_most_times(1.05),  // no slower; the rest is for what rounds differ by
       .rounds = options.rounds(9)},
  };
}

Row deadline_row(const SharedGpu& gpu, const Options& options) {
  const int count = options.count(kSubmitted);
  const auto cost = std::make_shared<Pair>([=] { return gpu->ours().deadline_cost_ns(count); });  // by both sides
  return {.name = "empty kernels submitted, a deadline for each",
          .unit = "us",
          .ours = [=] { return kUs * cost->first(); },
          .references = {.all = {{"the same without", [=] { return kUs * cost->second(); }, /*is_ours=*/true}},
                         .why_none = {}},
          .limit = Limit::at_most_times(1.02),
          .rounds = options.rounds(9)};
}

/// Completion by a host function, to compare with: no limit.
Row host_function_row(const SharedGpu& gpu, const Options& options) {
  const int trips = options.count(kRoundTrips / 4);
  return {.name = "empty kernel, ended by a host function",
          .unit = "us",
          .ours = [=] { return kUs * gpu->ours_by_host_function().empty_ns(trips); },
          .references = one("raw: launch, host function, spin",
                            [=] { return kUs * gpu->raw().empty_with_host_function_ns(trips); }),
          .limit = Limit::printed(),
          .rounds = options.rounds(5)};
}

// ---- matrices ----

std::vector<Row> gemm_rows(const SharedGpu& gpu, const Options& options) {
  const int small = options.count(kSmallGemms);
  const int pipelined = options.count(kPipelinedGemms);
  const int large = options.count(kLargeGemms);
  return {
      {.name = "sgemm 64, there and back",
       .unit = "us",
       .ours = [=] { return kUs * gpu->ours().gemm_ns(64, small); },
       .references =
           with_torch(one("raw: cublasSgemm, flag, spin", [=] { return kUs * gpu->raw().gemm_ns(64, small); }),
                      "PyTorch's torch.mm", [=] { return kUs * gpu->torch().gemm_ns(64, small); }),
       .limit = Limit::at_most_times(1.15),
       .rounds = options.rounds(9)},
      {.name = "sgemm 1024, there and back",
       .unit = "us",
       .ours = [=] { return kUs * gpu->ours().gemm_ns(1024, pipelined); },
       .references = one("raw: cublasSgemm, flag, spin", [=] { return kUs * gpu->raw().gemm_ns(1024, pipelined); }),
       .limit = Limit::at_most_times(1.15),
       .rounds = options.rounds(9)},
      {.name = "sgemm 1024 pipelined, each answered",
       .unit = "us",
       .ours = [=] { return kUs * gpu->ours().gemm_pipelined_ns(1024, pipelined); },
       .references = one("raw: cublasSgemm, a flag for each",
                         [=] { return kUs * gpu->raw().gemm_pipelined_ns(1024, pipelined); }),
       .limit = Limit::at_most_times(1.03),
       .rounds = options.rounds(9)},
      {.name = "sgemm 8192",
       .unit = "us",
       .ours = [=] { return kUs * gpu->ours().gemm_ns(8192, large); },
       .references = one("raw: cublasSgemm, flag, spin", [=] { return kUs * gpu->raw().gemm_ns(8192, large); }),
       .limit = Limit::at_most_times(1.01),
       .rounds = options.rounds(9)},
  };
}

// ---- linear algebra: a small op there and back, or one that keeps the GPU busy for over 100 us ----

constexpr double kSmall = 1.15;
constexpr double kBusy = 1.03;

std::vector<Row> product_rows(const SharedGpu& gpu, const Options& options) {
  const auto gemm = [&](DType dtype, int n, int count, double times) -> Row {
    const int of = options.count(count);
    return {.name = "gemm " + std::string(name(dtype)) + " " + std::to_string(n),
            .unit = "us",
            .ours = [=] { return kUs * gpu->linear().gemm_ns(dtype, n, of); },
            .references =
                one("raw: cublasGemmEx, flag, spin", [=] { return kUs * gpu->raw_linear().gemm_ns(dtype, n, of); }),
            .limit = Limit::at_most_times(times),
            .rounds = options.rounds(times == kSmall ? 9 : 5)};
  };
  const auto layer = [&](DType dtype) -> Row {
    const int of = options.count(kLargeGemms);
    return {.name = "matmul " + std::string(name(dtype)) + " 8192, bias and gelu",
            .unit = "us",
            .ours = [=] { return kUs * gpu->linear().layer_ns(dtype, 8192, of); },
            .references = one("raw: cublasLtMatmul, flag, spin",
                              [=] { return kUs * gpu->raw_linear().layer_ns(dtype, 8192, of); }),
            .limit = Limit::at_most_times(kBusy),
            .rounds = options.rounds(5)};
  };
  const int batches = options.count(kPipelinedGemms);
  return {
      gemm(DType::f16, 64, kSmallGemms, kSmall),
      gemm(DType::f16, 1024, kPipelinedGemms, kSmall),
      gemm(DType::f16, 8192, kLargeGemms, kBusy),
      gemm(DType::bf16, 64, kSmallGemms, kSmall),
      gemm(DType::bf16, 1024, kPipelinedGemms, kSmall),
      gemm(DType::bf16, 8192, kLargeGemms, kBusy),
      {.name = "gemm f32, a batch of 512 of 128",
       .unit = "us",
       .ours = [=] { return kUs * gpu->linear().batched_gemm_ns(512, 128, batches); },
       .references = one("raw: cublasSgemmStridedBatched, flag, spin",
                         [=] { return kUs * gpu->raw_linear().batched_gemm_ns(512, 128, batches); }),
       .limit = Limit::at_most_times(kSmall),
       .rounds = options.rounds(5)},
      layer(DType::bf16),
      layer(DType::f8e4m3),
  };
}

std::vector<Row> solver_rows(const SharedGpu& gpu, const Options& options) {
  const auto row = [&](std::string name, std::string raw_name, auto ours, auto raw,
                       Limit limit = Limit::at_most_times(kBusy)) -> Row {
    return {.name = std::move(name),
            .unit = "us",
            .ours = [=] { return kUs * ours(gpu->linear()); },
            .references = one(std::move(raw_name), [=] { return kUs * raw(gpu->raw_linear()); }),
            .limit = limit,
            .rounds = options.rounds(5)};
  };
  const int count = options.count(10);
  return {
      row(
          "LU f32 4096", "raw: a copy, cusolverDnXgetrf", [=](LinearOurs& on) { return on.lu_ns(4096, count); },
          [=](RawLinear& on) { return on.lu_ns(4096, count); }),
      row(
          "Cholesky f32 4096, in columns", "raw: a copy, cusolverDnXpotrf",
          [=](LinearOurs& on) { return on.cholesky_ns(4096, count, LinearOurs::Layout::in_columns); },
          [=](RawLinear& on) { return on.cholesky_ns(4096, count); }),
      row(
          "the same in rows, which are turned twice", "raw: a copy, cusolverDnXpotrf of columns",
          [=](LinearOurs& on) { return on.cholesky_ns(4096, count); },
          [=](RawLinear& on) { return on.cholesky_ns(4096, count); }, Limit::printed()),
      row(
          "SVD f32 1024", "raw: a copy, cusolverDnXgesvd", [=](LinearOurs& on) { return on.svd_ns(1024, 3); },
          [=](RawLinear& on) { return on.svd_ns(1024, 3); }),
      row(
          "QR f32, a batch of 512 of 64", "raw: a copy, cublasSgeqrfBatched, cusolverDnSorgqr of each",
          [=](LinearOurs& on) { return on.batched_qr_ns(512, 64, count); },
          [=](RawLinear& on) { return on.batched_qr_ns(512, 64, count); }),
  };
}

/// A matrix with 10 million elements, ten in each row, and a triangle with about a million.
std::vector<Row> sparse_rows(const SharedGpu& gpu, const Options& options) {
  constexpr int kTriangleRows = 200'000;
  const int count = options.count(200);
  const auto row = [&](std::string name, std::string raw_name, int columns, double times) -> Row {
    return {.name = std::move(name),
            .unit = "us",
            .ours = [=] { return kUs * gpu->linear().sparse_multiply_ns(columns, count); },
            .references =
                one(std::move(raw_name), [=] { return kUs * gpu->raw_linear().sparse_multiply_ns(columns, count); }),
            .limit = Limit::at_most_times(times),
            .rounds = options.rounds(5)};
  };
  return {
      row("SpMV f32, 10 million elements", "raw: cusparseSpMV, flag, spin", 1, kSmall),
      row("SpMM f32, the same times 32 columns", "raw: cusparseSpMM, flag, spin", 32, kBusy),
      {.name = "SpSV f32, a million elements, again",
       .unit = "us",
       .ours = [=] { return kUs * gpu->linear().sparse_solve_ns(kTriangleRows, 1, count); },
       .references = one("raw: cusparseSpSV_updateMatrix, _solve, flag, spin",
                         [=] { return kUs * gpu->raw_linear().sparse_solve_ns(kTriangleRows, count); }),
       .limit = Limit::at_most_times(1.3),  // ours looks for zeros on the diagonal, too
       .rounds = options.rounds(5)},
  };
}

/// Ops of several families in a chain, by each way to choose their lanes.
std::vector<Row> step_rows(const SharedGpu& gpu, const Options& options) {
  const int steps = options.count(kSteps);
  const auto row = [&](const std::string& how, const Lanes& lanes) -> Row {
    return {.name = "a step of " + std::to_string(step::kOps) + " ops, " + how,
            .unit = "us",
            .ours = [=] { return kUs * gpu->step(lanes).step_ns(steps); },
            .references = one("raw: one stream", [=] { return kUs * gpu->raw_step().step_ns(steps); }),
            .limit = Limit::printed(),
            .rounds = options.rounds(9)};
  };
  return {row("lanes by dependency", Lanes::by_dependency()), row("lanes by family", Lanes::per_family()),
          row("one lane", Lanes::single())};
}

// ---- memory ----

Row allocation_row(const SharedGpu& gpu, const Options& options) {
  const int allocations = options.count(kAllocations);
  return {.name = "allocate and free 1 MiB",
          .unit = "ns",
          .ours = [=] { return gpu->ours().allocate_and_free_ns(kAllocationBytes, allocations); },
          .references = one("raw: cuMemAllocAsync, cuMemFreeAsync",
                            [=] { return gpu->raw().allocate_and_free_ns(kAllocationBytes, allocations); }),
          .limit = Limit::at_least_times(3),
          .rounds = options.rounds(9)};
}

Row large_copy_row(const SharedGpu& gpu, const Options& options, std::string name, CopyWay way, Limit limit) {
  const int copies = options.count(kLargeCopies);
  const auto gb_per_s = [](double ns) { return static_cast<double>(kLargeCopyBytes) / ns; };
  return {.name = std::move(name),
          .unit = "GB/s",
          .better = Better::higher,
          .ours = [=] { return gb_per_s(gpu->ours().copy_ns(way, kLargeCopyBytes, copies)); },
          .references = one(way.is_pinned() ? "raw: cuMemcpyAsync, flag, spin" : "raw: cuMemcpy, which waits",
                            [=] { return gb_per_s(gpu->raw().copy_ns(way, kLargeCopyBytes, copies)); }),
          .limit = limit,
          .rounds = options.rounds(9)};
}

Row small_copy_row(const SharedGpu& gpu, const Options& options, std::string name, CopyWay way, Measurement torch) {
  const int copies = options.count(kSmallCopies);
  return {.name = std::move(name),
          .unit = "us",
          .ours = [=] { return kUs * gpu->ours().copy_ns(way, kSmallCopyBytes, copies); },
          .references = with_torch(one("raw: cuMemcpyAsync, flag, spin",
                                       [=] { return kUs * gpu->raw().copy_ns(way, kSmallCopyBytes, copies); }),
                                   "PyTorch's copy_", std::move(torch)),
          .limit = Limit::at_most_times(1.2),
          .rounds = options.rounds(9)};
}

std::vector<Row> memory_rows(const SharedGpu& gpu, const Options& options) {
  const int copies = options.count(kSmallCopies);
  const auto large = [&](const char* name, CopyWay way, double times) {
    return large_copy_row(gpu, options, name, way, Limit::at_least_times(times));
  };
  return {
      allocation_row(gpu, options),
      large("256 MiB in, pinned", CopyWay::pinned_in(), 0.97),
      large("256 MiB out, pinned", CopyWay::pinned_out(), 0.97),
      large("256 MiB in from ordinary memory", CopyWay::ordinary_in(), 2),
      large("256 MiB out into ordinary memory", CopyWay::ordinary_out(), 1),
      small_copy_row(gpu, options, "4 KiB in", CopyWay::pinned_in(),
                     [=] { return kUs * gpu->torch().copy_in_ns(kSmallCopyBytes, copies); }),
      small_copy_row(gpu, options, "4 KiB out", CopyWay::pinned_out(),
                     [=] { return kUs * gpu->torch().copy_out_ns(kSmallCopyBytes, copies); }),
  };
}

// ---- failures: every round is one, of a new device's worker ----

/// A measurement that finds no other device open.
Measurement alone(const SharedGpu& gpu, Measurement measure) {
  return [=] {
    gpu->close_ours();
    return measure();
  };
}

References detection(const SharedGpu& gpu) {
  return one("raw: the same, in a process of its own", alone(gpu, [=] { return raw_fault_ms(gpu->id()); }));
}

std::vector<Row> fault_rows(const SharedGpu& gpu, const Options& options) {
  const auto on_array = std::make_shared<Pair>([] {  // shared by both sides of its row
    const ours::GpuFaultOnArray times = ours::gpu_fault_on_array();
    return Pair::Figures{.first = times.next_op_ms, .second = times.gone_ms};
  });
  const auto fault = [](Standby standby) {  // the driver takes 50 ms more or less from one time to the next
    return std::make_shared<Pair>([standby] {
      const ours::GpuFault times = ours::gpu_fault(standby);
      return Pair::Figures{.first = times.next_op_ms, .second = times.reported_ms};
    });
  };
  const auto row = [&](const char* name, const std::shared_ptr<Pair>& pair, double bound_ms, int rounds) -> Row {
    return {.name = name,
            .unit = "ms",
            .ours = alone(gpu, [=] { return pair->first(); }),
            .references = one("the same one: the driver reports it", alone(gpu, [=] { return pair->second(); })),
            .limit = Limit::at_most_over(bound_ms),
            .rounds = options.rounds(rounds)};
  };
  return {
      row("illegal address to next op done", fault(Standby::warm), 5, kCrashes),
      {.name = "illegal address to the driver's report",
       .unit = "ms",
       .ours = alone(gpu, [] { return ours::gpu_fault(Standby::warm).reported_ms; }),
       .references = detection(gpu),
       .limit = Limit::printed(),
       .rounds = options.rounds(kFewCrashes)},
      {.name = "illegal address to next op on its own array",
       .unit = "ms",
       .ours = alone(gpu, [=] { return on_array->first(); }),
       .references = one("the same one: its process is gone", alone(gpu, [=] { return on_array->second(); })),
       .limit = Limit::at_most_over(5),
       .rounds = options.rounds(kCrashes)},
      row("illegal address to next op, without a standby", fault(Standby::none), 450, kFewCrashes),
      {.name = "a new process to its first op done",
       .unit = "ms",
       .ours = alone(gpu, [] { return ours::gpu_first_op_ms(); }),
       .references = one("PyTorch: start, import, torch.mm", alone(gpu, [] { return torch_first_op_ms(); })),
       .limit = Limit::printed(),
       .rounds = options.rounds(kFewCrashes)},
  };
}

std::vector<Row> hang_rows(const SharedGpu& gpu, const Options& options) {
  const auto hang = std::make_shared<Pair>([] {  // shared by both rows
    const ours::GpuHang times = ours::gpu_hang();
    return Pair::Figures{.first = times.next_op_ms, .second = times.error_ms};
  });
  return {
      {.name = "hung kernel: deadline to next op done",
       .unit = "ms",
       .ours = alone(gpu, [=] { return hang->first(); }),
       .limit = Limit::at_most(10),
       .rounds = options.rounds(kCrashes),
       .shows_worst = true},
      {.name = "hung kernel: deadline to its caller's error",
       .unit = "ms",
       .ours = alone(gpu, [=] { return hang->second(); }),
       .limit = Limit::at_most(120),
       .rounds = options.rounds(kCrashes),
       .shows_worst = true},
  };
}

std::vector<Row> wait_rows(const SharedGpu& gpu, const Options& options) {
  std::vector<Row> rows = fault_wait_rows(options, "cuda", kCrashes,
                                          {.gemm_after_kill = Limit::at_most(5),
                                           .chain_gap = Limit::at_most(150),
                                           .awaited_fault = Limit::at_most(250),
                                           .queued_behind_fault = Limit::at_most(350)});
  for (Row& row : rows) row.ours = alone(gpu, std::move(row.ours));
  return rows;
}

Row idle_row(const SharedGpu& gpu, const Options& options) {
  const double seconds = options.quick ? kIdleSeconds / 4 : kIdleSeconds;
  return {.name = "an idle GPU device with a standby",
          .unit = "%",
          .ours = alone(gpu, [=] { return ours::gpu_idle_percent(seconds); }),
          .limit = Limit::below(1),
          .rounds = options.rounds(3)};
}

/// The cores of a virtual machine are not alike: from some of them, a call of cuBLAS takes 3 us more. So each round is
/// on other cores, and both sides of it call CUDA from the same one.
void share_cores(Row& row) {
  struct Round {
    std::vector<int> cores;
    std::size_t sides_left = 0;
  };
  const auto round = std::make_shared<Round>();
  const std::size_t sides = 1 + row.references.all.size();
  const auto moved = [&](Measurement measure, Caller caller) {
    return [=] {
      if (round->sides_left == 0) *round = {cores_by_lot(), sides};
      --round->sides_left;
      move_threads(round->cores, caller);
      return measure();
    };
  };
  row.ours = moved(row.ours, Caller::worker);
  for (Reference& reference : row.references.all)
    reference.measure = moved(reference.measure, reference.is_ours ? Caller::worker : Caller::this_thread);
}

}  // namespace

Result<void> check_gpu() {
  TROUPE_TRY(first_gpu());
  return {};
}

std::vector<Row> gpu_rows(const Options& options) {
  const auto gpu = std::make_shared<Gpu>();
  std::vector<Row> rows = launch_rows(gpu, options);
  rows.push_back(deadline_row(gpu, options));
  rows.push_back(host_function_row(gpu, options));
  for (Row& row : gemm_rows(gpu, options)) rows.push_back(std::move(row));
  for (Row& row : product_rows(gpu, options)) rows.push_back(std::move(row));
  for (Row& row : einsum_rows(gpu, options)) rows.push_back(std::move(row));
  for (Row& row : solver_rows(gpu, options)) rows.push_back(std::move(row));
  for (Row& row : sparse_rows(gpu, options)) rows.push_back(std::move(row));
  for (Row& row : step_rows(gpu, options)) rows.push_back(std::move(row));
  for (Row& row : memory_rows(gpu, options)) rows.push_back(std::move(row));
  for (Row& row : rows) share_cores(row);
  rows.push_back(idle_row(gpu, options));  // closes the device of the rows above, which would be in its way
  for (Row& row : fault_rows(gpu, options)) rows.push_back(std::move(row));
  for (Row& row : wait_rows(gpu, options)) rows.push_back(std::move(row));
  for (Row& row : hang_rows(gpu, options)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace troupe::bench

#endif

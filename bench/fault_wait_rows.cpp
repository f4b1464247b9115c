#include "bench/fault_wait_rows.hpp"

#include "bench/fault_waits.hpp"

namespace troupe::bench {

std::vector<Row> fault_wait_rows(const Options& options, const std::string& device, int faults,
                                 const FaultWaitLimits& limits) {
  constexpr int kChain = 2'000;
  const int chain = options.count(kChain);
  const bool on_host = device == "host";
  const auto row = [&](std::string name, Measurement measure, Limit limit) -> Row {
    return {.name = std::move(name),
            .unit = "ms",
            .ours = std::move(measure),
            .limit = limit,
            .rounds = options.rounds(faults),
            .shows_worst = true};
  };
  return {
      row(
          "gemm after kill -9 at rest", [=] { return ours::gemm_after_kill_ms(device); }, limits.gemm_after_kill),
      row(
          "chain of gemms under kill -9: the longest gap", [=] { return ours::chain_gap_ms(device, chain); },
          limits.chain_gap),
      row(
          on_host ? "awaited null write to its error" : "awaited illegal address to its error",
          [=] { return ours::awaited_fault_ms(device); }, limits.awaited_fault),
      row(
          on_host ? "queued behind a null write to its end" : "queued behind an illegal address to its end",
          [=] { return ours::queued_behind_fault_ms(device); }, limits.queued_behind_fault),
      row(
          "queued behind a hang: deadline to its end", [=] { return ours::queued_behind_hang_ms(device); },
          Limit::printed()),
  };
}

}  // namespace troupe::bench

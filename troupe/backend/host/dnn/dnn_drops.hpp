// Which elements dropout leaves out: those whose word of random bits says so. An element's word depends on seed, stream
// and position alone, so nobody keeps a mask.
#pragma once

#include <algorithm>
#include <cstdint>

#include "troupe/backend/host/random/random_rows.hpp"
#include "troupe/op/random.hpp"

namespace troupe::host {

class Drops {
 public:
  Drops(const op::RandomSource& source, double probability) noexcept
      : source_{.seed = source.seed, .stream = source.stream},
        position_(source.position),
        chance_(random::chance_of(probability)),
        scale_(1 / (1 - probability)) {}

  /// out[i] = in[i] / (1 - probability), or 0, of elements `first` and so on. `out` may be `in`.
  template <class C>
  void apply(std::uint64_t first, const C* in, C* out, std::int64_t count) const noexcept {
    constexpr std::int64_t kBlocks = 64;
    alignas(64) std::uint32_t words[4 * kBlocks];
    const auto scale = static_cast<C>(scale_);
    while (count > 0) {
      const std::uint64_t position = position_ + first;
      const auto skipped = static_cast<std::int64_t>(position % 4);
      const std::int64_t some = std::min(count, 4 * kBlocks - skipped);
      random_rows().blocks(source_, position / 4, random::kWords, words, (skipped + some + 3) / 4);
      for (std::int64_t i = 0; i < some; ++i) {
        const auto here = position + static_cast<std::uint64_t>(i);
        const bool is_out = random::happens(chance_, words[skipped + i], random::OwnNumbers(source_, here));
        out[i] = is_out ? C(0) : in[i] * scale;
      }
      in += some;
      out += some;
      first += static_cast<std::uint64_t>(some);
      count -= some;
    }
  }

 private:
  random::Source source_;
  std::uint64_t position_;
  random::Chance chance_;
  double scale_;
};

}  // namespace troupe::host

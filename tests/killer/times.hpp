// How long ops took: any number of them in a few kilobytes, because they are counted in buckets, each two percent wider
// than the one before. So a quantile is right within two percent, and the longest time exactly.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace troupe::killer {

class Times {
 public:
  void add(std::chrono::nanoseconds time) {
    const double us = std::chrono::duration<double, std::micro>(time).count();
    ++counts_[bucket_of(us)];
    ++count_;
    longest_us_ = std::max(longest_us_, us);
  }
  void add(const Times& others) {
    for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += others.counts_[i];
    count_ += others.count_;
    longest_us_ = std::max(longest_us_, others.longest_us_);
  }

  std::uint64_t count() const { return count_; }
  double longest_us() const { return longest_us_; }
  /// What `part` of the ops took at most; 0 when there were none.
  double quantile_us(double part) const {
    const double wanted = part * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      seen += counts_[i];
      if (static_cast<double>(seen) >= wanted) return std::min(kFirstUs * std::pow(kWider, i), longest_us_);
    }
    return longest_us_;
  }

 private:
  static constexpr double kFirstUs = 0.1;
  static constexpr double kWider = 1.02;
  static constexpr std::size_t kBuckets = 1024;  // up to a minute

  static std::size_t bucket_of(double us) {
    const double bucket = std::ceil(std::log(std::max(us, kFirstUs) / kFirstUs) / std::log(kWider));
    return std::min(static_cast<std::size_t>(bucket), kBuckets - 1);
  }

  std::array<std::uint64_t, kBuckets> counts_ = {};
  std::uint64_t count_ = 0;
  double longest_us_ = 0;
};

}  // namespace troupe::killer

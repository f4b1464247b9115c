// Products whose elements are summed in the order of their terms, whatever stands beside them: a row of a result has
// the same bits alone, among others and at any place. A BLAS does not promise that. The second factor is packed once
// into panels of a few columns, and used for many first factors; columns that are missing in the last panel are zeros,
// so that every element goes the same way. By vector instructions: plain loops, compiled for every level of the CPU
// (docs/decisions/0020).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <utility>

#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/team/team.hpp"
#include "troupe/backend/host/vectors/vector_level.hpp"
#include "troupe/core/result.hpp"

namespace troupe::host {

inline constexpr std::int64_t kPanelBytes = 128;
/// Columns of a panel.
template <class C>
inline constexpr std::int64_t kPanelWidth = kPanelBytes / static_cast<std::int64_t>(sizeof(C));

template <class C>
struct PanelRows {
  /// c[i, j] += a[i, 0] panel[0, j] + a[i, 1] panel[1, j] ..., in this order: a panel is [depth, kPanelWidth]. Steps
  /// are in elements.
  void (*add)(const C* a, std::int64_t a_row, std::int64_t a_step, const C* panel, C* c, std::int64_t c_row,
              std::int64_t rows, std::int64_t depth) noexcept = nullptr;
};
struct PanelProducts {
  PanelRows<float> f32;
  PanelRows<double> f64;
};
/// Those of a level; needs a CPU that has it.
const PanelProducts& panel_products(VectorLevel level) noexcept;
/// Those of this process.
template <class C>
const PanelRows<C>& panel_rows() noexcept {
  static const PanelProducts& kProducts = panel_products(vector_level());
  if constexpr (std::same_as<C, float>)
    return kProducts.f32;
  else
    return kProducts.f64;
}

/// The second factor of products, [depth, width].
template <class C>
class Panels {
 public:
  /// Element (k, j) is `b[k * row + j * column]`.
  static Result<Panels> make(const C* b, std::int64_t depth, std::int64_t width, std::int64_t row, std::int64_t column,
                             Team& team) {
    Panels made;
    made.depth_ = depth;
    made.width_ = width;
    made.memory_ = TROUPE_TRY(make_scratch(made.count() * depth * kPanelBytes));
    C* const panels = made.data();
    team.run(made.count(), Grain::of_bytes(2 * depth * kPanelBytes),
             [&](std::int64_t begin, std::int64_t end) noexcept {
               for (std::int64_t panel = begin; panel < end; ++panel)
                 for (std::int64_t k = 0; k < depth; ++k) {
                   C* const to = panels + (panel * depth + k) * kWidth;
                   const std::int64_t first = panel * kWidth, there = std::min(kWidth, width - first);
                   for (std::int64_t j = 0; j < there; ++j) to[j] = b[k * row + (first + j) * column];
                   std::fill(to + there, to + kWidth, C(0));
                 }
             });
    return made;
  }

  /// c += a b for some rows: a[i, k] is `a[i * a_row + k * a_step]`, a row of c lies side by side.
  void add(const C* a, std::int64_t a_row, std::int64_t a_step, C* c, std::int64_t c_row,
           std::int64_t rows) const noexcept {
    const std::int64_t whole = width_ / kWidth;
    for (std::int64_t panel = 0; panel < whole; ++panel)
      panel_rows<C>().add(a, a_row, a_step, at(panel), c + panel * kWidth, c_row, rows, depth_);
    if (whole < count()) add_last(a, a_row, a_step, c + whole * kWidth, c_row, rows, width_ - whole * kWidth);
  }
  /// What a row takes.
  double ns_per_row() const noexcept {
    constexpr double kNsPerProduct = 0.06;
    return kNsPerProduct * static_cast<double>(depth_) * static_cast<double>(width_);
  }

 private:
  static constexpr std::int64_t kWidth = kPanelWidth<C>;

  std::int64_t count() const noexcept { return (width_ + kWidth - 1) / kWidth; }
  C* data() const noexcept { return reinterpret_cast<C*>(memory_.get()); }
  const C* at(std::int64_t panel) const noexcept { return data() + panel * depth_ * kWidth; }

  /// By way of rows that are as wide as a panel.
  void add_last(const C* a, std::int64_t a_row, std::int64_t a_step, C* c, std::int64_t c_row, std::int64_t rows,
                std::int64_t there) const noexcept {
    constexpr std::int64_t kRows = 16;
    alignas(64) std::array<C, static_cast<std::size_t>(kRows * kWidth)> sums{};
    for (std::int64_t i = 0; i < rows; i += kRows) {
      const std::int64_t some = std::min(kRows, rows - i);
      for (std::int64_t r = 0; r < some; ++r) std::copy_n(c + (i + r) * c_row, there, sums.data() + r * kWidth);
      panel_rows<C>().add(a + i * a_row, a_row, a_step, at(count() - 1), sums.data(), kWidth, some, depth_);
      for (std::int64_t r = 0; r < some; ++r) std::copy_n(sums.data() + r * kWidth, there, c + (i + r) * c_row);
    }
  }

  std::int64_t depth_ = 0;
  std::int64_t width_ = 0;
  Scratch memory_;
};

}  // namespace troupe::host

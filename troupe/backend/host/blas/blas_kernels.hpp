// Linear algebra on the CPU: the ops of troupe/op/blas.hpp. Products go to a BLAS when one is there and to our own
// loops otherwise. The app and the worker have checked an op before it comes here; what could corrupt memory is checked
// once more and answers `invalid_argument`. Callable from any thread, one call at a time per output.
#pragma once

#include "troupe/backend/host/blas/blas_library.hpp"
#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/team/team.hpp"
#include "troupe/core/result.hpp"
#include "troupe/op/view.hpp"

namespace troupe::host {

/// y += alpha x: one shape and type, any strides, no overlap. Integers wrap; the small floats are computed in f32 and
/// rounded once. `alpha` is converted to the type computed in. `unsupported` for bool.
Result<void> axpy(const op::Scalar& alpha, const HostView& x, const HostView& y, Team& team = Team::of_one());

/// 0 times a matrix, in memory of its own: zeros, and NaN where it has a NaN or an infinity. BLAS does not read
/// what has a factor of 0, and so loses them; this is multiplied instead, with a factor of 1.
struct TimesZero {
  Scratch memory;
  HostView view;
};
Result<TimesZero> times_zero(const HostView& matrix);

/// Which operands of a product are conjugated first; those of real types are as they are.
struct Conjugation {
  bool a = false;
  bool b = false;
};

/// c = alpha a b + beta c for matrices of one floating-point or complex type, or i8 into i32, any strides; c overlaps
/// neither. Sums are kept in that type, those of the small floats in f32 and rounded once, at the end. With a beta of
/// zero c is not read; an alpha of zero multiplies like any other, and a NaN stays one. `unsupported` for other
/// integers and bool; `out_of_memory` when a layout has to be packed and there is no memory for it: less than 50 MiB in
/// any case. The team shares the work; product_tiles.hpp says which bits it keeps.
Result<void> gemm(const op::Scalar& alpha, const op::Scalar& beta, const HostView& a, const HostView& b,
                  const HostView& c, Team& team, Conjugation conjugates = {});

/// The same with a given BLAS, or with our own loops when it is null.
Result<void> gemm_with(const BlasLibrary* blas, const op::Scalar& alpha, const op::Scalar& beta, const HostView& a,
                       const HostView& b, const HostView& c, Team& team, Conjugation conjugates = {});

/// How a batch of products of these extents is shared out: product by product, but for a few that are large enough to
/// be shared out themselves.
Grain grain_of_products(const Team& team, std::int64_t count, std::int64_t rows, std::int64_t columns,
                        std::int64_t depth) noexcept;

}  // namespace troupe::host

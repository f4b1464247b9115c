#include "troupe/backend/host/random/random_rows.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <utility>

#include "troupe/backend/host/vectors/vector_rows.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed between functions of one level only
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of g++ 12, in its own header for AVX-512
#endif

namespace troupe::host {
namespace {

#define TROUPE_LEVEL_ROWS "troupe/backend/host/random/random_rows.inc"
#include "troupe/backend/host/vectors/each_level.inc"

}  // namespace

const RandomRows& random_rows(VectorLevel level) noexcept { return rows_of<RandomRows>(level); }

const RandomRows& random_rows() noexcept {
  static const RandomRows& kRows = random_rows(vector_level());
  return kRows;
}

}  // namespace troupe::host

// What each deed does with a caller's arrays, in one table: which arrays an op may leave broken, and which errors it
// may end in, follows from it.
#pragma once

#include "tests/chaos/plan.hpp"

namespace troupe::chaos {

struct DeedTraits {
  bool reads_from = false;  // the array `from`
  bool writes_to = false;   // the array `to`
  bool in_place = false;    // what it writes depends on what was there
  bool whole = false;       // every element is written
  bool must_wait = false;   // submitting it without waiting would be wrong, or shows nothing
};

constexpr DeedTraits traits(Deed deed) noexcept {
  switch (deed) {
    case Deed::fill:
    case Deed::renew:
    case Deed::gemm:
    case Deed::layer:
    case Deed::einsum:
    case Deed::random:
    case Deed::spectrum:
    case Deed::write_vector: return {.writes_to = true, .whole = true};
    case Deed::write_host: return {.writes_to = true, .whole = true, .must_wait = true};
    case Deed::copy:
    case Deed::transpose:
    case Deed::reverse:
    case Deed::broadcast:
    case Deed::cast_out:
    case Deed::cast_in:
    case Deed::blend:
    case Deed::solve:
    case Deed::sparse:
    case Deed::sort:
    case Deed::greatest:
    case Deed::gather:
    case Deed::convolve:
    case Deed::plugin_copy: return {.reads_from = true, .writes_to = true, .whole = true};
    case Deed::stripes: return {.reads_from = true, .writes_to = true};
    case Deed::axpy: return {.reads_from = true, .writes_to = true, .in_place = true};
    case Deed::scale:
    case Deed::gemm_add: return {.writes_to = true, .in_place = true};
    case Deed::read:
    case Deed::read_fresh:
    case Deed::sum:
    case Deed::keep:
    case Deed::give_up: return {.reads_from = true, .must_wait = true};
    case Deed::big:
    case Deed::check_kept: return {.must_wait = true};
    case Deed::nop: return {};
  }
  return {};
}

}  // namespace troupe::chaos

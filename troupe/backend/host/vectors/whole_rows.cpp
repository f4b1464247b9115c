#include "troupe/backend/host/vectors/whole_rows.hpp"

#include <type_traits>
#include <utility>

#include "troupe/op/tensor_functions.hpp"

namespace troupe::host {
namespace {

#define TROUPE_LEVEL_ROWS "troupe/backend/host/vectors/whole_rows.inc"
#include "troupe/backend/host/vectors/each_level.inc"

}  // namespace

const WholeRows& whole_rows(VectorLevel level) noexcept { return rows_of<WholeRows>(level); }

const WholeRows& whole_rows() noexcept {
  static const WholeRows& kRows = whole_rows(vector_level());
  return kRows;
}

}  // namespace troupe::host

#include "troupe/backend/host/dnn/product_panels.hpp"

#include <utility>

#include "troupe/backend/host/vectors/vector_rows.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed between functions of one level only

namespace troupe::host {
namespace {

#define TROUPE_LEVEL_ROWS "troupe/backend/host/dnn/product_panels.inc"
#include "troupe/backend/host/vectors/each_level.inc"

}  // namespace

const PanelProducts& panel_products(VectorLevel level) noexcept { return rows_of<PanelProducts>(level); }

}  // namespace troupe::host

// A sparse matrix as Python holds it. It is made in one file and solved with in another; both look into it, and no
// other does.
#pragma once

#include "handle.hpp"

namespace troupe::python {

struct Matrix {
  SparseMatrix matrix;
  Device device;
};

}  // namespace troupe::python

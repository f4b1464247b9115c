#include "troupe/library/solver.hpp"

namespace troupe {

Solver Device::solver() const { return Solver(*this); }

}  // namespace troupe

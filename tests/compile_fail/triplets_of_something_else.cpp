// A sparse matrix is made of triplets.
// expect: from_triplets takes Triplets that lie side by side in memory
#include <utility>
#include <vector>

#include "troupe/troupe.hpp"

void use(const troupe::Device& device) {
#ifdef TROUPE_FIXED
  const std::vector<troupe::Triplet<double>> elements = {{0, 1, 2.0}};
#else
  const std::vector<std::pair<int, double>> elements = {{0, 2.0}};
#endif
  (void)device.sparse().from_triplets(4, 4, elements);
}

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

std::string KernelTypes::text() const {
  std::string text;
  if (first_ >= kFirstSize)
    text = "_" + std::to_string(1 << (first_ - kFirstSize));
  else if (first_ > 0)
    text = "_" + std::string(name(static_cast<DType>(first_ - 1)));
  if (second_ > 0) text += second_ == 1 ? "_i32" : "_i64";
  return text;
}

}  // namespace troupe::cuda

// What cuDNN is to compute, as data: tensors, and nodes that make some of them of others. And a descriptor of cuDNN's,
// of which it makes everything.
//
//   CudnnGraph graph;
//   const auto x = graph.array(form_of_x, CUDNN_DATA_HALF, 16), w = ..., y = ...;
//   const auto sum = graph.made(form_of_y);
//   graph.convolve(CudnnConvolution::forward, x, w, sum, window);
//   graph.pointwise({.mode = CUDNN_POINTWISE_RELU_FWD}, y, {sum});
#pragma once

#include <initializer_list>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "troupe/backend/cuda/dnn/cudnn_library.hpp"

namespace troupe::cuda {

/// Freed by its owner. Needs cuDNN to be open.
class CudnnDescriptor {
 public:
  CudnnDescriptor() = default;
  static Result<CudnnDescriptor> make(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept : it_(std::exchange(other.it_, nullptr)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
    std::swap(it_, other.it_);
    return *this;
  }

  cudnnBackendDescriptor_t get() const noexcept { return it_; }
  Result<void> set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::size_t count,
                   const void* values) const;
  template <class T>
  Result<void> set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) const {
    return set(name, type, 1, static_cast<const void*>(&value));
  }
  Result<void> set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& numbers) const {
    return set(name, CUDNN_TYPE_INT64, numbers.size(), numbers.data());
  }
  Result<void> set(cudnnBackendAttributeName_t name, const CudnnDescriptor& part) const {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, part.it_);
  }
  Result<void> finish() const;

 private:
  cudnnBackendDescriptor_t it_ = nullptr;
};

/// Extents and strides, in elements.
struct CudnnForm {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
};

/// Of a convolution, for each axis of space.
struct CudnnWindow {
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  std::vector<std::int64_t> dilation;
};
enum class CudnnConvolution : std::uint8_t { forward, input, filter };

/// A function of elements.
struct CudnnPointwise {
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  cudnnDataType_t computed_in = CUDNN_DATA_FLOAT;
  double alpha = 0;                                       // what relu multiplies by below 0; elu's alpha
  double most = std::numeric_limits<double>::infinity();  // relu's
  int axis = -1;                                          // whose index is made
};

class CudnnGraph {
 public:
  /// Its number, from 1.
  using Tensor = std::int64_t;

  /// In the GPU's memory, at a multiple of so many bytes.
  Tensor array(CudnnForm form, cudnnDataType_t type, std::int64_t alignment_bytes);
  /// One that only the graph has.
  Tensor made(CudnnForm form, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  /// A number for all elements of tensors of four axes.
  Tensor number(float value);
  Tensor number(std::int32_t value);

  /// Of x and w, of y and w, or of x and y.
  void convolve(CudnnConvolution which, Tensor a, Tensor b, Tensor out, CudnnWindow window);
  void pointwise(const CudnnPointwise& how, Tensor out, std::initializer_list<Tensor> of);
  /// For each element `yes`, where it is chosen, or `no`.
  void select(Tensor out, Tensor yes, Tensor no, Tensor chosen);
  void multiply(Tensor out, Tensor a, Tensor b);
  /// Along the axes along which `out` has an extent of 1.
  void reduce(cudnnReduceTensorOp_t how, Tensor out, Tensor of);
  /// The same elements as another form has them.
  void reshape(Tensor out, Tensor of);

  /// All of it in cuDNN's form, with the graph as the last one. What cuDNN does not take is its own error.
  Result<std::vector<CudnnDescriptor>> described(cudnnHandle_t handle) const;
  /// Numbers, with the four bytes of each.
  std::vector<std::pair<Tensor, std::uint32_t>> numbers() const;

 private:
  struct TensorData {
    CudnnForm form;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    std::int64_t alignment_bytes = 16;
    bool is_made = false;
    bool is_number = false;
    std::uint32_t number = 0;  // its bytes
  };
  struct Product {};
  struct Reshape {};
  struct Node {
    cudnnBackendDescriptorType_t type;
    std::vector<std::pair<cudnnBackendAttributeName_t, Tensor>> tensors;
    cudnnBackendAttributeName_t settings_name;
    std::variant<CudnnWindow, CudnnPointwise, cudnnReduceTensorOp_t, Product, Reshape> settings;
    std::vector<std::pair<cudnnBackendAttributeName_t, float>> factors;
  };
  Tensor add(TensorData data);
  static Result<CudnnDescriptor> described(Tensor number, const TensorData& data);
  static Result<CudnnDescriptor> described(const CudnnWindow& window);
  static Result<CudnnDescriptor> described(const CudnnPointwise& how);
  static Result<CudnnDescriptor> described(cudnnReduceTensorOp_t how);
  static Result<CudnnDescriptor> described(Product);

  std::vector<TensorData> tensors_;
  std::vector<Node> nodes_;
};

}  // namespace troupe::cuda

#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/cudnn_graph.hpp"

#include <array>
#include <bit>

namespace troupe::cuda {

// ---- a descriptor ----

Result<CudnnDescriptor> CudnnDescriptor::make(cudnnBackendDescriptorType_t type) {
  CudnnDescriptor made;
  TROUPE_TRY(cudnn().cudnnBackendCreateDescriptor(type, &made.it_));
  return made;
}
CudnnDescriptor::~CudnnDescriptor() {
  if (it_) (void)cudnn().cudnnBackendDestroyDescriptor(it_);
}
Result<void> CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::size_t count,
                                  const void* values) const {
  return cudnn().cudnnBackendSetAttribute(it_, name, type, static_cast<std::int64_t>(count), values);
}
Result<void> CudnnDescriptor::finish() const { return cudnn().cudnnBackendFinalize(it_); }

// ---- the graph as data ----

CudnnGraph::Tensor CudnnGraph::add(TensorData data) {
  tensors_.push_back(std::move(data));
  return static_cast<Tensor>(tensors_.size());
}
CudnnGraph::Tensor CudnnGraph::array(CudnnForm form, cudnnDataType_t type, std::int64_t alignment_bytes) {
  return add({.form = std::move(form), .type = type, .alignment_bytes = alignment_bytes});
}
CudnnGraph::Tensor CudnnGraph::made(CudnnForm form, cudnnDataType_t type) {
  return add({.form = std::move(form), .type = type, .is_made = true});
}
CudnnGraph::Tensor CudnnGraph::number(float value) {
  return add({.form = {{1, 1, 1, 1}, {1, 1, 1, 1}},
              .type = CUDNN_DATA_FLOAT,
              .is_number = true,
              .number = std::bit_cast<std::uint32_t>(value)});
}
CudnnGraph::Tensor CudnnGraph::number(std::int32_t value) {
  return add({.form = {{1, 1, 1, 1}, {1, 1, 1, 1}},
              .type = CUDNN_DATA_INT32,
              .is_number = true,
              .number = std::bit_cast<std::uint32_t>(value)});
}

void CudnnGraph::convolve(CudnnConvolution which, Tensor a, Tensor b, Tensor out, CudnnWindow window) {
  switch (which) {
    case CudnnConvolution::forward:
      nodes_.push_back({CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                        {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, a},
                         {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, b},
                         {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, out}},
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                        std::move(window),
                        {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0F},
                         {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0F}}});
      return;
    case CudnnConvolution::input:
      nodes_.push_back({CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                        {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, a},
                         {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, b},
                         {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, out}},
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                        std::move(window),
                        {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1.0F},
                         {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0.0F}}});
      return;
    case CudnnConvolution::filter:
      nodes_.push_back({CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                        {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, a},
                         {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, b},
                         {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, out}},
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                        std::move(window),
                        {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1.0F},
                         {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 0.0F}}});
      return;
  }
}
void CudnnGraph::pointwise(const CudnnPointwise& how, Tensor out, std::initializer_list<Tensor> of) {
  constexpr std::array kNames{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                              CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
  Node node{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, {}, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how, {}};
  for (const Tensor tensor : of) node.tensors.emplace_back(kNames[node.tensors.size()], tensor);
  node.tensors.emplace_back(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, out);
  nodes_.push_back(std::move(node));
}
void CudnnGraph::select(Tensor out, Tensor yes, Tensor no, Tensor chosen) {
  pointwise({.mode = CUDNN_POINTWISE_BINARY_SELECT}, out, {yes, no, chosen});
}
void CudnnGraph::multiply(Tensor out, Tensor a, Tensor b) {
  nodes_.push_back({CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
                    {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, a},
                     {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b},
                     {CUDNN_ATTR_OPERATION_MATMUL_CDESC, out}},
                    CUDNN_ATTR_OPERATION_MATMUL_DESC,
                    Product{},
                    {}});
}
void CudnnGraph::reduce(cudnnReduceTensorOp_t how, Tensor out, Tensor of) {
  nodes_.push_back({CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
                    {{CUDNN_ATTR_OPERATION_REDUCTION_XDESC, of}, {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, out}},
                    CUDNN_ATTR_OPERATION_REDUCTION_DESC,
                    how,
                    {}});
}
void CudnnGraph::reshape(Tensor out, Tensor of) {
  nodes_.push_back({CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
                    {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, of}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, out}},
                    {},
                    Reshape{},
                    {}});
}

std::vector<std::pair<CudnnGraph::Tensor, std::uint32_t>> CudnnGraph::numbers() const {
  std::vector<std::pair<Tensor, std::uint32_t>> all;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (tensors_[i].is_number) all.emplace_back(static_cast<Tensor>(i + 1), tensors_[i].number);
  return all;
}

// ---- in cuDNN's form ----

Result<CudnnDescriptor> CudnnGraph::described(Tensor number, const TensorData& data) {
  CudnnDescriptor made = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_TENSOR_DESCRIPTOR));
  TROUPE_TRY(made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, number));
  TROUPE_TRY(made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, data.type));
  TROUPE_TRY(made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, data.form.extents));
  TROUPE_TRY(made.set(CUDNN_ATTR_TENSOR_STRIDES, data.form.strides));
  TROUPE_TRY(made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, data.alignment_bytes));
  TROUPE_TRY(made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, data.is_made));
  if (data.is_number) TROUPE_TRY(made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true));
  TROUPE_TRY(made.finish());
  return made;
}

Result<CudnnDescriptor> CudnnGraph::described(const CudnnWindow& window) {
  CudnnDescriptor made = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
  const auto axes = static_cast<std::int64_t>(window.stride.size());
  TROUPE_TRY(made.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT));
  TROUPE_TRY(made.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION));
  TROUPE_TRY(made.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, axes));
  TROUPE_TRY(made.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, window.before));
  TROUPE_TRY(made.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, window.after));
  TROUPE_TRY(made.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, window.dilation));
  TROUPE_TRY(made.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, window.stride));
  TROUPE_TRY(made.finish());
  return made;
}

Result<CudnnDescriptor> CudnnGraph::described(const CudnnPointwise& how) {
  CudnnDescriptor made = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
  TROUPE_TRY(made.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, how.mode));
  TROUPE_TRY(made.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, how.computed_in));
  if (how.mode == CUDNN_POINTWISE_RELU_FWD) {
    TROUPE_TRY(made.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, CUDNN_PROPAGATE_NAN));
    if (how.alpha != 0) TROUPE_TRY(made.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_DOUBLE, how.alpha));
    if (how.most < std::numeric_limits<double>::infinity())
      TROUPE_TRY(made.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, how.most));
  }
  if (how.mode == CUDNN_POINTWISE_ELU_FWD)
    TROUPE_TRY(made.set(CUDNN_ATTR_POINTWISE_ELU_ALPHA, CUDNN_TYPE_DOUBLE, how.alpha));
  if (how.axis >= 0)
    TROUPE_TRY(made.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, static_cast<std::int64_t>(how.axis)));
  TROUPE_TRY(made.finish());
  return made;
}

Result<CudnnDescriptor> CudnnGraph::described(cudnnReduceTensorOp_t how) {
  CudnnDescriptor made = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR));
  TROUPE_TRY(made.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, how));
  TROUPE_TRY(made.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT));
  TROUPE_TRY(made.finish());
  return made;
}

Result<CudnnDescriptor> CudnnGraph::described(Product) {
  CudnnDescriptor made = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_MATMUL_DESCRIPTOR));
  TROUPE_TRY(made.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT));
  TROUPE_TRY(made.finish());
  return made;
}

Result<std::vector<CudnnDescriptor>> CudnnGraph::described(cudnnHandle_t handle) const {
  std::vector<CudnnDescriptor> made;  // the tensors first
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    made.push_back(TROUPE_TRY(described(static_cast<Tensor>(i + 1), tensors_[i])));
  std::vector<cudnnBackendDescriptor_t> operations;
  for (const Node& node : nodes_) {
    CudnnDescriptor operation = TROUPE_TRY(CudnnDescriptor::make(node.type));
    for (const auto& [name, tensor] : node.tensors)
      TROUPE_TRY(operation.set(name, made[static_cast<std::size_t>(tensor - 1)]));
    for (const auto& [name, factor] : node.factors) TROUPE_TRY(operation.set(name, CUDNN_TYPE_FLOAT, factor));
    if (!std::holds_alternative<Reshape>(node.settings)) {
      made.push_back(TROUPE_TRY(std::visit(
          []<class S>(const S& settings) -> Result<CudnnDescriptor> {
            if constexpr (std::same_as<S, Reshape>)
              return CudnnDescriptor();
            else
              return described(settings);
          },
          node.settings)));
      TROUPE_TRY(operation.set(node.settings_name, made.back()));
    }
    TROUPE_TRY(operation.finish());
    operations.push_back(operation.get());
    made.push_back(std::move(operation));
  }
  CudnnDescriptor graph = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
  TROUPE_TRY(graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations.size(),
                       static_cast<const void*>(operations.data())));
  TROUPE_TRY(graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle));
  TROUPE_TRY(graph.finish());
  made.push_back(std::move(graph));
  return made;
}

}  // namespace troupe::cuda

#endif

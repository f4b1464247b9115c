#include "troupe/op/dnn_lookup.hpp"

#include "troupe/library/dnn/dnn.hpp"
#include "troupe/library/dnn/dnn_verdict.hpp"

namespace troupe::inline v0 {

Call<void> Dnn::embedding(const AnyArray& table, const AnyArray& indices, const AnyArray& y) const {
  const op::DnnEmbedding op{.table = table.view(), .indices = indices.view(), .y = y.view(), .verdict = {}};
  return make_dnn_call(device_, op, {&table, &indices, &y});
}
Call<void> Dnn::embedding_gradient(const AnyArray& dy, const AnyArray& indices, const AnyArray& dtable,
                                   EmbeddingOptions options) const {
  const op::DnnEmbeddingGradient op{
      .padding = options.padding, .dy = dy.view(), .indices = indices.view(), .dtable = dtable.view(), .verdict = {}};
  return make_dnn_call(device_, op, {&dy, &indices, &dtable});
}

Call<void> Dnn::dropout(Generator& generator, const AnyArray& x, const AnyArray& y, double probability) const {
  const op::DnnDropout op{.source = {.engine = generator.engine(),
                                     .stream = generator.stream(),
                                     .seed = generator.seed(),
                                     .position = generator.position()},
                          .probability = probability,
                          .x = x.view(),
                          .y = y.view()};
  const std::array<const AnyArray*, 2> arrays{&x, &y};
  Result<detail::IntrusivePtr<detail::OpCall>> call =
      DeviceParts::make_op_call(device_, op::info_of<op::DnnDropout>(), &op, arrays);
  if (!call) return fail(std::move(call).error());
  generator = generator.at(generator.position() + static_cast<std::uint64_t>(x.element_count()));
  return {DeviceParts::state(device_), std::move(*call), {}};
}

}  // namespace troupe::inline v0

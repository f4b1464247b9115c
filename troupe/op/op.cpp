#include "troupe/op/op.hpp"

#include <array>

namespace troupe::op {

void Touches::add_to_more(const Touch& touch) {
  if (count_ == kInline) more_.assign(inline_.begin(), inline_.end());
  more_.push_back(touch);
}

void Toucher::add(const View& view, Access access) {
  if (!status_) return;
  const Result<Range> range = range_of(view);
  if (!range) {
    status_ = Unexpected(range.error());
    return;
  }
  if (range->empty()) return;
  if (touches_.size() == kMaxViews) {
    status_ = fail(ErrorKind::invalid_argument, "an op has at most " + std::to_string(kMaxViews) + " arrays");
    return;
  }
  elements_ += static_cast<std::uint64_t>(element_count(view));
  const bool writes = access != Access::read;
  touches_.add(
      {.range = *range, .reads = access != Access::write, .writes = writes, .whole = writes && is_dense(view)});
}

void Encoder::field(const View& view) {
  out_.put(view.address);
  out_.put(view.dtype);
  out_.put(static_cast<std::uint8_t>(view.shape.rank()));
  for (const std::int64_t extent : view.shape) out_.put(extent);
  for (int i = 0; i < view.shape.rank(); ++i) out_.put(view.strides[i]);
}

void Encoder::field(const Scalar& scalar) {
  out_.put(scalar.dtype());
  out_.put_bytes(scalar.bytes());
}

void Encoder::arguments(const std::vector<Argument>& arguments) {
  out_.put(static_cast<std::uint8_t>(arguments.size()));
  for (const Argument& argument : arguments) {
    out_.put(argument.access);
    field(argument.view);
  }
}

DType Decoder::dtype() noexcept {
  const auto number = in_.get<std::uint8_t>();
  if (number >= kDTypes) in_.reject();
  return in_.ok() ? static_cast<DType>(number) : DType::f32;
}

void Decoder::field(View& view) {
  view.address = in_.get<Address>();
  view.dtype = dtype();
  const auto rank = in_.get<std::uint8_t>();
  if (rank > kMaxRank) in_.reject();
  if (!in_.ok()) return;
  std::array<std::int64_t, kMaxRank> extents{};
  std::array<std::int64_t, kMaxRank> distances{};
  for (int i = 0; i < rank; ++i) extents[static_cast<std::size_t>(i)] = in_.get<std::int64_t>();
  for (int i = 0; i < rank; ++i) distances[static_cast<std::size_t>(i)] = in_.get<std::int64_t>();
  view.shape = Shape(std::span<const std::int64_t>(extents.data(), rank));
  view.strides = Strides(std::span<const std::int64_t>(distances.data(), rank));
}

void Decoder::field(Scalar& scalar) {
  const DType type = dtype();
  std::array<std::byte, 16> bytes{};
  const std::span<const std::byte> read = in_.get_bytes(bytes.size());
  if (!in_.ok()) return;
  std::memcpy(bytes.data(), read.data(), bytes.size());
  scalar = Scalar::from_bytes(type, bytes);
}

void Decoder::field(std::string& text) {
  const std::string_view read = in_.get_text();
  if (read.size() > kMaxTextBytes) return in_.reject();
  text.assign(read);
}

void Decoder::field(std::vector<std::byte>& bytes) {
  const std::span<const std::byte> read = in_.get_sized();
  if (read.size() > kMaxParameterBytes) return in_.reject();
  bytes.assign(read.begin(), read.end());
}

void Decoder::arguments(std::vector<Argument>& arguments) {
  const auto count = in_.get<std::uint8_t>();
  if (count > kMaxViews) return in_.reject();
  arguments.resize(count);
  for (Argument& argument : arguments) {
    const auto access = in_.get<std::uint8_t>();
    if (access > static_cast<std::uint8_t>(Access::update)) return in_.reject();
    argument.access = static_cast<Access>(access);
    field(argument.view);
    if (!in_.ok()) return;
  }
}

}  // namespace troupe::op

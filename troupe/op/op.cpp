#include "troupe/op/op.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace troupe::inline v0::op {

Result<void> Toucher::add(const Views& views) {
  const std::span<const ViewUse> all = views.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ViewUse& use = all[i];
    const Result<Footprint> found = footprint_of(*use.view);
    if (!found) [[unlikely]]
      return fail(found.error().kind(),
                  std::string(use.name) + " is not valid: " + std::string(found.error().message()));
    if (found->elements == 0) continue;
    if (touches_.size() == kMaxViews) [[unlikely]]
      return fail(ErrorKind::invalid_argument, "there are " + std::to_string(all.size()) +
                                                   " arrays; an op takes at most " + std::to_string(kMaxViews));
    elements_ += static_cast<std::uint64_t>(found->elements);
    const bool writes = use.access != Access::read;
    touches_.add({.range = found->range,
                  .reads = use.access == Access::read || use.access == Access::update,
                  .writes = writes,
                  .whole = writes && use.access != Access::part && (found->is_row_major || is_dense(*use.view)),
                  .view = static_cast<std::uint16_t>(i)});
  }
  return {};
}

void Encoder::put(const View& view) {
  const auto rank = static_cast<std::uint8_t>(view.shape.rank());
  std::array<std::byte, sizeof view.address + sizeof view.dtype + 1 + 2 * kMaxRank * sizeof(std::int64_t)> bytes;
  std::size_t size = 0;
  const auto put = [&](const void* data, std::size_t count) {
    std::memcpy(bytes.data() + size, data, count);
    size += count;
  };
  put(&view.address, sizeof view.address);
  put(&view.dtype, sizeof view.dtype);
  put(&rank, sizeof rank);
  put(view.shape.begin(), rank * sizeof(std::int64_t));
  put(view.strides.begin(), rank * sizeof(std::int64_t));
  out_.put_bytes(std::span<const std::byte>(bytes).first(size));
}

void Encoder::put(const Scalar& scalar) {
  out_.put(scalar.dtype());
  out_.put_bytes(scalar.bytes());
}

void Encoder::arguments(std::string_view, const std::vector<Argument>& arguments) {
  out_.put(static_cast<std::uint8_t>(arguments.size()));
  for (const Argument& argument : arguments) {
    out_.put(argument.access);
    put(argument.view);
  }
}

DType Decoder::dtype() noexcept {
  const auto number = in_.get<std::uint8_t>();
  if (number >= kDTypes) in_.reject();
  return in_.ok() ? static_cast<DType>(number) : DType::f32;
}

void Decoder::get(View& view) {
  const std::span<const std::byte> head = in_.get_bytes(sizeof view.address + 2);
  if (!in_.ok()) return;
  const auto type = static_cast<std::uint8_t>(head[sizeof view.address]);
  const auto rank = static_cast<std::uint8_t>(head[sizeof view.address + 1]);
  if (type >= kDTypes || rank > kMaxRank) return in_.reject();
  std::memcpy(&view.address, head.data(), sizeof view.address);
  view.dtype = static_cast<DType>(type);
  const std::span<const std::byte> numbers = in_.get_bytes(2 * rank * sizeof(std::int64_t));
  if (!in_.ok() || rank == 0) return;
  std::array<std::int64_t, 2 * std::size_t{kMaxRank}> all;
  std::memcpy(all.data(), numbers.data(), numbers.size());
  view.shape = Shape(std::span<const std::int64_t>(all.data(), rank));
  view.strides = Strides(std::span<const std::int64_t>(all.data() + rank, rank));
}

void Decoder::get(Scalar& scalar) {
  const DType type = dtype();
  std::array<std::byte, 16> bytes{};
  const std::span<const std::byte> read = in_.get_bytes(bytes.size());
  if (!in_.ok()) return;
  std::memcpy(bytes.data(), read.data(), bytes.size());
  scalar = Scalar::from_bytes(type, bytes);
}

void Decoder::get(std::string& text) {
  const std::string_view read = in_.get_text();
  if (read.size() > kMaxTextBytes) return in_.reject();
  text.assign(read);
}

void Decoder::get(std::vector<std::byte>& bytes) {
  const std::span<const std::byte> read = in_.get_sized();
  if (read.size() > kMaxParameterBytes) return in_.reject();
  bytes.assign(read.begin(), read.end());
}

void Decoder::arguments(std::string_view, std::vector<Argument>& arguments) {
  const auto count = in_.get<std::uint8_t>();
  if (count > kMaxViews) return in_.reject();
  arguments.resize(count);
  for (Argument& argument : arguments) {
    const auto access = in_.get<std::uint8_t>();
    if (access > static_cast<std::uint8_t>(Access::kLast)) return in_.reject();
    argument.access = static_cast<Access>(access);
    get(argument.view);
    if (!in_.ok()) return;
  }
}

std::string argument_name(const Views& views, std::size_t which) {
  const auto all = views.all();
  const std::string_view name = all[which].name;
  const auto is_of_it = [&](const auto& view) { return view.name == name; };
  if (std::ranges::count_if(all, is_of_it) == 1 && name != "arrays" && name != "matrices") return std::string(name);
  const std::string one = name == "arrays" ? "array" : name == "matrices" ? "matrix" : std::string(name);
  return one + " " + std::to_string(std::ranges::count_if(all.first(which), is_of_it));
}

}  // namespace troupe::inline v0::op

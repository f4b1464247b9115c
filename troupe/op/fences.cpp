#include "troupe/op/fences.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace troupe::inline v0::op {
namespace {

static_assert(std::has_unique_object_representations_v<FencedArray>);

/// At the end of a record.
struct Trailer {
  std::uint32_t op_bytes = 0;
  std::uint32_t arrays = 0;
};

/// A reply takes the place of its record: so much has room for the sentence about an overrun.
constexpr std::size_t kLeastRecordBytes = 1000;

/// What was written in one fence.
struct Written {
  std::size_t bytes = 0;
  std::size_t farthest = 0;  // from the array
};

Written look_at(std::span<const std::byte> fence, bool is_behind) noexcept {
  Written written;
  for (std::size_t i = 0; i < fence.size(); ++i) {
    if (fence[i] == kFencePattern) continue;
    ++written.bytes;
    written.farthest = std::max(written.farthest, is_behind ? i + 1 : fence.size() - i);
  }
  return written;
}

/// "4 bytes were written behind its end"; nothing when there are none.
std::string sentence_about(const Written& written, std::string_view where) {
  if (written.bytes == 0) return {};
  std::string text = std::to_string(written.bytes) + (written.bytes == 1 ? " byte was" : " bytes were") + " written ";
  if (written.bytes == written.farthest) return text + "right " + std::string(where);
  return text + std::string(where) + ", the farthest " + std::to_string(written.farthest) + " bytes away";
}

/// "array 1, [16] of f32", with the size of the whole array where the op uses a part of it.
std::string describe_argument(const FencedArray& array, const Views& views) {
  if (array.view >= views.size()) return "an array";
  const View& view = *views.all()[array.view].view;
  std::string text =
      argument_name(views, array.view) + ", " + view.shape.to_string() + " of " + std::string(name(view.dtype));
  const Result<Range> range = range_of(view);
  if (range && *range == array.elements) return text;
  return text + " in an array of " + std::to_string(array.elements.end - array.elements.begin) + " bytes";
}

}  // namespace

std::size_t guarded_record_bytes(std::size_t op_bytes, std::size_t arrays) noexcept {
  return std::max(op_bytes + arrays * sizeof(FencedArray) + sizeof(Trailer), kLeastRecordBytes);
}

void write_guarded_record(std::span<std::byte> record, std::span<const std::byte> op,
                          std::span<const FencedArray> arrays) noexcept {
  const Trailer trailer{static_cast<std::uint32_t>(op.size()), static_cast<std::uint32_t>(arrays.size())};
  const std::span<const std::byte> listed = std::as_bytes(arrays);
  std::byte* const rest = std::ranges::copy(listed, std::ranges::copy(op, record.data()).out).out;
  std::fill(rest, record.data() + record.size(), std::byte{0});
  std::memcpy(record.data() + record.size() - sizeof trailer, &trailer, sizeof trailer);
}

Result<GuardedRecord> read_guarded_record(std::span<const std::byte> record) {
  Trailer trailer;
  if (record.size() >= sizeof trailer) {
    const std::size_t room = record.size() - sizeof trailer;
    std::memcpy(&trailer, record.data() + room, sizeof trailer);
    if (trailer.op_bytes <= room && trailer.arrays <= (room - trailer.op_bytes) / sizeof(FencedArray))
      return GuardedRecord{record.first(trailer.op_bytes),
                           FencedArrays(record.subspan(trailer.op_bytes, trailer.arrays * sizeof(FencedArray)))};
  }
  return fail(ErrorKind::invalid_argument, "the record says that it has fences, and has none");
}

std::optional<Error> find_overrun(const FencedArrays& arrays, const Views& views, const Result<void>& end,
                                  const FenceReader& read) {
  std::string text;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const FencedArray array = arrays[i];
    const auto is_of_same_memory = [&](std::size_t other) { return arrays[other].with_fences == array.with_fences; };
    bool is_told = false;
    for (std::size_t before = 0; before < i; ++before) is_told = is_told || is_of_same_memory(before);
    if (is_told) continue;
    const std::string front = sentence_about(look_at(read(array.before()), false), "in front of its first element");
    const std::string back = sentence_about(look_at(read(array.behind()), true), "behind its last element");
    if (front.empty() && back.empty()) continue;
    if (!text.empty()) text += "; ";
    text += describe_argument(array, views);
    for (std::size_t other = i + 1; other < arrays.size(); ++other)
      if (is_of_same_memory(other)) text += ", or " + describe_argument(arrays[other], views);
    text += ", was overrun: " + front + (front.empty() || back.empty() ? "" : ", and ") + back;
  }
  if (text.empty()) return std::nullopt;
  if (!end)
    text +=
        "; the op itself ended in " + std::string(name(end.error().kind())) + ": " + std::string(end.error().message());
  return Error(ErrorKind::library_error, std::move(text), ErrorOrigin{.library = std::string(kGuardLibrary)});
}

}  // namespace troupe::inline v0::op

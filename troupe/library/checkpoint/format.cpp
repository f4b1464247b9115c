#include "troupe/library/checkpoint/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "troupe/library/checkpoint/checksum.hpp"
#include "troupe/wire/encoding.hpp"

namespace troupe::inline v0 {
namespace {

static_assert(std::endian::native == std::endian::little, "wire::Writer writes the machine's byte order");

constexpr std::string_view kMagic = "TROUPECK";
constexpr std::size_t kTypeBytes = 8;
constexpr std::size_t kMostOfOneArray = 4 + kMaxNameBytes + kTypeBytes + 4 + 8 * kMaxRank;
static_assert(4 + kMaxArrays * kMostOfOneArray <= kMaxHeaderBytes);

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Unexpected refuse(const std::string& why) { return fail(ErrorKind::invalid_argument, why); }
Unexpected damaged(const std::string& how) { return refuse("is damaged: " + how); }

std::vector<std::byte> encode_header(std::span<const SavedArray> arrays) {
  wire::Writer header;
  header.put(static_cast<std::uint32_t>(arrays.size()));
  for (const SavedArray& array : arrays) {
    header.put_text(array.name);
    std::array<char, kTypeBytes> type{};
    std::ranges::copy(name(array.dtype), type.begin());
    header.put_bytes(std::as_bytes(std::span(type)));
    header.put(static_cast<std::uint32_t>(array.shape.rank()));
    for (const std::int64_t extent : array.shape) header.put(extent);
  }
  return {header.bytes().begin(), header.bytes().end()};
}

Result<DType> decode_type(std::span<const std::byte> bytes) {
  const std::string_view padded = as_text(bytes);
  const std::string_view text = padded.substr(0, padded.find('\0'));
  const bool is_padded = std::ranges::all_of(padded.substr(text.size()), [](char c) { return c == '\0'; });
  if (Result<DType> dtype = parse_dtype(text); dtype && is_padded) return dtype;
  return damaged("an array has a type that does not exist");
}

Result<SavedArray> decode_array(wire::Reader& header) {
  SavedArray array;
  const std::string_view name = header.get_text();
  const std::span<const std::byte> type = header.get_bytes(kTypeBytes);
  const auto rank = header.get<std::uint32_t>();
  if (!header.ok()) return damaged("its header ends too early");
  if (name.empty() || name.size() > kMaxNameBytes)
    return damaged("a name has " + std::to_string(name.size()) + " bytes; it must have 1 to " +
                   std::to_string(kMaxNameBytes));
  array.name = name;
  array.dtype = TROUPE_TRY(decode_type(type));
  if (rank > kMaxRank) return damaged(shown(name) + " has " + std::to_string(rank) + " dimensions");
  std::array<std::int64_t, kMaxRank> extents{};
  for (std::uint32_t i = 0; i < rank; ++i) extents[i] = header.get<std::int64_t>();
  if (!header.ok()) return damaged("its header ends too early");
  array.shape = Shape(std::span<const std::int64_t>(extents).first(rank));
  if (const Result<std::int64_t> size = troupe::size_bytes(array.shape, array.dtype); !size)
    return damaged(shown(name) + ": " + std::string(size.error().message()));
  return array;
}

}  // namespace

std::int64_t SavedArray::size_bytes() const { return troupe::size_bytes(shape, dtype).value_or(0); }

std::string SavedArray::to_string() const { return shape.to_string() + " of " + std::string(troupe::name(dtype)); }

std::uint64_t file_bytes(std::uint64_t opening_bytes, std::span<const SavedArray> arrays) {
  std::uint64_t all = opening_bytes;
  for (const SavedArray& array : arrays) {
    const std::uint64_t more = static_cast<std::uint64_t>(array.size_bytes()) + kChecksumBytes;
    if (more > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - all) return 0;
    all += more;
  }
  return all;
}

std::string shown(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::vector<std::byte> encode_opening(std::span<const SavedArray> arrays) {
  const std::vector<std::byte> header = encode_header(arrays);
  wire::Writer opening;
  opening.put_bytes(std::as_bytes(std::span(kMagic)));
  opening.put(kCheckpointVersion);
  opening.put_sized(header);
  opening.put(Checksum::of(opening.bytes()));
  return {opening.bytes().begin(), opening.bytes().end()};
}

Result<std::size_t> check_preamble(std::span<const std::byte> preamble) {
  wire::Reader reader(preamble);
  const std::string_view magic = as_text(reader.get_bytes(kMagic.size()));
  const auto version = reader.get<std::uint32_t>();
  const auto header_bytes = reader.get<std::uint32_t>();
  if (!reader.ok() || magic != kMagic) return refuse("is no checkpoint: it does not begin as one does");
  if (version != kCheckpointVersion)
    return fail(ErrorKind::unsupported, "has version " + std::to_string(version) +
                                            " of the format; this program reads version " +
                                            std::to_string(kCheckpointVersion));
  if (header_bytes > kMaxHeaderBytes)
    return damaged("its header has " + std::to_string(header_bytes) + " bytes; it may have at most " +
                   std::to_string(kMaxHeaderBytes));
  return header_bytes + kChecksumBytes;
}

Result<std::vector<SavedArray>> decode_opening(std::span<const std::byte> opening) {
  if (opening.size() < kPreambleBytes + kChecksumBytes) return damaged("its header ends too early");
  const std::span<const std::byte> summed = opening.first(opening.size() - kChecksumBytes);
  if (wire::Reader(opening.last(kChecksumBytes)).get<std::uint64_t>() != Checksum::of(summed))
    return damaged("the checksum of its header is wrong");
  wire::Reader header(summed.subspan(kPreambleBytes));
  const auto count = header.get<std::uint32_t>();
  if (!header.ok() || count == 0 || count > kMaxArrays)
    return damaged("it has " + std::to_string(count) + " arrays; it must have 1 to " + std::to_string(kMaxArrays));
  std::vector<SavedArray> arrays;
  for (std::uint32_t i = 0; i < count; ++i) arrays.push_back(TROUPE_TRY(decode_array(header)));
  if (!header.finished()) return damaged("its header has more than its arrays");
  return arrays;
}

}  // namespace troupe::inline v0

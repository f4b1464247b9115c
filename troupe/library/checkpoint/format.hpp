// What is in a file of a checkpoint. All numbers are little-endian, and nothing lies between the parts:
//
//   8 bytes   "TROUPECK"
//   u32       version of the format, 1
//   u32       how many bytes the header has, at most `kMaxHeaderBytes`
//   header    u32 how many arrays, 1 to `kMaxArrays`; for each of them
//               u32 length of its name, 1 to `kMaxNameBytes`, and the name, which no other array of the file has
//               8 bytes, its type as Troupe spells it ("f32", "bool"), padded with zeros
//               u32 rank, and an i64 extent for each dimension
//   u64       checksum (XXH64, seed 0) of everything so far
//   content   of each array, in the header's order: its elements, row-major without gaps, and the u64 checksum of them
//
// The file ends there. Whoever reads one trusts nothing in it: every length is checked before it is used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/shape.hpp"

namespace troupe::inline v0 {

inline constexpr std::uint32_t kCheckpointVersion = 1;
inline constexpr std::size_t kMaxArrays = 1024;
inline constexpr std::size_t kMaxNameBytes = 200;
inline constexpr std::size_t kMaxHeaderBytes = 512 * 1024;
inline constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);
/// What comes before the header.
inline constexpr std::size_t kPreambleBytes = 16;

/// An array as a file describes it.
struct SavedArray {
  std::string name;
  DType dtype = DType::f64;
  Shape shape;

  /// Of its elements. Needs a valid shape whose bytes can be counted.
  std::int64_t size_bytes() const;
  /// "[2, 3] of f32".
  std::string to_string() const;
};

/// How many bytes a file has that begins with `opening_bytes` before the content of these arrays; 0 when they cannot be
/// counted in 63 bits.
std::uint64_t file_bytes(std::uint64_t opening_bytes, std::span<const SavedArray> arrays);

/// A name as it can be shown: without control characters, whoever wrote it.
std::string shown(std::string_view name);

/// The preamble, the header and its checksum.
std::vector<std::byte> encode_opening(std::span<const SavedArray> arrays);

/// How many bytes follow the preamble up to the content. `invalid_argument` when these are not the first bytes of a
/// checkpoint, `unsupported` when it has another version. The messages go on from the name of the file.
Result<std::size_t> check_preamble(std::span<const std::byte> preamble);
/// The arrays of a file, from all bytes before the content.
Result<std::vector<SavedArray>> decode_opening(std::span<const std::byte> opening);

}  // namespace troupe::inline v0

#include "troupe/device/suballocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "troupe/op/view.hpp"

namespace troupe {
namespace {

using Piece = Suballocator::Piece;

constexpr std::uint64_t kGranule = kVaultAlignment;

TEST(Suballocator, starts_as_one_free_piece) {
  const Suballocator pieces(8 * kGranule);
  EXPECT_TRUE(pieces.empty());
  EXPECT_EQ(pieces.used_bytes(), 0U);
  EXPECT_EQ(pieces.largest_free_bytes(), 8 * kGranule);
  EXPECT_EQ(pieces.free_pieces(), 1U);
}

TEST(Suballocator, rounds_sizes_up_to_the_alignment) {
  Suballocator pieces(8 * kGranule);
  const Piece one = *pieces.allocate(1);
  const Piece two = *pieces.allocate(kGranule + 1);
  EXPECT_EQ(one.size_bytes, kGranule);
  EXPECT_EQ(two.size_bytes, 2 * kGranule);
  EXPECT_EQ(pieces.used_bytes(), 3 * kGranule);
  EXPECT_FALSE(pieces.empty());
}

TEST(Suballocator, starts_with_the_lowest_offsets) {
  Suballocator pieces(64 * kGranule);
  EXPECT_EQ(pieces.allocate(kGranule)->offset_bytes, 0U);
  EXPECT_EQ(pieces.allocate(5 * kGranule)->offset_bytes, kGranule);
  EXPECT_EQ(pieces.allocate(kGranule)->offset_bytes, 6 * kGranule);
}

TEST(Suballocator, gives_all_of_a_chunk_of_any_size) {
  for (std::uint64_t granules = 1; granules < 5000; granules = granules * 9 / 8 + 1) {
    Suballocator pieces(granules * kGranule);
    const auto whole = pieces.allocate(granules * kGranule);
    ASSERT_TRUE(whole) << granules;
    EXPECT_EQ(pieces.largest_free_bytes(), 0U);
    EXPECT_FALSE(pieces.allocate(1));
    pieces.free(*whole);
    EXPECT_TRUE(pieces.empty());
  }
}

TEST(Suballocator, covers_the_largest_chunk_there_can_be) {
  Suballocator pieces(op::kMaxChunkBytes);
  const auto most = pieces.allocate(op::kMaxChunkBytes - kGranule);
  ASSERT_TRUE(most);
  EXPECT_TRUE(pieces.allocate(kGranule));
  EXPECT_FALSE(pieces.allocate(kGranule));
  pieces.free(*most);
  EXPECT_EQ(pieces.largest_free_bytes(), op::kMaxChunkBytes - kGranule);
}

TEST(Suballocator, has_no_piece_for_more_than_the_chunk) {
  Suballocator pieces(8 * kGranule);
  EXPECT_FALSE(pieces.allocate(8 * kGranule + 1));
  EXPECT_FALSE(pieces.allocate(~std::uint64_t{0}));
  EXPECT_FALSE(pieces.may_fit(~std::uint64_t{0}));
}

TEST(Suballocator, joins_freed_neighbours_on_both_sides) {
  Suballocator pieces(3 * kGranule);
  const Piece a = *pieces.allocate(kGranule);
  const Piece b = *pieces.allocate(kGranule);
  const Piece c = *pieces.allocate(kGranule);
  pieces.free(a);
  pieces.free(c);
  EXPECT_EQ(pieces.free_pieces(), 2U);
  EXPECT_FALSE(pieces.allocate(2 * kGranule));
  pieces.free(b);
  EXPECT_EQ(pieces.free_pieces(), 1U);
  EXPECT_EQ(pieces.largest_free_bytes(), 3 * kGranule);
}

TEST(Suballocator, says_may_fit_whenever_allocate_finds_a_piece) {
  std::mt19937_64 random(11);
  Suballocator pieces(1000 * kGranule);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t size = 1 + random() % (40 * kGranule);
    const bool may_fit = pieces.may_fit(size);
    const auto piece = pieces.allocate(size);
    EXPECT_TRUE(may_fit || !piece);
    if (piece && random() % 3 == 0) pieces.free(*piece);
  }
  EXPECT_FALSE(pieces.may_fit(40 * kGranule));
}

TEST(Suballocator, dies_when_a_piece_is_freed_twice) {
  Suballocator pieces(8 * kGranule);
  const Piece piece = *pieces.allocate(1);
  pieces.free(piece);
  EXPECT_DEATH(pieces.free(piece), "a piece is freed once");
  const Piece again = *pieces.allocate(1);  // the same place, another piece
  EXPECT_EQ(again.offset_bytes, piece.offset_bytes);
  EXPECT_DEATH(pieces.free(piece), "a piece is freed once");
}

TEST(Suballocator, dies_for_sizes_that_are_none) {
  EXPECT_DEATH(Suballocator(0), "a whole number of granules");
  EXPECT_DEATH(Suballocator(kGranule + 1), "a whole number of granules");
  EXPECT_DEATH(Suballocator(8 * kGranule).allocate(0), "a piece has bytes");
}

/// Allocates and frees at random and compares with a map of what is used.
void live_randomly(std::uint64_t seed, std::uint64_t chunk_bytes, std::uint64_t most_bytes, int steps) {
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  Suballocator pieces(chunk_bytes);
  std::map<std::uint64_t, Piece> used;  // by offset
  std::uint64_t used_bytes = 0;
  for (int i = 0; i < steps; ++i) {
    if (random() % 16 < (i / 1000 % 2 == 0 ? 10U : 6U)) {  // fills up and empties by turns
      const std::uint64_t size = 1 + random() % (random() % 8 == 0 ? most_bytes : 8 * kGranule);
      const auto piece = pieces.allocate(size);
      if (!piece) {
        ASSERT_LT(chunk_bytes - used_bytes, chunk_bytes) << "an empty chunk has room";
        continue;
      }
      ASSERT_EQ(piece->offset_bytes % kGranule, 0U);
      ASSERT_EQ(piece->size_bytes, round_up(size, kGranule));
      const auto [place, fresh] = used.emplace(piece->offset_bytes, *piece);
      ASSERT_TRUE(fresh);
      if (place != used.begin()) {
        const Piece& before = std::prev(place)->second;
        ASSERT_LE(before.offset_bytes + before.size_bytes, piece->offset_bytes);
      }
      const std::uint64_t next = std::next(place) == used.end() ? chunk_bytes : std::next(place)->first;
      ASSERT_LE(piece->offset_bytes + piece->size_bytes, next);
      used_bytes += piece->size_bytes;
    } else if (!used.empty()) {
      auto place = used.lower_bound(random() % chunk_bytes);
      if (place == used.end()) place = used.begin();
      used_bytes -= place->second.size_bytes;
      pieces.free(place->second);
      used.erase(place);
    }
    ASSERT_EQ(pieces.used_bytes(), used_bytes);
  }
  for (const auto& [offset, piece] : used) pieces.free(piece);
  EXPECT_TRUE(pieces.empty());
  EXPECT_EQ(pieces.free_pieces(), 1U);
  EXPECT_EQ(pieces.largest_free_bytes(), chunk_bytes);
}

TEST(Suballocator, never_overlaps_and_always_becomes_one_piece_again) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    live_randomly(seed, (1000 + seed * 37) * kGranule, 100 * kGranule, 5000);
  live_randomly(21, std::uint64_t{64} << 20, std::uint64_t{4} << 20, 20000);
}

}  // namespace
}  // namespace troupe

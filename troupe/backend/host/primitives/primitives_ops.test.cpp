// Every size of the team and every layout: the same bits, also where blocks of the kernels meet, and those that the
// plain definitions give.
#include "troupe/backend/host/primitives/primitives_ops.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>

#include "troupe/backend/host/kernels/op_memory.test.hpp"
#include "troupe/backend/host/primitives/primitives_ranks.hpp"
#include "troupe/core/sanitized.hpp"

namespace troupe::host {
namespace {

using Bytes = std::vector<std::byte>;

const std::vector<DType> kKeys{DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8,  DType::u8,     DType::i16,
                               DType::u16, DType::i32, DType::u32, DType::i64,  DType::u64, DType::boolean};
/// Short, about as long as blocks of kernels, and long enough for a team; with a sanitizer that is less.
constexpr std::int64_t kMany = kSanitized ? 33'007 : 300'007;
const std::vector<std::int64_t> kCounts{0, 1, 2, 41, 255, 1023, 1025, 32768, kMany};

enum class Pattern : std::uint8_t { any_bits, few, equal, ascending, falling, last_digit, kLast = last_digit };

class PrimitivesOps : public testing::Test {
 protected:
  /// Keys of any bits, NaN and -0 among them, or in a pattern, as they lie side by side.
  Bytes some_keys(DType dtype, std::int64_t count, Pattern pattern) {
    const auto size = static_cast<std::size_t>(size_bytes(dtype));
    Bytes keys(static_cast<std::size_t>(count) * size);
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint64_t bits = random_();
      switch (pattern) {
        case Pattern::any_bits: break;
        case Pattern::few: bits = (bits % 5) << (8 * size - 4); break;
        case Pattern::equal: bits = 0x3a3a'3a3a'3a3a'3a3a; break;
        case Pattern::ascending: bits = static_cast<std::uint64_t>(i); break;
        case Pattern::falling: bits = static_cast<std::uint64_t>(count - i); break;
        case Pattern::last_digit: bits = bits % 256; break;
      }
      if (dtype == DType::boolean) bits %= 2;
      const std::array<std::uint64_t, 2> words{bits, ~bits};
      std::memcpy(keys.data() + static_cast<std::size_t>(i) * size, words.data(), size);
    }
    return keys;
  }
  /// A vector with those elements; `gap` 1 is side by side, and `shift` bytes from where it would be aligned.
  op::View place(DType dtype, const Bytes& elements, std::int64_t gap = 1, std::int64_t shift = 0) {
    const auto size = static_cast<std::size_t>(size_bytes(dtype));
    const auto count = static_cast<std::int64_t>(elements.size() / size);
    const op::View view = room(dtype, count, gap, shift);
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(memory_.here()(view).data + i * gap * static_cast<std::int64_t>(size),
                  elements.data() + static_cast<std::size_t>(i) * size, size);
    return view;
  }
  op::View room(DType dtype, std::int64_t count, std::int64_t gap = 1, std::int64_t shift = 0) {
    op::View view = memory_.place(dtype, {count + 1}, {gap});
    view.shape[0] = count;
    view.address += static_cast<std::uint64_t>(shift);
    return view;
  }
  Bytes bytes_of(const op::View& view) {
    const HostView here = memory_.here()(view);
    const std::int64_t size = size_bytes(view.dtype);
    Bytes bytes(static_cast<std::size_t>(view.shape[0] * size));
    for (std::int64_t i = 0; i < view.shape[0]; ++i)
      std::memcpy(bytes.data() + i * size, here.data + i * view.strides[0] * size, static_cast<std::size_t>(size));
    return bytes;
  }
  template <class T>
  std::vector<T> numbers_of(const op::View& view) {
    const Bytes bytes = bytes_of(view);
    std::vector<T> numbers(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  template <class Op>
  void run(const Op& op, Team& team) {
    const Result<void> done = run_op(op, memory_.here(team));
    EXPECT_TRUE(done);
  }

  Team& team_of(int size) {
    std::unique_ptr<Team>& team = teams_[size];
    if (team == nullptr) team = std::make_unique<Team>(size);
    return *team;
  }
  std::uint64_t random() { return random_(); }

  OpMemory memory_;

 private:
  std::mt19937_64 random_{test_seed()};
  std::map<int, std::unique_ptr<Team>> teams_;
};

/// Where keys come when they are sorted: equal ones in the order of their places. As std::stable_sort has it, which
/// clang finds deprecated inside.
std::vector<std::int64_t> sorted_places(DType dtype, const Bytes& keys, SortOrder order) {
  std::vector<std::int64_t> places;
  with_rank(dtype, order, [&](auto rank) {
    using Bits = typename decltype(rank)::Bits;
    const auto rank_at = [&](std::int64_t i) {
      return rank(load_bits<Bits>(keys.data() + i * static_cast<std::int64_t>(sizeof(Bits))));
    };
    places.resize(keys.size() / sizeof(Bits));
    std::iota(places.begin(), places.end(), 0);
    std::ranges::sort(places, {}, [&](std::int64_t i) { return std::pair(rank_at(i), i); });
  });
  return places;
}

Bytes taken(const Bytes& elements, std::size_t size, const std::vector<std::int64_t>& places) {
  Bytes all(places.size() * size);
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(all.data() + i * size, elements.data() + static_cast<std::size_t>(places[i]) * size, size);
  return all;
}

TEST_F(PrimitivesOps, sort_as_stable_sort_does_with_every_team) {
  for (const DType dtype : kKeys)
    for (const std::int64_t count : kCounts) {
      const auto pattern = static_cast<Pattern>(random() % 6);
      const SortOrder order = random() % 2 == 0 ? SortOrder::ascending : SortOrder::descending;
      const std::int64_t gap = random() % 3 == 0 ? 2 : 1;
      const std::int64_t shift = random() % 4 == 0 ? 1 : 0;
      SCOPED_TRACE(std::string(name(dtype)) + " pattern " + std::to_string(static_cast<int>(pattern)) + " count " +
                   std::to_string(count) + " gap " + std::to_string(gap) + " shift " + std::to_string(shift) + " " +
                   std::string(name(order)));
      const Bytes keys = some_keys(dtype, count, pattern);
      const auto places = sorted_places(dtype, keys, order);
      const auto size = static_cast<std::size_t>(size_bytes(dtype));
      const Bytes want = taken(keys, size, places);
      for (const int team : {1, 2, 3, 8}) {
        memory_.clear();
        const op::View in = place(dtype, keys, gap, shift);
        const op::View out = room(dtype, count, 1, shift);
        const op::View indices = room(count % 2 == 0 ? DType::i64 : DType::i32, count, gap, shift);
        run(op::PrimitivesSort{.order = order, .keys = in, .sorted = out, .values = {}, .moved = {}}, team_of(team));
        EXPECT_EQ(bytes_of(out), want) << team << " threads";
        run(op::PrimitivesArgSort{.order = order, .keys = in, .indices = indices}, team_of(team));
        if (indices.dtype == DType::i64)
          EXPECT_EQ(numbers_of<std::int64_t>(indices), places) << team << " threads";
        else
          EXPECT_TRUE(std::ranges::equal(numbers_of<std::int32_t>(indices), places)) << team << " threads";
        EXPECT_EQ(bytes_of(in), keys) << "what is read stays as it is";
        run(op::PrimitivesSort{.order = order, .keys = in, .sorted = in, .values = {}, .moved = {}}, team_of(team));
        EXPECT_EQ(bytes_of(in), want) << team << " threads, in place";
      }
    }
}

TEST_F(PrimitivesOps, move_values_of_every_size_with_their_keys) {
  for (const DType values_type : {DType::u8, DType::f16, DType::f32, DType::i64, DType::c128})
    for (const DType dtype : {DType::u8, DType::bf16, DType::i32, DType::f64})
      for (const std::int64_t count : {std::int64_t{17}, std::int64_t{5000}, kMany / 2}) {
        const Bytes keys = some_keys(dtype, count, count == 5000 ? Pattern::few : Pattern::any_bits);
        const Bytes values = some_keys(values_type, count, Pattern::any_bits);
        const auto places = sorted_places(dtype, keys, SortOrder::descending);
        for (const bool is_in_place : {false, true}) {
          memory_.clear();
          const op::View in = place(dtype, keys);
          const op::View with = place(values_type, values, is_in_place ? 1 : 3);
          const op::View sorted = is_in_place ? in : room(dtype, count);
          const op::View moved = is_in_place ? with : room(values_type, count);
          run(op::PrimitivesSort{.order = SortOrder::descending,
                                 .has_values = true,
                                 .keys = in,
                                 .sorted = sorted,
                                 .values = with,
                                 .moved = moved},
              team_of(3));
          EXPECT_EQ(bytes_of(sorted), taken(keys, static_cast<std::size_t>(size_bytes(dtype)), places));
          EXPECT_EQ(bytes_of(moved), taken(values, static_cast<std::size_t>(size_bytes(values_type)), places))
              << name(dtype) << " " << name(values_type) << " " << count;
        }
      }
}

TEST_F(PrimitivesOps, scan_to_the_same_bits_with_every_team_and_layout) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::i32, DType::u8})
    for (const std::int64_t count : {1, 1000, 1024, 32'769, 200'003})
      for (const bool exclusive : {false, true}) {
        Bytes in = some_keys(dtype, count, Pattern::any_bits);
        if (is_floating(dtype)) {
          GuardedArray numbers(dtype, {count});
          Random some;
          some.fill(numbers);
          in.assign(numbers.view().data, numbers.view().data + in.size());
        }
        Bytes want;
        for (const int team : {1, 2, 3, 8})
          for (const std::int64_t gap : {1, 2}) {
            memory_.clear();
            const op::View x = place(dtype, in, gap, team == 3 ? 1 : 0);
            const op::View y = gap == 2 ? x : room(dtype, count, 1, team == 2 ? 1 : 0);
            run(op::PrimitivesScan{.function = Combine::sum, .exclusive = exclusive, .x = x, .y = y}, team_of(team));
            if (want.empty()) want = bytes_of(y);
            EXPECT_EQ(bytes_of(y), want) << name(dtype) << " " << count << ", " << team << " threads, gap " << gap;
          }
        if (dtype != DType::i32) continue;
        std::uint32_t sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          std::uint32_t element = 0, made = 0;
          std::memcpy(&element, in.data() + 4 * i, 4);
          std::memcpy(&made, want.data() + 4 * i, 4);
          const std::uint32_t with = sum + element;
          ASSERT_EQ(made, exclusive ? sum : with) << i;
          sum = with;
        }
      }
}

TEST_F(PrimitivesOps, scan_rows_that_lie_across_each_other_as_each_by_itself) {
  constexpr std::int64_t kRows = 300, kLength = 517;
  const Bytes in = some_keys(DType::i32, kRows * kLength, Pattern::any_bits);
  for (const int team : {1, 3}) {
    memory_.clear();
    op::View x = place(DType::i32, in);
    op::View y = room(DType::i64, kRows * kLength);
    const op::View rows = place(DType::i32, in);
    const op::View expected = room(DType::i64, kRows * kLength);
    x.shape = y.shape = Shape{kRows, kLength};
    x.strides = y.strides = Strides{1, kRows};
    run(op::PrimitivesScan{.function = Combine::sum, .exclusive = team == 3, .x = x, .y = y}, team_of(team));
    for (std::int64_t row = 0; row < kRows; ++row) {
      op::View from = rows, to = expected;
      from.address += static_cast<std::uint64_t>(4 * row);
      to.address += static_cast<std::uint64_t>(8 * row);
      from.shape = to.shape = Shape{kLength};
      from.strides = to.strides = Strides{kRows};
      run(op::PrimitivesScan{.function = Combine::sum, .exclusive = team == 3, .x = from, .y = to}, team_of(1));
    }
    y.shape = Shape{kRows * kLength};
    y.strides = Strides{1};
    EXPECT_EQ(bytes_of(y), bytes_of(expected)) << team << " threads";
  }
}

TEST_F(PrimitivesOps, find_the_best_where_parts_of_a_row_meet) {
  for (const DType dtype : kKeys)
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1025}, kMany})
      for (const bool greatest : {false, true}) {
        const Bytes keys = some_keys(dtype, count, count == 1025 ? Pattern::few : Pattern::any_bits);
        const auto size = static_cast<std::size_t>(size_bytes(dtype));
        const auto places = sorted_places(dtype, keys, greatest ? SortOrder::descending : SortOrder::ascending);
        for (const std::int64_t k : {std::int64_t{1}, std::min<std::int64_t>(count, 100), count})
          for (const int team : {1, 3}) {
            memory_.clear();
            const op::View in = place(dtype, keys);
            const op::View best = room(dtype, k, 2);
            const op::View indices = room(DType::i64, k);
            run(op::PrimitivesTopK{.greatest = greatest, .keys = in, .best = best, .indices = indices}, team_of(team));
            const std::vector<std::int64_t> want(places.begin(), places.begin() + k);
            EXPECT_EQ(numbers_of<std::int64_t>(indices), want) << name(dtype) << " " << count << " " << k;
            EXPECT_EQ(bytes_of(best), taken(keys, size, want));
          }
      }
}

TEST_F(PrimitivesOps, choose_elements_where_parts_meet) {
  for (const std::int64_t count : {0, 1, 511, 513, 100'003})
    for (const int team : {1, 2, 8}) {
      memory_.clear();
      const Bytes flags = some_keys(DType::boolean, count, Pattern::any_bits);
      const Bytes elements = some_keys(DType::u32, count, Pattern::any_bits);
      std::vector<std::int64_t> chosen, rest;
      for (std::int64_t i = 0; i < count; ++i)
        (flags[static_cast<std::size_t>(i)] != std::byte{0} ? chosen : rest).push_back(i);
      const op::View x = place(DType::u32, elements);
      const op::View y = room(DType::u32, count);
      const op::View number = room(DType::i64, 1);
      run(
          op::PrimitivesSelect{
              .keeps_rest = true, .flags = place(DType::boolean, flags, 3), .x = x, .y = y, .count = number},
          team_of(team));
      EXPECT_EQ(numbers_of<std::int64_t>(number)[0], std::ssize(chosen));
      chosen.insert(chosen.end(), rest.begin(), rest.end());
      EXPECT_EQ(bytes_of(y), taken(elements, 4, chosen));
    }
}

TEST_F(PrimitivesOps, find_runs_where_parts_meet) {
  for (const std::int64_t count : {1, 511, 200'003})
    for (const int team : {1, 2, 8}) {
      memory_.clear();
      std::vector<float> numbers(static_cast<std::size_t>(count));
      for (float& number : numbers) number = random() % 1000 == 0 ? 1.0F : random() % 2 == 0 ? 0.0F : -0.0F;
      Bytes in(numbers.size() * 4);
      std::memcpy(in.data(), numbers.data(), in.size());
      std::vector<std::int64_t> lengths;
      std::vector<std::int64_t> firsts;
      for (std::size_t i = 0; i < numbers.size(); ++i)
        if (i == 0 || numbers[i] != numbers[i - 1]) {
          firsts.push_back(static_cast<std::int64_t>(i));
          lengths.push_back(1);
        } else {
          ++lengths.back();
        }
      const op::View y = room(DType::f32, count);
      const op::View made = room(DType::i64, count);
      const op::View number = room(DType::i64, 1);
      run(
          op::PrimitivesUnique{
              .has_lengths = true, .x = place(DType::f32, in), .y = y, .lengths = made, .count = number},
          team_of(team));
      ASSERT_EQ(numbers_of<std::int64_t>(number)[0], std::ssize(firsts));
      auto all = numbers_of<std::int64_t>(made);
      all.resize(lengths.size());
      EXPECT_EQ(all, lengths);
      Bytes starts = bytes_of(y);
      starts.resize(firsts.size() * 4);
      EXPECT_EQ(starts, taken(in, 4, firsts));
    }
}

TEST_F(PrimitivesOps, find_the_same_places_among_few_and_many_elements) {
  for (const DType dtype : {DType::f32, DType::i64, DType::bf16})
    for (const std::int64_t count : {0, 1, 777, 40'000})
      for (const bool after_equal : {false, true}) {
        memory_.clear();
        const auto size = static_cast<std::size_t>(size_bytes(dtype));
        const Bytes any = some_keys(dtype, count, Pattern::any_bits);
        const Bytes sorted = taken(any, size, sorted_places(dtype, any, SortOrder::ascending));
        const Bytes keys = some_keys(dtype, 1003, Pattern::any_bits);
        const op::View places = room(DType::i32, 1003);
        run(op::PrimitivesSearch{.after_equal = after_equal,
                                 .sorted = place(dtype, sorted, count == 777 ? 2 : 1),
                                 .keys = place(dtype, keys),
                                 .places = places},
            team_of(3));
        std::vector<std::int32_t> want;
        with_rank(dtype, SortOrder::ascending, [&](auto rank) {
          using Bits = typename decltype(rank)::Bits;
          const auto ranks_of = [&](const Bytes& all) {
            std::vector<Bits> ranks(all.size() / size);
            for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = rank(load_bits<Bits>(all.data() + i * size));
            return ranks;
          };
          const std::vector<Bits> among = ranks_of(sorted);
          for (const Bits key : ranks_of(keys)) {
            const auto found =
                after_equal ? std::ranges::upper_bound(among, key) : std::ranges::lower_bound(among, key);
            want.push_back(static_cast<std::int32_t>(found - among.begin()));
          }
        });
        EXPECT_EQ(numbers_of<std::int32_t>(places), want) << name(dtype) << " among " << count;
      }
}

TEST_F(PrimitivesOps, make_sets_where_parts_meet) {
  for (const std::int64_t count : {0, 3, 1000, 200'003})
    for (const std::int64_t values : {3, 100'000}) {
      const auto ascending = [&](std::int64_t number) {
        std::vector<std::int32_t> keys(static_cast<std::size_t>(number));
        for (std::int32_t& key : keys) key = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(values));
        std::ranges::sort(keys);
        return keys;
      };
      const auto a = ascending(count), b = ascending(count * 2 / 3);
      const auto place_keys = [&](const std::vector<std::int32_t>& keys) {
        Bytes bytes(keys.size() * 4);
        if (!keys.empty()) std::memcpy(bytes.data(), keys.data(), bytes.size());
        return place(DType::i32, bytes);
      };
      for (const auto operation : {SetOperation::unite, SetOperation::intersect, SetOperation::difference,
                                   SetOperation::symmetric_difference}) {
        std::vector<std::int32_t> want;
        auto to = std::back_inserter(want);
        switch (operation) {
          case SetOperation::unite: std::ranges::set_union(a, b, to); break;
          case SetOperation::intersect: std::ranges::set_intersection(a, b, to); break;
          case SetOperation::difference: std::ranges::set_difference(a, b, to); break;
          case SetOperation::symmetric_difference: std::ranges::set_symmetric_difference(a, b, to); break;
        }
        for (const int team : {1, 2, 8}) {
          memory_.clear();
          const op::View y = room(DType::i32, op::room_for(operation, std::ssize(a), std::ssize(b)));
          const op::View number = room(DType::i64, 1);
          run(op::PrimitivesSets{.operation = operation,
                                 .a = place_keys(a),
                                 .b = place_keys(b),
                                 .y = y,
                                 .count = number,
                                 .verdict = room(DType::i32, op::kPrimitivesVerdictWords)},
              team_of(team));
          ASSERT_EQ(numbers_of<std::int64_t>(number)[0], std::ssize(want)) << name(operation) << " " << count;
          auto made = numbers_of<std::int32_t>(y);
          made.resize(want.size());
          EXPECT_EQ(made, want) << name(operation) << " " << count;
        }
      }
    }
}

TEST_F(PrimitivesOps, scatter_in_the_order_of_the_elements_with_every_team) {
  constexpr std::int64_t kCount = 200'003, kPlaces = 1000;
  std::vector<std::int32_t> indices(kCount);
  for (auto& index : indices) index = static_cast<std::int32_t>(random() % kPlaces);
  Bytes index_bytes(indices.size() * 4);
  std::memcpy(index_bytes.data(), indices.data(), index_bytes.size());
  GuardedArray numbers(DType::f32, {kCount});
  Random some;
  some.fill(numbers);
  const Bytes in(numbers.view().data, numbers.view().data + kCount * 4);
  for (const Duplicates rule : {Duplicates::last, Duplicates::add, Duplicates::min}) {
    Bytes want(kPlaces * 4);
    for (std::int64_t i = 0; i < kCount; ++i) {
      float element = 0, before = 0;
      std::byte* const to = want.data() + 4 * indices[static_cast<std::size_t>(i)];
      std::memcpy(&element, in.data() + 4 * i, 4);
      std::memcpy(&before, to, 4);
      if (rule == Duplicates::add) element += before;
      if (rule == Duplicates::min) element = std::min(element, before);
      std::memcpy(to, &element, 4);
    }
    for (const int team : {1, 2, 3, 8}) {
      memory_.clear();
      const op::View y = place(DType::f32, Bytes(kPlaces * 4));
      run(op::PrimitivesScatter{.rule = rule,
                                .x = place(DType::f32, in),
                                .indices = place(DType::i32, index_bytes),
                                .y = y,
                                .verdict = room(DType::i32, op::kPrimitivesVerdictWords)},
          team_of(team));
      EXPECT_EQ(bytes_of(y), want) << name(rule) << ", " << team << " threads";
    }
  }
}

}  // namespace
}  // namespace troupe::host

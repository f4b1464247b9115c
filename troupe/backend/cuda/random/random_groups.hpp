// What a thread of the random kernels does: it takes a group of positions that share a block of bits, and writes their
// elements, at once where they lie side by side. Plain functions of the target and the group's number, so that tests
// without a GPU run the same code.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_arguments.hpp"
#include "troupe/core/element.hpp"
#include "troupe/op/random_functions.hpp"

namespace troupe::cuda {

/// The elements from `position` on, in row-major order.
struct RandomTarget {
  random::Source source;
  unsigned long long position;
  long long first_group;  // of those that this launch takes, counted from the one that has the first position
  long long groups;
  const unsigned* bits;  // of the groups of this launch, where the engine is not by counter: made before
  void* out;
  bool is_aligned;  // its elements lie side by side, and those of a whole group can be written in one access
  Layout layout;
};

/// What the kernels are told beside it.
struct NoNumbers {};
struct IntegerNumbers {
  unsigned long long low;
  unsigned long long range;  // 0 stands for 2^64
};
struct TableNumbers {
  const unsigned long long* table;
  long long outcomes;
  long long row_stride;
  long long column_stride;
};
struct UniformArguments {
  double low;
  double width;
  double top;
  double step;
  int shift;
  bool is_unit;  // from 0 to 1: nothing to do to u
};
struct TwoNumbers {
  double first;
  double second;
};

/// How many positions a thread of the kernel takes.
inline constexpr int kWordGroup = 4;
inline constexpr int kNumberGroup = 2;

/// How many groups hold `count` positions.
constexpr long long groups_of(unsigned long long position, long long count, int in_group) {
  const auto size = static_cast<unsigned long long>(in_group);
  if (count == 0) return 0;
  const unsigned long long last = position + static_cast<unsigned long long>(count - 1);
  return static_cast<long long>(last / size - position / size + 1);
}

/// Where element `index` lies, in elements.
TROUPE_EVERYWHERE inline long long place_of(const Layout& layout, long long index) {
  if (layout.rank == 0) return index;
  long long place = 0;
  for (int i = layout.rank - 1; i >= 0; --i) {
    const long long rest = index / layout.shape[i];
    place += (index - rest * layout.shape[i]) * layout.strides_a[i];
    index = rest;
  }
  return place;
}

/// Elements that are written in one access.
template <class T, int n>
struct alignas(sizeof(T) * n) Together {
  T items[n];
};

/// Those of positions from `first` on, as far as they belong to the target.
template <class T, int n>
TROUPE_EVERYWHERE void store_positions(const RandomTarget& target, unsigned long long first,
                                       const Together<T, n>& elements) {
  const auto index = static_cast<long long>(first - target.position);  // below 0 in front of the target
  T* const out = static_cast<T*>(target.out);
  const long long count = target.layout.count;
  if (target.is_aligned && index >= 0 && index + n <= count) {
    *reinterpret_cast<Together<T, n>*>(out + index) = elements;
    return;
  }
  for (int i = 0; i < n; ++i)
    if (index + i >= 0 && index + i < count) out[place_of(target.layout, index + i)] = elements.items[i];
}

/// The bits of a group that is a block: by the counter, or as an engine has made them.
TROUPE_EVERYWHERE inline random::Block block_of(const RandomTarget& target, long long group, unsigned long long index,
                                                random::Space space) {
  if (target.bits == nullptr) return random::philox(target.source, index, space);
  return reinterpret_cast<const random::Block*>(target.bits)[group];
}
/// The group's number among all of the target.
TROUPE_EVERYWHERE inline unsigned long long number_in_all(const RandomTarget& target, long long group, int in_group) {
  return target.position / static_cast<unsigned>(in_group) +
         static_cast<unsigned long long>(target.first_group + group);
}
/// The numbers of its own of a position that has these bits.
TROUPE_EVERYWHERE inline random::OwnNumbers own_numbers(const RandomTarget& target, unsigned long long position,
                                                        std::uint64_t bits) {
  return {random::own_source(target.source, bits), position};
}

/// `make(block, first position)` gives four elements.
template <class T, class Make>
TROUPE_EVERYWHERE void make_by_words(const RandomTarget& target, long long group, const Make& make) {
  const unsigned long long block = number_in_all(target, group, kWordGroup);
  Together<T, kWordGroup> elements;
  make(block_of(target, group, block, random::kWords), block * kWordGroup, elements.items);
  store_positions(target, block * kWordGroup, elements);
}
/// The same with two.
template <class T, class Make>
TROUPE_EVERYWHERE void make_by_numbers(const RandomTarget& target, long long group, const Make& make) {
  const unsigned long long block = number_in_all(target, group, kNumberGroup);
  Together<T, kNumberGroup> elements;
  make(block_of(target, group, block, random::kNumbers), block * kNumberGroup, elements.items);
  store_positions(target, block * kNumberGroup, elements);
}
/// `make(numbers)` gives one element of its own numbers.
template <class T, class Make>
TROUPE_EVERYWHERE void make_by_own(const RandomTarget& target, long long group, const Make& make) {
  const unsigned long long position = number_in_all(target, group, 1);
  const std::uint64_t bits =
      target.bits == nullptr ? 0 : reinterpret_cast<const unsigned long long*>(target.bits)[group];
  T* const out = static_cast<T*>(target.out);
  out[place_of(target.layout, target.first_group + group)] = convert<T>(make(own_numbers(target, position, bits)));
}

/// `make(first, second)` gives two elements of two numbers of 64 bits, or of two words that stand for them.
template <class T, class Make>
TROUPE_EVERYWHERE void make_by_pairs(const RandomTarget& target, long long group, const Make& make) {
  if constexpr (std::is_same_v<T, double>) {
    make_by_numbers<T>(target, group, [&](const random::Block& block, unsigned long long, T* to) {
      make(random::number_of(block, 0), random::number_of(block, 1), to);
    });
  } else {
    make_by_words<T>(target, group, [&](const random::Block& block, unsigned long long, T* to) {
      double wide[2];
      for (int i = 0; i < kWordGroup; i += 2) {
        make(random::widened(block.words[i]), random::widened(block.words[i + 1]), wide);
        to[i] = convert<T>(wide[0]);
        to[i + 1] = convert<T>(wide[1]);
      }
    });
  }
}

// ---- the kernels ----

template <class T>
TROUPE_EVERYWHERE void bits_group(const RandomTarget& target, const NoNumbers&, long long group) {
  if constexpr (sizeof(T) == 8)
    make_by_numbers<T>(target, group, [](const random::Block& block, unsigned long long, T* to) {
      for (unsigned i = 0; i < kNumberGroup; ++i) to[i] = random::number_of(block, i);
    });
  else
    make_by_words<T>(target, group, [](const random::Block& block, unsigned long long, T* to) {
      for (int i = 0; i < kWordGroup; ++i) to[i] = block.words[i];
    });
}

/// For ranges below 2^32.
template <class T>
TROUPE_EVERYWHERE void integers_group(const RandomTarget& target, const IntegerNumbers& of, long long group) {
  make_by_words<T>(target, group, [&](const random::Block& block, unsigned long long first, T* to) {
    for (unsigned i = 0; i < kWordGroup; ++i)
      to[i] = static_cast<T>(of.low + random::below(static_cast<std::uint32_t>(of.range), block.words[i],
                                                    own_numbers(target, first + i, block.words[i])));
  });
}
/// For the others.
template <class T>
TROUPE_EVERYWHERE void wide_integers_group(const RandomTarget& target, const IntegerNumbers& of, long long group) {
  make_by_numbers<T>(target, group, [&](const random::Block& block, unsigned long long first, T* to) {
    for (unsigned i = 0; i < kNumberGroup; ++i) {
      const std::uint64_t number = random::number_of(block, i);
      random::OwnNumbers own = own_numbers(target, first + i, number);
      to[i] = static_cast<T>(of.low + (of.range == 0 ? number : random::below(std::uint64_t{of.range}, number, own)));
    }
  });
}

template <class T>
TROUPE_EVERYWHERE void discrete_group(const RandomTarget& target, const TableNumbers& of, long long group) {
  make_by_own<T>(target, group, [&](const random::OwnNumbers& own) {
    const random::Pick pick = random::pick(static_cast<std::uint64_t>(of.outcomes), own);
    const unsigned long long* const row = of.table + static_cast<long long>(pick.place) * of.row_stride;
    return static_cast<T>(pick.bits < row[0] ? pick.place : row[of.column_stride]);
  });
}

template <class T>
TROUPE_EVERYWHERE void permutation_group(const RandomTarget& target, const random::Permutation& of, long long group) {
  T* const out = static_cast<T*>(target.out);
  out[place_of(target.layout, group)] = static_cast<T>(of(static_cast<std::uint64_t>(group)));
}

template <class T>
TROUPE_EVERYWHERE void uniform_group(const RandomTarget& target, const UniformArguments& of, long long group) {
  if constexpr (std::is_same_v<T, double>) {
    make_by_numbers<T>(target, group, [&](const random::Block& block, unsigned long long, T* to) {
      for (unsigned i = 0; i < kNumberGroup; ++i)
        to[i] = random::between(of.low, of.width, of.top,
                                random::times(random::to_double(random::number_of(block, i) >> 11), 0x1p-53));
    });
  } else {
    make_by_words<T>(target, group, [&](const random::Block& block, unsigned long long, T* to) {
      for (int i = 0; i < kWordGroup; ++i) {
        const auto whole = static_cast<float>(static_cast<std::int32_t>(block.words[i] >> of.shift));
        const float u = random::times(whole, static_cast<float>(of.step));
        to[i] = convert<T>(of.is_unit ? u
                                      : random::between(static_cast<float>(of.low), static_cast<float>(of.width),
                                                        static_cast<float>(of.top), u));
      }
    });
  }
}

template <class T>
TROUPE_EVERYWHERE void normal_group(const RandomTarget& target, const TwoNumbers& of, long long group) {
  if constexpr (std::is_same_v<T, double>) {
    make_by_pairs<T>(target, group, [&](std::uint64_t first, std::uint64_t second, double* to) {
      const auto pair = random::normal_pair(first, second);
      to[0] = random::scaled(of.first, of.second, pair.cosine);
      to[1] = random::scaled(of.first, of.second, pair.sine);
    });
  } else {
    make_by_words<T>(target, group, [&](const random::Block& block, unsigned long long, T* to) {
      const auto mean = static_cast<float>(of.first);
      const auto stddev = static_cast<float>(of.second);
      for (int i = 0; i < kWordGroup; i += 2) {
        const auto pair = random::normal_pair(block.words[i], block.words[i + 1]);
        to[i] = convert<T>(random::scaled(mean, stddev, pair.cosine));
        to[i + 1] = convert<T>(random::scaled(mean, stddev, pair.sine));
      }
    });
  }
}
template <class T>
TROUPE_EVERYWHERE void log_normal_group(const RandomTarget& target, const TwoNumbers& of, long long group) {
  make_by_pairs<T>(target, group, [&](std::uint64_t first, std::uint64_t second, double* to) {
    const auto pair = random::normal_pair(first, second);
    to[0] = random::exp(random::scaled(of.first, of.second, pair.cosine));
    to[1] = random::exp(random::scaled(of.first, of.second, pair.sine));
  });
}
template <class T>
TROUPE_EVERYWHERE void point_normal_group(const RandomTarget& target, const TwoNumbers& of, long long group) {
  make_by_pairs<T>(target, group, [&](std::uint64_t first, std::uint64_t second, double* to) {
    to[0] = random::point_normal(of.first, of.second, first);
    to[1] = random::point_normal(of.first, of.second, second);
  });
}
template <class T>
TROUPE_EVERYWHERE void point_log_normal_group(const RandomTarget& target, const TwoNumbers& of, long long group) {
  make_by_pairs<T>(target, group, [&](std::uint64_t first, std::uint64_t second, double* to) {
    to[0] = random::exp(random::point_normal(of.first, of.second, first));
    to[1] = random::exp(random::point_normal(of.first, of.second, second));
  });
}
template <class T>
TROUPE_EVERYWHERE void exponential_group(const RandomTarget& target, const TwoNumbers& of, long long group) {
  make_by_pairs<T>(target, group, [&](std::uint64_t first, std::uint64_t second, double* to) {
    to[0] = random::exponential(of.first, first);
    to[1] = random::exponential(of.first, second);
  });
}
template <class T>
TROUPE_EVERYWHERE void cauchy_group(const RandomTarget& target, const TwoNumbers& of, long long group) {
  make_by_pairs<T>(target, group, [&](std::uint64_t first, std::uint64_t second, double* to) {
    to[0] = random::cauchy(of.first, of.second, first);
    to[1] = random::cauchy(of.first, of.second, second);
  });
}

template <class T>
TROUPE_EVERYWHERE void bernoulli_group(const RandomTarget& target, const random::Chance& of, long long group) {
  make_by_words<T>(target, group, [&](const random::Block& block, unsigned long long first, T* to) {
    for (unsigned i = 0; i < kWordGroup; ++i)
      to[i] = random::happens(of, block.words[i], own_numbers(target, first + i, block.words[i]));
  });
}
template <class T>
TROUPE_EVERYWHERE void poisson_group(const RandomTarget& target, const random::PoissonNumbers& of, long long group) {
  make_by_own<T>(target, group, [&](const random::OwnNumbers& own) { return random::poisson(of, own); });
}
template <class T>
TROUPE_EVERYWHERE void gamma_group(const RandomTarget& target, const TwoNumbers& of, long long group) {
  make_by_own<T>(target, group, [&](const random::OwnNumbers& own) { return random::gamma(of.first, of.second, own); });
}
template <class T>
TROUPE_EVERYWHERE void beta_group(const RandomTarget& target, const TwoNumbers& of, long long group) {
  make_by_own<T>(target, group, [&](const random::OwnNumbers& own) { return random::beta(of.first, of.second, own); });
}

/// Calls `KERNEL(name, type, T, numbers)` for every kernel; its name is `troupe_<name>_<type>`.
#define TROUPE_RANDOM_FLOATS(KERNEL, name, numbers) \
  KERNEL(name, f16, f16, numbers)                   \
  KERNEL(name, bf16, bf16, numbers)                 \
  KERNEL(name, f32, float, numbers)                 \
  KERNEL(name, f64, double, numbers)
#define TROUPE_RANDOM_COUNTS(KERNEL, name, numbers) \
  KERNEL(name, i32, std::int32_t, numbers)          \
  KERNEL(name, u32, std::uint32_t, numbers)         \
  KERNEL(name, i64, std::int64_t, numbers)          \
  KERNEL(name, u64, std::uint64_t, numbers)
#define TROUPE_RANDOM_KERNELS(KERNEL)                            \
  KERNEL(bits, u32, std::uint32_t, NoNumbers)                    \
  KERNEL(bits, u64, std::uint64_t, NoNumbers)                    \
  KERNEL(integers, i8, std::int8_t, IntegerNumbers)              \
  KERNEL(integers, u8, std::uint8_t, IntegerNumbers)             \
  KERNEL(integers, i16, std::int16_t, IntegerNumbers)            \
  KERNEL(integers, u16, std::uint16_t, IntegerNumbers)           \
  TROUPE_RANDOM_COUNTS(KERNEL, integers, IntegerNumbers)         \
  TROUPE_RANDOM_COUNTS(KERNEL, wide_integers, IntegerNumbers)    \
  TROUPE_RANDOM_COUNTS(KERNEL, discrete, TableNumbers)           \
  TROUPE_RANDOM_COUNTS(KERNEL, permutation, random::Permutation) \
  TROUPE_RANDOM_FLOATS(KERNEL, uniform, UniformArguments)        \
  TROUPE_RANDOM_FLOATS(KERNEL, normal, TwoNumbers)               \
  TROUPE_RANDOM_FLOATS(KERNEL, log_normal, TwoNumbers)           \
  TROUPE_RANDOM_FLOATS(KERNEL, point_normal, TwoNumbers)         \
  TROUPE_RANDOM_FLOATS(KERNEL, point_log_normal, TwoNumbers)     \
  TROUPE_RANDOM_FLOATS(KERNEL, exponential, TwoNumbers)          \
  TROUPE_RANDOM_FLOATS(KERNEL, cauchy, TwoNumbers)               \
  TROUPE_RANDOM_FLOATS(KERNEL, gamma, TwoNumbers)                \
  TROUPE_RANDOM_FLOATS(KERNEL, beta, TwoNumbers)                 \
  KERNEL(bernoulli, u8, std::uint8_t, random::Chance)            \
  TROUPE_RANDOM_COUNTS(KERNEL, poisson, random::PoissonNumbers)

}  // namespace troupe::cuda

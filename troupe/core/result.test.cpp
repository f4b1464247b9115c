#include "troupe/core/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <set>

namespace troupe {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorKind::invalid_argument, "odd");
  return number / 2;
}

Result<int> quarter(int number) { return TROUPE_TRY(half(TROUPE_TRY(half(number)))); }

Result<void> check(int number) {
  (void)TROUPE_TRY(half(number));
  return {};
}

Result<std::unique_ptr<int>> boxed(int number) { return std::make_unique<int>(TROUPE_TRY(half(number))); }

template <class Thrown>
Error error_of(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return detail::current_exception_as_error();
  }
}

}  // namespace

TEST(Result, try_gives_the_value_or_returns_the_error) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(quarter(6).error().message(), "odd");
  EXPECT_TRUE(check(2).has_value());
  EXPECT_FALSE(check(3).has_value());
}

TEST(Result, try_carries_move_only_values) {
  const auto take = [](int number) -> Result<int> { return *TROUPE_TRY(boxed(number)); };
  EXPECT_EQ(take(4).value(), 2);
}

TEST(Result, value_throws_the_error_as_an_exception) {
  EXPECT_EQ(value(half(4)), 2);
  try {
    (void)value(half(3));
    FAIL() << "value() of an error must throw";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().kind(), ErrorKind::invalid_argument);
    EXPECT_STREQ(exception.what(), "invalid_argument: odd");
  }
}

TEST(Result, never_nests) {
  static_assert(std::is_same_v<detail::flat_result_t<int>, Result<int>>);
  static_assert(std::is_same_v<detail::flat_result_t<Result<int>>, Result<int>>);
  static_assert(std::is_same_v<detail::flat_result_t<void>, Result<void>>);
}

TEST(Error, every_kind_has_its_own_name_and_a_sentence) {
  std::set<std::string_view> names;
  for (int kind = 0; kind < kErrorKinds; ++kind) {
    const Error error(static_cast<ErrorKind>(kind));
    EXPECT_FALSE(error.message().empty());
    names.insert(name(error.kind()));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kErrorKinds));
  EXPECT_EQ(name(ErrorKind::invalid_argument), "invalid_argument");
  EXPECT_EQ(name(ErrorKind::internal), "internal");
}

TEST(Error, prints_only_the_origin_it_knows) {
  EXPECT_EQ(Error(ErrorKind::timeout).to_string(), "timeout: no answer came in time");
  const Error error(ErrorKind::library_error, "bad handle",
                    {.library = "cublas", .native_code = 1, .op = "gemm", .device = 0, .generation = 3});
  EXPECT_EQ(error.to_string(), "library_error: bad handle [library cublas, code 1, op gemm, device 0, generation 3]");
  const Error crash(ErrorKind::worker_crashed, "SIGSEGV\n  #0 main, worker+0x12", ErrorOrigin{.device = 0});
  EXPECT_EQ(crash.to_string(), "worker_crashed: SIGSEGV [device 0]\n  #0 main, worker+0x12");
}

TEST(Error, copies_share_their_text) {
  const Error error(ErrorKind::internal, "a sentence long enough to live on the heap, surely");
  const Error copy = error;  // NOLINT(performance-unnecessary-copy-initialization): it is what is tested
  EXPECT_EQ(copy.message().data(), error.message().data());
}

TEST(Error, is_made_from_whatever_was_thrown) {
  EXPECT_EQ(error_of(Exception(Error(ErrorKind::device_lost))).kind(), ErrorKind::device_lost);
  EXPECT_EQ(error_of(std::bad_alloc()).kind(), ErrorKind::out_of_memory);
  EXPECT_EQ(error_of(std::runtime_error("boom")).message(), "boom");
  EXPECT_EQ(error_of(42).kind(), ErrorKind::internal);
  EXPECT_EQ(error_of(42).message(), "an exception that is not a std::exception");
}

}  // namespace troupe

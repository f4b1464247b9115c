#include "troupe/backend/cuda/function_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace troupe::cuda {
namespace {

Library open(std::string_view file) { return value(Library::open({file}, Places{})); }

#define TROUPE_COSINE cos  // as headers do it
struct Table {
  double (*TROUPE_COSINE)(double) = nullptr;
};

TEST(FunctionFinder, fills_a_table_by_the_names_that_macros_stand_for) {
  const Library library = open("libm.so.6");
  Table table;
  FunctionFinder finder(library);
  TROUPE_FIND_FUNCTION(TROUPE_COSINE)
  ASSERT_TRUE(finder.status());
  EXPECT_EQ(table.cos(0.0), 1.0);
}
#undef TROUPE_COSINE

TEST(FunctionFinder, looks_into_another_library_too) {
  const Library library = open("libc.so.6");
  const Library other = open("libm.so.6");
  FunctionFinder finder(library, other);
  double (*function)(double) = nullptr;
  finder.find(function, "cos");
  ASSERT_TRUE(finder.status());
  EXPECT_EQ(function(0.0), 1.0);
  finder.find(function, "no_such_function");
  finder.find(function, "nor_this_one");
  ASSERT_FALSE(finder.status());
}

TEST(FunctionFinder, names_all_that_a_library_lacks) {
  const Library library = open("libm.so.6");
  FunctionFinder finder(library);
  void (*function)() = nullptr;
  finder.find(function, "no_such_function");
  EXPECT_EQ(function, nullptr);
  finder.find(function, "cos");
  EXPECT_NE(function, nullptr);
  finder.find(function, "nor_this_one");
  const Result<void> status = finder.status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind(), ErrorKind::unsupported);
  EXPECT_EQ(status.error().message(), "libm.so.6 is too old: it lacks no_such_function, nor_this_one");
}

int attempts = 0;
Result<std::string> open_at_the_second_attempt() {
  if (++attempts == 1) return fail(ErrorKind::out_of_memory, "not now");
  return "open";
}

TEST(OpenedOnce, tries_again_until_it_is_open) {
  attempts = 0;
  const auto first = opened_once<open_at_the_second_attempt>();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind(), ErrorKind::out_of_memory);
  const std::string* const opened = value(opened_once<open_at_the_second_attempt>());
  EXPECT_EQ(*opened, "open");
  EXPECT_EQ(value(opened_once<open_at_the_second_attempt>()), opened);
  EXPECT_EQ(attempts, 2);
}

}  // namespace
}  // namespace troupe::cuda

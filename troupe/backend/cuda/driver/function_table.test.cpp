#include "troupe/backend/cuda/driver/function_table.hpp"

#include <ctype.h>  // NOLINT(modernize-deprecated-headers): as libraries declare their functions, at global scope
#include <gtest/gtest.h>
#include <math.h>  // NOLINT(modernize-deprecated-headers)

#include <string>

extern "C" {
double no_such_function(double number);
int nor_this_one(int number);
}

namespace troupe::cuda {
namespace {

// The C library in the place of a vendor's.
constexpr VendorDeclaration kMath{.name = "Math",
                                  .files = {"libm.so.6"},
                                  .versions = {.oldest = {1, 0}, .newest_major = 2},
                                  .version_symbol = "cos",
                                  .read_version = [](void*) { return std::optional(Version{1, 4, 2}); },
                                  .install = "a C library"};
constexpr std::array kExampleCodes{StatusCode{3, "OUT_OF_PAPER", ErrorKind::out_of_memory},
                                   StatusCode{4, "NO_PENCIL", ErrorKind::unsupported}};

#define TROUPE_BESSEL j0  // as headers do it
#define TROUPE_MATH_FUNCTIONS(required, optional) required(TROUPE_BESSEL) required(j1) optional(no_such_function)
TROUPE_FUNCTION_TABLE(MathTable, kMath, int, kExampleCodes, TROUPE_MATH_FUNCTIONS)

#define TROUPE_LACKING_FUNCTIONS(required, optional) required(no_such_function) required(j1) required(nor_this_one)
TROUPE_FUNCTION_TABLE(LackingTable, kMath, int, kExampleCodes, TROUPE_LACKING_FUNCTIONS)

TEST(FunctionTable, is_filled_by_the_names_that_macros_stand_for) {
  const auto table = value(open_table_from<MathTable>(SearchPaths{}));
  EXPECT_EQ(table.j0(0.0), 1.0);
  EXPECT_EQ(std::string(table.j0.name()), "j0");
  EXPECT_TRUE(table.j1);
  EXPECT_NE(table.file.find("/libm.so"), std::string::npos) << table.file;
}

TEST(FunctionTable, has_null_for_optional_functions_that_the_library_lacks) {
  EXPECT_FALSE(value(open_table_from<MathTable>(SearchPaths{})).no_such_function);
}

TEST(FunctionTable, refuses_a_library_and_names_what_it_lacks) {
  const Result<LackingTable> lacking = open_table_from<LackingTable>(SearchPaths{});
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().kind(), ErrorKind::unsupported);
  EXPECT_NE(lacking.error().message().find("lacks no_such_function, nor_this_one; Troupe needs"),
            std::string_view::npos)
      << lacking.error().message();
}

TEST(FunctionTable, is_opened_once) {
  const MathTable* const first = value(find_table<MathTable>());
  EXPECT_EQ(value(find_table<MathTable>()), first);
  EXPECT_EQ(&table<MathTable>(), first);
}

// `toupper` answers its argument, if that is no letter: any status that a test wants.
constexpr VendorDeclaration kStandard{.name = "Standard",
                                      .files = {"libc.so.6"},
                                      .versions = {.oldest = {1, 0}},
                                      .version_symbol = "no_such_symbol",
                                      .read_version = version_by_number,
                                      .install = "a C library"};
#define TROUPE_STANDARD_FUNCTIONS(required, optional) required(toupper)
TROUPE_FUNCTION_TABLE(StandardTable, kStandard, int, kExampleCodes, TROUPE_STANDARD_FUNCTIONS)

TEST(BoundFunction, answers_with_an_error_that_has_the_name_of_the_call_and_of_the_code) {
  const auto standard = value(open_table_from<StandardTable>(SearchPaths{}));
  EXPECT_TRUE(standard.toupper(0));
  const Result<void> no_paper = standard.toupper(3);
  ASSERT_FALSE(no_paper);
  EXPECT_EQ(no_paper.error().kind(), ErrorKind::out_of_memory);
  EXPECT_EQ(no_paper.error().message(), "toupper answered 3, OUT_OF_PAPER");
  EXPECT_EQ(no_paper.error().origin().library, "c");
  EXPECT_EQ(no_paper.error().origin().native_code, 3);
  EXPECT_EQ(standard.toupper(4).error().kind(), ErrorKind::unsupported);
}

TEST(BoundFunction, answers_library_error_for_codes_that_nobody_knows) {
  const auto standard = value(open_table_from<StandardTable>(SearchPaths{}));
  const Result<void> unknown = standard.toupper(77);
  EXPECT_EQ(unknown.error().kind(), ErrorKind::library_error);
  EXPECT_EQ(unknown.error().message(), "toupper answered 77");
}

TEST(BoundFunction, gives_the_status_to_those_who_want_it) {
  const auto standard = value(open_table_from<StandardTable>(SearchPaths{}));
  EXPECT_EQ(standard.toupper.status(3), 3);
  EXPECT_EQ(standard.toupper.checked(3).error().message(), "toupper answered 3, OUT_OF_PAPER");
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

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

#include <gtest/gtest.h>

#include <string>

namespace troupe::cuda {
namespace {

/// The C library's mathematics in the place of a vendor's.
constexpr VendorDeclaration declared(std::optional<Version> (*read_version)(void*)) {
  return {.name = "Math",
          .files = {"libtroupe-no-such.so.9", "libm.so.6"},
          .versions = {.oldest = {12, 2}, .newest_major = 13},
          .version_symbol = "cos",
          .read_version = read_version,
          .install = "a C library"};
}
template <int major, int minor>
std::optional<Version> told(void*) {
  return Version{major, minor, 7};
}

TEST(VendorDeclaration, opens_the_newest_file_that_is_there) {
  const OpenLibrary opened = value(open(declared(told<12, 2>), SearchPaths{}));
  EXPECT_EQ(opened.library.path(), "libm.so.6");
  ASSERT_TRUE(opened.version);
  EXPECT_EQ(opened.version->to_string(), "12.2.7");
  EXPECT_TRUE(open(declared(told<13, 99>), SearchPaths{}));
}

TEST(VendorDeclaration, refuses_what_is_too_old_in_one_sentence) {
  const Result<OpenLibrary> refused = open(declared(told<12, 1>), SearchPaths{});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::unsupported);
  const std::string file = value(Library::open({"libm.so.6"}, SearchPaths{})).file();
  EXPECT_EQ(refused.error().message(), "Math 12.1.7 is too old: Troupe needs 12.2 to 13.x; found at " + file +
                                           "; install one of those: it comes with a C library");
  EXPECT_EQ(refused.error().origin().library, file);
}

TEST(VendorDeclaration, refuses_what_is_too_new) {
  const Result<OpenLibrary> refused = open(declared(told<14, 0>), SearchPaths{});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message().starts_with("Math 14.0.7 is too new: ")) << refused.error().message();
}

TEST(VendorDeclaration, takes_what_does_not_tell_its_version) {
  const OpenLibrary silent =
      value(open(declared([](void*) -> std::optional<Version> { return std::nullopt; }), SearchPaths{}));
  EXPECT_FALSE(silent.version);
  VendorDeclaration without_function = declared(told<1, 0>);
  without_function.version_symbol = "no_such_symbol";
  EXPECT_TRUE(open(without_function, SearchPaths{}));
}

TEST(VendorDeclaration, that_is_nowhere_says_what_to_install) {
  VendorDeclaration nowhere = declared(told<12, 2>);
  nowhere.files = {"libtroupe-no-such.so.9"};
  const Result<OpenLibrary> missing = open(nowhere, SearchPaths{});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), "Math was not found; tried libtroupe-no-such.so.9; install a C library");
  EXPECT_EQ(missing.error().origin().library, "");
}

TEST(VendorDeclaration, is_called_by_the_name_of_its_file_in_errors) {
  VendorDeclaration lt = declared(told<12, 2>);
  lt.files = {"libcublasLt.so.13", "libcublasLt.so.12"};
  EXPECT_EQ(lt.id(), "cublasLt");
}

TEST(VersionRange, reads_as_a_range) {
  EXPECT_EQ((VersionRange{.oldest = {12, 0}, .newest_major = 13}).to_string(), "12.0 to 13.x");
  EXPECT_EQ((VersionRange{.oldest = {12, 0}}).to_string(), "12.0 or newer");
  EXPECT_FALSE((VersionRange{.oldest = {12, 0}}).is_too_new({99, 0}));
}

int by_property(int which, int* value) {
  *value = 10 * (which + 1);
  return 0;
}
std::size_t old_number() { return 8902; }
std::size_t new_number() { return 91300; }
int written_number(int* number) {
  *number = 22703;
  return 0;
}
int major_and_minor(int* major, int* minor) {
  *major = 13;
  *minor = 1;
  return 0;
}
int cuda_number(int* number) {
  *number = 12040;
  return 0;
}
int refuses(int*) { return 1; }

template <class Function>
std::string text(std::optional<Version> (*read)(void*), Function* function) {
  const std::optional<Version> version = read(reinterpret_cast<void*>(function));
  return version ? version->to_string() : "";
}

TEST(Version, is_read_in_every_way_that_libraries_tell_it) {
  EXPECT_EQ(text(version_by_property, by_property), "10.20.30");
  EXPECT_EQ(text(version_by_number, old_number), "8.9.2");
  EXPECT_EQ(text(version_by_number, new_number), "9.13.0");
  EXPECT_EQ(text(version_by_written_number, written_number), "2.27.3");
  EXPECT_EQ(text(version_by_major_and_minor, major_and_minor), "13.1");
  EXPECT_EQ(text(version_by_cuda_number, cuda_number), "12.4");
  EXPECT_EQ(text(version_by_cuda_number, refuses), "");
}

}  // namespace
}  // namespace troupe::cuda

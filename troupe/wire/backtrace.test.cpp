#include "troupe/wire/backtrace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace troupe::wire {
namespace {

TEST(Backtrace, has_a_line_for_each_frame_and_readable_names) {
  EXPECT_EQ(readable_backtrace("libx.so+0x1264(_ZN1x4failEi) <- libx.so+0x80 <- troupe-worker+0x42(main) <- 0xdead"),
            "\n  #0 x::fail(int), libx.so+0x1264"
            "\n  #1 libx.so+0x80"
            "\n  #2 main, troupe-worker+0x42"
            "\n  #3 0xdead");
}

TEST(Backtrace, that_was_cut_off_has_no_half_of_a_name) {
  EXPECT_EQ(readable_backtrace("libx.so+0x1264(_ZN1x4fai"), "\n  #0 libx.so+0x1264");
}

TEST(Backtrace, of_long_names_leaves_out_what_is_in_angle_brackets) {
  const std::string name = readable_symbol(
      "_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4lessIS5_ESaISt4pairIKS5_iEEEixERS9_");
  EXPECT_EQ(name, "std::map<...>::operator[](std::__cxx11::basic_string<...> const&)");
  EXPECT_EQ(readable_symbol("_ZlsRSoi"), "operator<<(std::ostream&, int)");
  EXPECT_EQ(readable_symbol("_ZN6troupe2v04nameENS0_9ErrorKindE"), "troupe::name(troupe::ErrorKind)");
}

TEST(Backtrace, leaves_what_is_no_symbol_as_it_is) {
  EXPECT_EQ(readable_symbol("main"), "main");
  EXPECT_EQ(readable_symbol("_Znonsense"), "_Znonsense");
  EXPECT_EQ(readable_symbol(""), "");
}

// A worker may write what it likes. Each of these pairs doubles what comes before: it would be 2^40 characters.
TEST(Backtrace, does_not_blow_up_a_name_that_was_made_for_that) {
  std::string bomb = "_Z1f1aI1bS0_E";
  for (int i = 1; i < 40; ++i) {
    const std::string reference = "S" + std::string(1, static_cast<char>(i < 10 ? '0' + i : 'A' + i - 10)) + "_";
    bomb += "S_I" + reference + reference + "E";
  }
  EXPECT_EQ(readable_symbol(bomb), bomb.substr(0, 120));
  const std::string packs = "_Z1fIJ" + std::string(100, 'i') + "EEvDp1gIDp1hIDpT_EE";
  EXPECT_EQ(readable_symbol(packs), packs.substr(0, 120));
  std::string frames = "a";
  for (int i = 0; i < 1000; ++i) frames += " <- a";
  EXPECT_EQ(std::ranges::count(readable_backtrace(frames), '\n'), 64);
}

TEST(Backtrace, is_no_part_of_a_line_in_the_log) {
  EXPECT_EQ(without_backtrace("SIGSEGV in memory.fill\n  #0 main, worker+0x1"), "SIGSEGV in memory.fill");
  EXPECT_EQ(without_backtrace("one line"), "one line");
}

}  // namespace
}  // namespace troupe::wire

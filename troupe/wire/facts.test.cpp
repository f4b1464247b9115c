#include "troupe/wire/facts.hpp"

#include <gtest/gtest.h>

namespace troupe::wire {
namespace {

const FoundLibrary kCublas = {
    .name = "cuBLAS", .version = "13.1.0", .path = "/lib/libcublas.so.13", .problem = {}, .source = "the toolkit"};
const GpuFacts kGpu = {.uuid = "GPU-1",
                       .name = "A GPU",
                       .memory_bytes = 150'000'000'000,
                       .capability = "9.0",
                       .can_export_memory = true,
                       .is_exclusive = true};

TEST(Facts, come_out_as_they_went_in) {
  FoundLibrary driver = kCublas;
  driver.problem = "it does not start";
  GpuFacts second = kGpu;
  second.can_export_memory = second.is_exclusive = false;
  const Facts facts =
      value(parse_facts("backend\thost\nbackend\tcuda\n" + line_of("blas", kCublas) + line_of("driver", driver) +
                        line_of(kGpu) + line_of(second) + line_of("library", kCublas) + "end\n"));
  EXPECT_EQ(facts.backends, (std::vector<std::string>{"host", "cuda"}));
  EXPECT_EQ(facts.blas, kCublas);
  EXPECT_EQ(facts.driver, driver);
  EXPECT_EQ(facts.gpus, (std::vector<GpuFacts>{kGpu, second}));
  EXPECT_EQ(facts.libraries, std::vector<FoundLibrary>{kCublas});
  EXPECT_TRUE(facts.complete);
}

TEST(Facts, of_a_worker_that_was_cut_off_end_there_and_say_at_what) {
  const Facts facts = value(parse_facts("backend\thost\nlooking\tthe NVIDIA driver\ndriver\tdri"));
  EXPECT_FALSE(facts.complete);
  EXPECT_EQ(facts.looking_at, "the NVIDIA driver");
  EXPECT_EQ(facts.backends, std::vector<std::string>{"host"});
  EXPECT_TRUE(facts.driver.missing());
}

TEST(Facts, keep_their_lines_whatever_a_field_has_in_it) {
  GpuFacts odd = kGpu;
  odd.name = "two\nlines\tand a tab";
  const Facts facts = value(parse_facts(line_of(odd)));
  ASSERT_EQ(facts.gpus.size(), 1u);
  EXPECT_EQ(facts.gpus[0].name, "two lines and a tab");
}

TEST(Facts, that_cannot_be_read_are_an_error) {
  for (const char* text :
       {"gpu\tGPU-1\n", "gpu\tGPU-1\tA GPU\tmany\t9.0\texports\tshared\n", "library\tcuBLAS\n", "backend\n"}) {
    const Result<Facts> facts = parse_facts(text);
    ASSERT_FALSE(facts) << text;
    EXPECT_EQ(facts.error().kind(), ErrorKind::invalid_argument);
  }
}

TEST(Facts, of_a_kind_that_is_not_known_are_passed_over) {
  EXPECT_TRUE(value(parse_facts("weather\tfine\nend\n")).complete);
}

}  // namespace
}  // namespace troupe::wire

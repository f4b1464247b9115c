#include "troupe/wire/compiled_image.hpp"

#include <gtest/gtest.h>

namespace troupe::wire {
namespace {

const CompiledImage kImage{.bytes = std::string("image\0\n7", 8),
                           .log = "a warning",
                           .compiler = "/lib/nvrtc.so",
                           .instances = "f<int>\n_Z1fIiEvv\n"};

TEST(CompiledImage, comes_back_as_it_was) {
  for (const CompiledImage& image : {kImage, CompiledImage()}) {
    const auto decoded = decode_compiled(encode(image));
    ASSERT_TRUE(decoded && *decoded);
    EXPECT_EQ((*decoded)->bytes, image.bytes);
    EXPECT_EQ((*decoded)->log, image.log);
    EXPECT_EQ((*decoded)->compiler, image.compiler);
    EXPECT_EQ((*decoded)->instances, image.instances);
  }
}

TEST(CompileRequest, comes_back_as_it_was) {
  const CompileRequest whole{.flags = "-DA=1 '-DB=a b'",
                             .instances = "f<int>\tf<float>",
                             .headers = {{"a/tile.cuh", "one\ntwo\n"}, {"empty.h", ""}, {"last.h", "\t3\t"}},
                             .source = "\n#include <a/tile.cuh>\n"};
  for (const CompileRequest& request : {whole, CompileRequest{.source = "f"}, CompileRequest()}) {
    const std::optional<CompileRequest> decoded = decode_request(encode(request));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->flags, request.flags);
    EXPECT_EQ(decoded->instances, request.instances);
    EXPECT_EQ(decoded->headers, request.headers);
    EXPECT_EQ(decoded->source, request.source);
  }
}

TEST(CompileRequest, is_no_other_text) {
  for (const char* const text : {"\n\nname\n", "\n\nname\tx\n", "\n\nname\t-1\nf", "\n\nname\t4\nabc", "\n\n\t1\na",
                                 "\n\nname\t18446744073709551615\nabc"})
    EXPECT_FALSE(decode_request(text)) << text;
}

TEST(CompiledImage, may_be_an_error) {
  const Error error(ErrorKind::unsupported, "no compiler", {.native_code = -7});
  const auto decoded = decode_compiled(encode(fail(error)));
  ASSERT_TRUE(decoded && !*decoded);
  EXPECT_EQ(decoded->error().kind(), ErrorKind::unsupported);
  EXPECT_EQ(decoded->error().message(), "no compiler");
  EXPECT_EQ(decoded->error().origin().native_code, -7);
}

TEST(CompiledImage, is_whole_or_there_is_none) {
  const std::string answer = encode(kImage);
  for (std::size_t length = 0; length < answer.size(); ++length)
    EXPECT_FALSE(decode_compiled(std::string_view(answer).substr(0, length))) << "cut off after " << length;
  EXPECT_FALSE(decode_compiled(answer + "!"));
}

TEST(CompiledImage, is_no_other_text) {
  for (const char* const text : {"", "ok", "ok 1", "ok -1 0 0 0\n", "ok 1 1 1\nabc", "ok 99999999999999999999 0 0 0\n",
                                 "ok 1 1 1 18446744073709551615\nabc", "20 0\nthere is no such kind", "-1 0\n", "1 0",
                                 "1\n", "cannot open libnvrtc\n"})
    EXPECT_FALSE(decode_compiled(text)) << text;
}

}  // namespace
}  // namespace troupe::wire

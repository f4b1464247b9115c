#include "troupe/library/jit/program_cache.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

namespace troupe {
namespace {

namespace fs = std::filesystem;

class ProgramCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "troupe-programs-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root = pattern;
    compiler = (root / "compiler").string();
    change(compiler, "as it was");
    image.compiler = compiler;
  }
  void TearDown() override { fs::remove_all(root); }

  static void change(const fs::path& file, std::string_view text) {
    std::ofstream(file) << text;
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  }
  static std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string folder() const { return (root / "kept").string(); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder())) all.push_back(entry.path());
    return all;
  }
  ProgramCache cache() const { return ProgramCache(folder()); }

  fs::path root;
  std::string compiler;
  ProgramKey key{
      .executable = "/bin/sh", .source = "__global__ void f() {}", .flags = "-DA=1", .instances = {}, .capability = 90};
  wire::CompiledImage image{.bytes = std::string("image\0with zeros", 16),
                            .log = "a warning",
                            .compiler = {},
                            .instances = "f<int>\n_Z1fIiEvv\n"};
};

TEST_F(ProgramCacheTest, gives_what_was_kept) {
  EXPECT_FALSE(cache().find(key));
  cache().keep(key, image);
  const auto found = cache().find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, image.bytes);
  EXPECT_EQ(found->log, image.log);
  EXPECT_EQ(found->instances, image.instances);
}

TEST_F(ProgramCacheTest, tells_programs_apart_by_all_that_they_depend_on) {
  cache().keep(key, image);
  const auto differs = [&](auto change) {
    ProgramKey other = key;
    change(other);
    return !cache().find(other);
  };
  EXPECT_TRUE(differs([](ProgramKey& other) { other.source += " "; }));
  EXPECT_TRUE(differs([](ProgramKey& other) { other.flags = "-DA=2"; }));
  EXPECT_TRUE(differs([](ProgramKey& other) { other.flags.clear(); }));
  EXPECT_TRUE(differs([](ProgramKey& other) { other.instances = "f<int>"; }));
  EXPECT_TRUE(differs([](ProgramKey& other) { other.headers = {{"a.h", ""}}; }));
  EXPECT_TRUE(differs([](ProgramKey& other) { other.capability = 80; }));
  EXPECT_TRUE(differs([](ProgramKey& other) { other.is_checked = true; }));
  EXPECT_TRUE(differs([](ProgramKey& other) { other.executable = "/bin/cat"; }));
  EXPECT_TRUE(cache().find(key));
}

TEST_F(ProgramCacheTest, keeps_what_includes_headers_that_are_given) {
  key.source = "#include \"tile.cuh\"\n#include <mine.h>\n__global__ void f() {}";
  EXPECT_FALSE(key.is_complete()) << "files of the user's";
  key.headers = {{"tile.cuh", "#include <mine.h>\n"}, {"mine.h", "#define A 1\n"}};
  EXPECT_TRUE(key.is_complete());
  cache().keep(key, image);
  EXPECT_TRUE(cache().find(key));
  ProgramKey other = key;
  other.headers[1].text = "#define A 2\n";
  EXPECT_FALSE(cache().find(other));
  other.headers[1].text = "#include \"file.h\"\n";
  EXPECT_FALSE(other.is_complete()) << "headers include files, too";
}

TEST_F(ProgramCacheTest, forgets_what_another_compiler_has_made) {
  cache().keep(key, image);
  change(compiler, "as it is after an update");
  EXPECT_FALSE(cache().find(key));
  EXPECT_TRUE(files().empty()) << "it is of no use any more";
  cache().keep(key, image);
  EXPECT_TRUE(cache().find(key));
  fs::remove(compiler);
  EXPECT_FALSE(cache().find(key));
}

TEST_F(ProgramCacheTest, throws_away_a_file_that_is_damaged) {
  cache().keep(key, image);
  const fs::path file = files().at(0);
  const std::string whole = text_of(file);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    change(file, std::string_view(whole).substr(0, length));
    ASSERT_FALSE(cache().find(key)) << "cut off after " << length << " bytes";
    ASSERT_FALSE(fs::exists(file));
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    change(file, changed);
    ASSERT_FALSE(cache().find(key)) << "byte " << i << " is another one";
  }
  change(file, whole + "!");
  EXPECT_FALSE(cache().find(key));
  change(file, whole);
  EXPECT_TRUE(cache().find(key));
}

TEST_F(ProgramCacheTest, keeps_no_more_than_it_may_and_drops_the_least_used) {
  const ProgramCache small(folder(), 3);
  const auto numbered = [&](int number) {
    ProgramKey other = key;
    other.flags = "-DN=" + std::to_string(number);
    return other;
  };
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 3; ++i) {
    small.keep(numbered(i), image);
    for (const fs::path& file : files()) fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));
  }
  ASSERT_TRUE(small.find(numbered(0))) << "which makes it the last one used";
  small.keep(numbered(3), image);
  EXPECT_EQ(files().size(), 3U);
  EXPECT_TRUE(small.find(numbered(0)));
  EXPECT_FALSE(small.find(numbered(1)));
  EXPECT_TRUE(small.find(numbered(2)));
  EXPECT_TRUE(small.find(numbered(3)));
  for (const fs::path& file : files()) EXPECT_GE(fs::last_write_time(file), now - std::chrono::hours(3));

  const ProgramCache tiny(folder(), 3, 1);
  tiny.keep(numbered(4), image);
  EXPECT_TRUE(files().empty()) << "one program has more bytes than the folder may";
}

TEST_F(ProgramCacheTest, keeps_nothing_that_reads_files_of_the_user) {
  const auto is_kept = [&](const std::string& source, const std::string& flags) {
    ProgramKey other = key;
    other.source = source;
    other.flags = flags;
    cache().keep(other, image);
    return cache().find(other).has_value();
  };
  EXPECT_TRUE(is_kept("#include <cuda_fp16.h>\n#  include  <limits>\n// what this includes\n", "-O3 --use_fast_math"));
  EXPECT_FALSE(is_kept("#include \"mine.h\"\n", ""));
  EXPECT_FALSE(is_kept("# \\\n include \"mine.h\"\n", ""));
  EXPECT_FALSE(is_kept("#define FILE <mine.h>\n#include FILE\n", ""));
  EXPECT_FALSE(is_kept("#include_next <mine.h>\n", ""));
  EXPECT_FALSE(is_kept("#include </home/me/mine.h>\n", ""));
  EXPECT_FALSE(is_kept("#include <../../../home/me/mine.h>\n", ""));
  EXPECT_FALSE(is_kept("#inc\\\nlude \"mine.h\"\n", ""));
  EXPECT_FALSE(is_kept("#inc\\\r\nlude \"mine.h\"\n", ""));
  EXPECT_FALSE(is_kept("# /* what for */ include \"mine.h\"\n", ""));
  EXPECT_FALSE(is_kept("%: include \"mine.h\"\n", ""));
  EXPECT_FALSE(is_kept("#include", ""));
  EXPECT_FALSE(is_kept("#include <cuda_fp16.h", ""));
  EXPECT_FALSE(is_kept("#if __has_include(<mine.h>)\n#endif\n", ""));
  EXPECT_FALSE(is_kept("", "-I/home/me"));
  EXPECT_FALSE(is_kept("", "--include-path=/home/me"));
  EXPECT_FALSE(is_kept("", "-include mine.h"));
  EXPECT_FALSE(is_kept("", "--use-pch=mine"));
}

TEST_F(ProgramCacheTest, takes_nothing_that_others_could_have_written) {
  cache().keep(key, image);
  const fs::path file = files().at(0);
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_FALSE(cache().find(key));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_TRUE(cache().find(key));
  ASSERT_EQ(::chmod(folder().c_str(), 0777), 0);
  EXPECT_FALSE(cache().find(key));
  fs::rename(file, root / "elsewhere");
  ASSERT_EQ(::chmod(folder().c_str(), 0700), 0);
  fs::create_symlink(root / "elsewhere", file);
  EXPECT_FALSE(cache().find(key)) << "a link leads anywhere";
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(cache().find(key)) << "nobody writes into that pipe";
}

TEST_F(ProgramCacheTest, keeps_nothing_where_it_cannot) {
  ProgramCache("").keep(key, image);
  EXPECT_FALSE(ProgramCache("").find(key));
  const ProgramCache in_a_file(compiler + "/folder");
  in_a_file.keep(key, image);
  EXPECT_FALSE(in_a_file.find(key));
  image.compiler.clear();
  cache().keep(key, image);
  EXPECT_FALSE(cache().find(key)) << "nobody could tell when the compiler changes";
}

TEST_F(ProgramCacheTest, serves_many_at_once) {
  constexpr int kTimes = 200;
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int who = 0; who < 4; ++who)
    threads.emplace_back([&, who] {
      ProgramKey own = key;
      for (int i = 0; i < kTimes; ++i) {
        own.capability = (who + i) % 6;
        wire::CompiledImage mine = image;
        mine.bytes = std::to_string(own.capability);
        const ProgramCache shared(folder(), 4);
        shared.keep(own, mine);
        const auto found = shared.find(own);
        if (found && found->bytes != mine.bytes) ++wrong;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(files().size(), 4U + 4U) << "each of the others may have written one since it looked";
}

/// An environment variable for a test; as before afterwards.
class Variable {
 public:
  explicit Variable(const char* name) : name_(name) {
    if (const char* const text = std::getenv(name)) before_ = text;
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  void set(const char* text) const { text ? setenv(name_, text, 1) : unsetenv(name_); }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

TEST_F(ProgramCacheTest, tells_programs_apart_by_where_the_compiler_is_looked_for) {
  for (const char* const name :
       {"TROUPE_CUDA_LIBRARIES", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "HOME"}) {
    const Variable variable(name);
    variable.set("/here");
    cache().keep(key, image);
    EXPECT_TRUE(cache().find(key)) << name;
    variable.set("/there");
    EXPECT_FALSE(cache().find(key)) << name;
  }
}

TEST_F(ProgramCacheTest, is_where_the_environment_says) {
  const Variable programs_folder("TROUPE_PROGRAMS"), caches_folder("XDG_CACHE_HOME"), home_folder("HOME");
  const auto folder_with = [&](const char* programs, const char* caches, const char* home) {
    programs_folder.set(programs);
    caches_folder.set(caches);
    home_folder.set(home);
    return ProgramCache::of_user().folder();
  };
  EXPECT_EQ(folder_with("/programs", "/caches", "/home/me"), "/programs");
  EXPECT_EQ(folder_with("", "/caches", "/home/me"), "");
  EXPECT_EQ(folder_with(nullptr, "/caches", "/home/me"), "/caches/troupe/programs");
  EXPECT_EQ(folder_with(nullptr, nullptr, "/home/me"), "/home/me/.cache/troupe/programs");
  EXPECT_EQ(folder_with(nullptr, nullptr, nullptr), "");
}

}  // namespace
}  // namespace troupe

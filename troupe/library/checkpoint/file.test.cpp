// Checkpoints in files: round trips, and files that are not what they should be.
#include "troupe/library/checkpoint/file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/checkpoint/checkpoint.test.hpp"

namespace troupe {
namespace {

class SavedTest : public CheckpointTest {
 protected:
  Device device = open();
};

TEST_F(SavedTest, holds_arrays_of_every_type_to_the_last_bit) {
  std::vector<AnyArray> arrays;
  std::vector<Checkpoint::Part> parts;
  std::vector<Bytes> were;
  for (int i = 0; i < kDTypes; ++i) {
    arrays.push_back(value(device.array(static_cast<DType>(i), {3, 5 + i})));
    parts.emplace_back(std::string(name(static_cast<DType>(i))), arrays.back());
    were.push_back(write_random(device, arrays.back()));
  }
  Checkpoint state(device, parts);
  value(state.save(path()).get());
  for (const AnyArray& array : arrays) write_random(device, array);
  std::ranges::reverse(parts);
  Checkpoint other_order(device, parts);
  value(other_order.load(path()).get());
  for (std::size_t i = 0; i < arrays.size(); ++i) EXPECT_EQ(bytes_of(device, arrays[i]), were[i]) << parts[i].name();
}

TEST_F(SavedTest, holds_scalars_empty_arrays_views_and_names_of_any_bytes) {
  const Array<double> scalar = filled(device, {}, 1.5);
  const Array<float> none = value(device.array<float>({4, 0}));
  const Array<float> m = filled(device, {7, 9}, 1.0f);
  const Bytes was = write_random(device, m);
  const Array<float> view = value(m.slice(0, 1, 7, 3)).transpose();
  const Bytes viewed = bytes_of(device, view);
  Checkpoint state(device, {{"scalar", scalar}, {"none", none}, {std::string("\0\n\xff", 3), view}});
  value(state.save(path()).get());
  value(device.fill(scalar, 0.0).get());
  value(device.fill(m, 0.0f).get());
  value(state.load(path()).get());
  EXPECT_TRUE(all_equal(device, scalar, 1.5));
  EXPECT_EQ(bytes_of(device, view), viewed);
  EXPECT_TRUE(all_equal(device, value(m.select(0, 0)), 0.0f));
  Checkpoint nothing(device, {{"none", none}});
  value(nothing.save(path()).get());
  value(nothing.load(path()).get());
}

TEST_F(SavedTest, passes_large_arrays_in_pieces) {
  const Array<double> large = value(device.array<double>({(5 << 20) + 3}));
  const Array<std::int8_t> after = filled<std::int8_t>(device, {33}, 3);
  Bytes was(static_cast<std::size_t>(large.size_bytes()));
  for (std::size_t i = 0; i < was.size(); ++i) was[i] = static_cast<std::byte>((i * i) >> 7);
  value(device.write_bytes(large, was).get());
  Checkpoint state(device, {{"large", large}, {"after", after}});
  value(state.save(path()).get());
  value(device.fill(large, 0.0).get());
  value(device.fill(after, std::int8_t{0}).get());
  value(state.load(path()).get());
  EXPECT_TRUE(bytes_of(device, large) == was);
  EXPECT_TRUE(all_equal<std::int8_t>(device, after, 3));
}

TEST_F(SavedTest, keeps_no_memory_of_the_device) {
  const Array<float> a = filled(device, {1000}, 1.0f);
  const auto used = device.stats().memory.used_bytes;
  Checkpoint state(device, {{"a", a}});
  value(state.save(path()).get());
  value(state.load(path()).get());
  // An op tells whoever waits for a group of them a moment before it lets go of its memory.
  eventually([&] { return device.stats().memory.used_bytes == used; });
}

TEST_F(SavedTest, is_loaded_as_the_current_version) {
  Versioned<float> w = value(Versioned<float>::make(device, {100}));
  value(device.fill(w.now(), 1.0f).get());
  Checkpoint state(device, {{"w", w}});
  value(state.save(path()).get());
  Scope on(device);
  on.assign(on.next(w), w.now() + 1.0f);
  ASSERT_TRUE(on.commit().get());
  value(state.load(path()).get());
  EXPECT_TRUE(all_equal(device, w.now(), 1.0f));
}

TEST_F(SavedTest, is_whole_whenever_a_worker_dies) {
  const Array<float> a = value(device.array<float>({300'000}));
  Checkpoint state(device, {{"a", a}});
  for (int i = 0; i < 10; ++i) {
    const Bytes was = write_random(device, a);
    std::thread killer([&] { device.kill_worker(); });
    value(state.save(path()).get());
    killer.join();
    EXPECT_EQ(kind_of(bad(device, "abort", {updates(a)}).get()), ErrorKind::worker_crashed);
    killer = std::thread([&] { device.kill_worker(); });
    value(state.load(path()).get());
    killer.join();
    EXPECT_EQ(bytes_of(device, a), was);
  }
}

TEST_F(SavedTest, stays_when_a_later_save_fails) {
  const Array<float> a = filled(device, {10}, 1.0f);
  Checkpoint state(device, {{"a", a}});
  value(state.save(path()).get());
  const Bytes was = content_of(path());
  EXPECT_FALSE(bad(device, "error", {updates(a)}).get());
  expect_refused(state.save(path()).get(), ErrorKind::buffer_tainted, "save: a: ");
  EXPECT_EQ(content_of(path()), was);
  value(state.load(path()).get());
  EXPECT_TRUE(all_equal(device, a, 1.0f));
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(SavedTest, replaces_a_file_with_its_permissions_and_follows_links) {
  const Array<float> a = filled(device, {10}, 1.0f);
  Checkpoint state(device, {{"a", a}});
  value(state.save(path()).get());
  std::filesystem::permissions(path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(path(), path("link"));
  value(device.fill(a, 2.0f).get());
  value(state.save(path("link")).get());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  struct stat there{};
  ASSERT_EQ(::stat(path().c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0600U);
  value(device.fill(a, 0.0f).get());
  value(state.load(path()).get());
  EXPECT_TRUE(all_equal(device, a, 2.0f));
}

TEST_F(SavedTest, says_what_the_system_answers) {
  const Array<float> a = filled(device, {10}, 1.0f);
  Checkpoint state(device, {{"a", a}});
  const Result<void> missing = state.load(path("nothing")).get();
  expect_refused(missing, ErrorKind::invalid_argument, path("nothing") + ": it cannot be opened: No such file");
  EXPECT_EQ(missing.error().origin().native_code, ENOENT);
  expect_refused(state.save(path("no/folder")).get(), ErrorKind::invalid_argument, "No such file or directory");
  expect_refused(state.save(folder.string()).get(), ErrorKind::invalid_argument, "is no regular file");
  expect_refused(state.load(folder.string()).get(), ErrorKind::invalid_argument, "is no regular file");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_refused(state.load(path("pipe")).get(), ErrorKind::invalid_argument, "is no regular file");
  expect_refused(state.load("").get(), ErrorKind::invalid_argument, "a path must not be empty");
  expect_refused(state.save(std::string("a\0b", 3)).get(), ErrorKind::invalid_argument, "has no zero bytes");
}

TEST_F(SavedTest, says_that_it_has_no_permission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root has every permission";
  const Array<float> a = filled(device, {10}, 1.0f);
  Checkpoint state(device, {{"a", a}});
  value(state.save(path()).get());
  std::filesystem::permissions(path(), std::filesystem::perms::none);
  expect_refused(state.load(path()).get(), ErrorKind::invalid_argument, "Permission denied");
  std::filesystem::permissions(folder, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  expect_refused(state.save(path("new")).get(), ErrorKind::invalid_argument, "Permission denied");
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
}

TEST_F(SavedTest, is_refused_for_other_arrays_and_nothing_is_written) {
  const Array<float> a = filled(device, {2, 3}, 1.0f), b = filled(device, {4}, 1.0f);
  Checkpoint state(device, {{"a", a}, {"b", b}});
  value(state.save(path()).get());
  value(device.fill(a, 2.0f).get());
  value(device.fill(b, 2.0f).get());
  const auto refused = [&](Checkpoint other, std::string_view text) {
    expect_refused(other.load(path()).get(), ErrorKind::invalid_argument, "load: " + path() + " " + std::string(text));
  };
  const Array<float> c = filled(device, {3, 2}, 2.0f);
  const Array<double> d = filled(device, {4}, 2.0);
  refused(Checkpoint(device, {{"a", a}}), "has an array b, which this checkpoint has not");
  refused(Checkpoint(device, {{"a", a}, {"b", b}, {"c", c}}), "has no array c, which this checkpoint has");
  refused(Checkpoint(device, {{"a", c}, {"b", b}}), "has a as [2, 3] of f32; the array is [3, 2] of f32");
  refused(Checkpoint(device, {{"a", a}, {"b", d}}), "has b as [4] of f32; the array is [4] of f64");
  EXPECT_TRUE(all_equal(device, a, 2.0f) && all_equal(device, b, 2.0f));
  EXPECT_TRUE(all_equal(device, c, 2.0f) && all_equal(device, d, 2.0));
}

TEST_F(SavedTest, is_refused_with_any_byte_changed_cut_off_or_added) {
  const Array<float> a = value(device.array<float>({3}));
  const Array<bool> b = filled(device, {2}, true);
  write_random(device, a);
  Checkpoint state(device, {{"a", a}, {"b", b}});
  value(state.save(path()).get());
  const Bytes good = content_of(path());
  const Bytes before = write_random(device, a);
  const auto refused = [&](const Bytes& file) {
    write_file(path(), file);
    const Result<void> end = state.load(path()).get();
    EXPECT_TRUE(!end &&
                (end.error().kind() == ErrorKind::invalid_argument || end.error().kind() == ErrorKind::unsupported));
    EXPECT_EQ(bytes_of(device, a), before);
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes changed = good;
    changed[i] ^= static_cast<std::byte>(1U << (random() % 8));
    refused(changed);
    refused(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)));
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  refused(longer);
  write_file(path(), good);
  value(state.load(path()).get());
}

TEST_F(SavedTest, says_how_a_file_is_damaged) {
  const Array<float> a = filled(device, {3}, 1.0f);
  Checkpoint state(device, {{"a", a}});
  value(state.save(path()).get());
  const Bytes good = content_of(path());
  const auto refused = [&](auto change, ErrorKind kind, std::string_view text) {
    Bytes changed = good;
    change(changed);
    write_file(path(), changed);
    expect_refused(state.load(path()).get(), kind, "load: " + path() + " " + std::string(text));
  };
  const auto set = [](std::size_t at, int with) { return [=](Bytes& file) { file[at] = std::byte(with); }; };
  refused(set(0, 'X'), ErrorKind::invalid_argument, "is no checkpoint");
  refused(set(8, 9), ErrorKind::unsupported, "has version 9 of the format; this program reads version 1");
  refused(set(15, 0xff), ErrorKind::invalid_argument, "is damaged: its header has 42");
  refused(set(20, 0xff), ErrorKind::invalid_argument, "is damaged: the checksum of its header is wrong");
  refused(set(good.size() - 9, 1), ErrorKind::invalid_argument, "is damaged: the checksum of a is wrong");
  refused([](Bytes& file) { file.resize(20); }, ErrorKind::invalid_argument, "is damaged: it ends within its header");
  const std::string size = std::to_string(good.size());
  refused([](Bytes& file) { file.pop_back(); }, ErrorKind::invalid_argument,
          "is damaged: it has " + std::to_string(good.size() - 1) + " bytes; it must have " + size);
  refused([](Bytes& file) { file.clear(); }, ErrorKind::invalid_argument, "is no checkpoint");
}

// ---- the file itself ----

class NewFileTest : public CheckpointTest {
 protected:
  static std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
};

TEST_F(NewFileTest, takes_its_place_when_it_is_finished_and_leaves_nothing_when_it_is_not) {
  write_file(path(), bytes("old"));
  {
    NewFile dropped(path());
    ASSERT_TRUE(dropped.begin(bytes("new")));
    ASSERT_TRUE(dropped.append(bytes("er")));
    EXPECT_EQ(files_in_folder(), 2U);
    NewFile at_the_same_time(path());
    ASSERT_TRUE(at_the_same_time.begin(bytes("another")));
    EXPECT_EQ(files_in_folder(), 3U);
  }
  EXPECT_EQ(files_in_folder(), 1U);
  EXPECT_EQ(content_of(path()).size(), 3U);
  NewFile finished(path());
  ASSERT_TRUE(finished.begin(bytes("newer")));
  ASSERT_TRUE(finished.finish());
  EXPECT_EQ(content_of(path()).size(), 5U);
  EXPECT_EQ(files_in_folder(), 1U);
}

Task<Result<void>> in_files(detail::SystemCore& core, std::function<Result<void>()> work) {
  return in_file_thread(core, std::move(work));
}
Task<Result<void>> nothing() { co_return Result<void>(); }
Task<Result<void>> cut_off(detail::SystemCore& core, std::function<Result<void>()> work) {
  co_return (co_await when_any(in_files(core, work), nothing())).value;
}

TEST_F(NewFileTest, work_that_is_cut_off_before_it_begins_leaves_nothing_behind) {
  const Device device = open();
  detail::SystemCore& core = DeviceParts::state(device)->system();
  value(system.run(in_files(core, [] { return Result<void>(); })));
  const auto actors = [&] { return system.stats().actors; };
  const std::size_t before = actors();
  std::atomic<bool> has_begun = false, may_end = false, never = false;
  std::jthread busy([&] {
    value(system.run(in_files(core, [&] {
      has_begun = true;
      while (!may_end) std::this_thread::yield();
      return Result<void>();
    })));
  });
  eventually([&] { return has_begun.load(); });
  value(system.run(cut_off(core, [&] {
    never = true;
    return Result<void>();
  })));
  may_end = true;
  busy.join();
  eventually([&] { return actors() <= before; });
  EXPECT_FALSE(never);
}

TEST_F(NewFileTest, leaves_the_old_file_where_the_machine_has_no_room) {
  write_file(path(), bytes("old"));
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 4;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Result<void> end;
  {
    NewFile file(path());
    end = file.begin(bytes("more than four"));
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind(), ErrorKind::out_of_memory);
  EXPECT_EQ(end.error().origin().native_code, EFBIG);
  EXPECT_EQ(files_in_folder(), 1U);
  EXPECT_EQ(content_of(path()).size(), 3U);
}

TEST_F(NewFileTest, says_when_its_place_was_taken_meanwhile) {
  NewFile file(path());
  ASSERT_TRUE(file.begin(bytes("new")));
  std::filesystem::create_directories(folder / "state.ckpt" / "inside");
  const Result<void> end = file.finish();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind(), ErrorKind::invalid_argument) << end.error().to_string();
  EXPECT_NE(end.error().message().find("rename"), std::string_view::npos);
}

}  // namespace
}  // namespace troupe

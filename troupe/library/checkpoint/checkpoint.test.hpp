// What the tests of checkpoints share: arrays with content of any bits, folders of their own, and what a refusal says.
// Each test has a device and a folder to itself, so that they can run at the same time.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {

class CheckpointTest : public DeviceTest {
 protected:
  using Bytes = std::vector<std::byte>;

  void SetUp() override {
    std::string name = testing::TempDir() + "/checkpoint-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override {
    DeviceTest::TearDown();
    std::filesystem::remove_all(folder);
  }

  /// Any bits that an array of that type may have.
  Bytes random_bytes(const AnyArray& array) {
    Bytes bytes(static_cast<std::size_t>(array.size_bytes()));
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(array.dtype() == DType::boolean ? random() % 2 : random() % 256);
    return bytes;
  }
  static Bytes bytes_of(const Device& device, const AnyArray& array) {
    Bytes bytes(static_cast<std::size_t>(array.size_bytes()));
    value(device.read_bytes(array, bytes).get());
    return bytes;
  }
  Bytes write_random(const Device& device, const AnyArray& array) {
    Bytes bytes = random_bytes(array);
    value(device.write_bytes(array, bytes).get());
    return bytes;
  }
  static void expect_refused(const Result<void>& end, ErrorKind kind, std::string_view text) {
    ASSERT_FALSE(end) << text;
    EXPECT_EQ(end.error().kind(), kind) << end.error().to_string();
    EXPECT_NE(end.error().message().find(text), std::string_view::npos) << end.error().to_string();
    EXPECT_NE(end.error().origin().where.line(), 0U) << "it says where";
  }

  std::string path(const char* name = "state.ckpt") const { return (folder / name).string(); }
  static Bytes content_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  static void write_file(const std::string& file, std::span<const std::byte> bytes) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::size_t files_in_folder() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
  }

  std::filesystem::path folder;
  std::mt19937 random{1};
};

}  // namespace troupe

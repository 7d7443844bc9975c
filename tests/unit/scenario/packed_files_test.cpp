// Archives of catalogs: what is read of a tar, and what is none.
#include "sim/scenario/toml/packed_files.hpp"

#include <fmt/format.h>

#include "tests/support/catch.hpp"

namespace packed_files_test {

using namespace foretrain;

namespace {

/// A file of an archive: its header with the name, size and kind, and its text in blocks of 512 bytes.
std::string file(const std::string& name, const std::string& text, char kind = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, 11, fmt::format("{:011o}", text.size()));
  header[156] = kind;
  header.replace(257, 5, "ustar");
  return header + text + std::string((512 - text.size() % 512) % 512, '\0');
}

const std::string kEnd(1024, '\0');

}  // namespace

TEST_CASE("files of an archive have their names and texts, folders are passed over") {
  const std::string archive =
      file("./", "", '5') + file("./models/a.toml", "x = 1\n") + file("b.csv", std::string(513, 'b')) + kEnd;
  const auto entries = read_tar(archive, 2);
  REQUIRE(entries);
  REQUIRE(entries->size() == 2);
  CHECK(entries->front().name == "models/a.toml");
  CHECK(entries->front().text == "x = 1\n");
  CHECK(entries->back().text == std::string(513, 'b'));
}

TEST_CASE("what is cut, links, leads elsewhere or has too many files is no archive") {
  const std::string one = file("a", "text");
  CHECK(read_tar(one + kEnd, 1));
  CHECK_FALSE(read_tar(one, 1));
  CHECK_FALSE(read_tar("", 1));
  CHECK_FALSE(read_tar(one.substr(0, 520), 1));
  CHECK_FALSE(read_tar(one + one + kEnd, 1));
  CHECK_FALSE(read_tar(file("link", "", '2') + kEnd, 1));
  CHECK_FALSE(read_tar(std::string(2048, 'x'), 1));
  for (const char* name : {"/etc/passwd", "../a", "a/../b", "a//b"})
    CHECK_FALSE(read_tar(file(name, "x") + kEnd, 1));
  std::string huge = one;
  huge.replace(124, 11, "77777777777");
  CHECK_FALSE(read_tar(huge + kEnd, 1));
}

TEST_CASE("without catalogs in the program nothing lies in their folder") {
  CHECK_FALSE(packed_file(std::string(kPackedFolder) + "/models/resnet50.toml"));
  CHECK_FALSE(is_file_there(std::string(kPackedFolder) + "/models/resnet50.toml"));
  CHECK(files_in(std::string(kPackedFolder) + "/models", ".toml").empty());
}

}  // namespace packed_files_test

// A file appears whole or not at all.
#include "sim/report/output_file.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace output_file_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that goes away at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "foretrain-output-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator())); }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a new file holds the text and nothing else is left") {
  const Folder folder;
  write_file(folder / "out.json", std::string("a\0b\n", 4));
  CHECK(content(folder / "out.json") == std::string("a\0b\n", 4));
  CHECK(folder.entries() == 1);
}

TEST_CASE("an existing file is replaced") {
  const Folder folder;
  write_file(folder / "out", "a much longer first text");
  write_file(folder / "out", "short");
  CHECK(content(folder / "out") == "short");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a missing folder is reported with path and cause") {
  const Folder folder;
  try {
    write_file(folder / "no/such/out", "x");
    FAIL("nothing was thrown");
  } catch (const WorldError& error) {
    CHECK_THAT(error.what(), ContainsSubstring("no/such/out: cannot be written: No such file or directory"));
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("a folder of that name is left alone") {
  const Folder folder;
  fs::create_directory(folder / "out");
  CHECK_THROWS_AS(write_file(folder / "out", "x"), WorldError);
  CHECK_THROWS_AS(write_file(folder / "out/", "x"), WorldError);
  CHECK(fs::is_directory(folder / "out"));
  CHECK(fs::is_empty(folder / "out"));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a folder without write permission stays as it is") {
  if (::geteuid() == 0) FORETRAIN_SKIP("the superuser may write anywhere");
  const Folder folder;
  fs::permissions(folder / "", fs::perms::owner_read | fs::perms::owner_exec);
  CHECK_THROWS_AS(write_file(folder / "out", "x"), WorldError);
  fs::permissions(folder / "", fs::perms::owner_all);
  CHECK(folder.entries() == 0);
}

TEST_CASE("a link keeps pointing where it does") {
  const Folder folder;
  write_file(folder / "real", "old");
  fs::create_symlink(folder / "real", folder / "link");
  write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "real") == "new");
  CHECK(folder.entries() == 2);
}

TEST_CASE("a pipe is written to, not replaced by a file") {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  write_file(pipe, "through");
  std::array<char, 16> got{};
  const auto length = ::read(reader, got.data(), got.size());
  ::close(reader);
  CHECK(fs::is_fifo(pipe));
  CHECK(std::string(got.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))) == "through");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a path that is too long is reported") {
  const Folder folder;
  CHECK_THROWS_AS(write_file(folder / std::string(5000, 'x'), "x"), WorldError);
}

}  // namespace output_file_test

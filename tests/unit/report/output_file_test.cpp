// What a result is written to: what is refused, and what a terminal gets to see. How files are replaced:
// tests/unit/base/whole_file_test.cpp.
#include "sim/report/output_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/toml/reader.hpp"
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
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

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
  write_file(folder / "out.json", "{\"µ\": 1}\n");
  CHECK(content(folder / "out.json") == "{\"µ\": 1}\n");
  CHECK(folder.entries() == 1);
}

TEST_CASE("what would act on a terminal is written out, lines and tabs stay") {
  const Folder folder;
  write_file(folder / "out", "a\x1b[31m\tb\n\u202ec\n");
  CHECK(content(folder / "out") == "a\\u001b[31m\tb\n\\u202ec\n");
}

TEST_CASE("a missing folder is reported with path and cause") {
  const Folder folder;
  CHECK_THROWS_WITH(write_file(folder / "no/such/out", "x"),
                    ContainsSubstring("no/such/out: cannot be written: No such file or directory"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("a file that was read is not overwritten, under whatever name") {
  const Folder folder;
  std::ofstream(folder / "in") << "input";
  fs::create_symlink("in", folder / "link");
  fs::create_hard_link(folder / "in", folder / "other");
  CHECK_FALSE(was_read(folder / "in"));
  read_text_file(folder / "in");
  for (const char* name : {"in", "./in", "link", "other"}) {
    INFO(name);
    CHECK(was_read(folder / name));
    CHECK_THROWS_AS(write_file(folder / name, "x"), InputError);
  }
  CHECK(content(folder / "in") == "input");
  CHECK_FALSE(was_read(folder / "none"));
  CHECK_NOTHROW(write_file(folder / "out", "x"));
}

TEST_CASE("two names of one file are the same output, those of devices are not") {
  const Folder folder;
  fs::create_directory(folder / "sub");
  CHECK(is_same_output(folder / "new", folder / "new"));
  CHECK(is_same_output(folder / "new", folder / "sub/../new"));
  CHECK_FALSE(is_same_output(folder / "new", folder / "sub/new"));
  fs::create_symlink("new", folder / "link");  // which points nowhere yet
  CHECK(is_same_output(folder / "new", folder / "link"));
  std::ofstream(folder / "new") << "there";
  fs::create_hard_link(folder / "new", folder / "sub/hard");
  CHECK(is_same_output(folder / "new", folder / "link"));
  CHECK(is_same_output(folder / "new", folder / "sub/hard"));
  CHECK_FALSE(is_same_output("/dev/null", "/dev/null"));
  CHECK(is_same_output("here", "./here"));
}

}  // namespace output_file_test

// Pictures of the documentation are what the program draws: below <!-- image: foretrain … --> stands the picture, and the command gets
// --svg. `make docs` draws them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "tests/support/catch.hpp"
#include "tests/support/run_program.hpp"

namespace docs_images_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = FORETRAIN_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Picture {
  std::string command;
  fs::path file;
};

std::vector<Picture> pictures_of(const fs::path& page) {
  static const std::regex pattern("<!-- image: (foretrain [^\n]*) -->\n[^\n]*\\]\\(([^)\n]*\\.svg)\\)");
  const std::string text = text_of(page);
  std::vector<Picture> out;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    out.push_back({(*it)[1].str(), page.parent_path() / (*it)[2].str()});
  return out;
}

/// What the command draws; it runs in the root of the tree and writes into a folder of its own.
std::string drawn_by(const std::string& command) {
  std::string folder = (fs::temp_directory_path() / "foretrain-images-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
  const std::string line = "export FORETRAIN_PATH='" + kRoot.string() + "'\n" + command + " -o /dev/null --svg '" + folder + "/drawn.svg'";
  const test::ProgramRun outcome = test::run_program(line, kRoot.string(), FORETRAIN_BINARY);
  INFO(command << "\n" << outcome.output);
  CHECK(outcome.exit_code == 0);
  std::string drawn = text_of(folder + "/drawn.svg");
  fs::remove_all(folder);
  return drawn;
}

}  // namespace

TEST_CASE("the pictures of the documentation are what the program draws (`make docs` draws them)") {
  std::size_t pictures = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() != ".md") continue;
    for (const Picture& picture : pictures_of(entry.path())) {
      INFO(picture.file.string());
      CHECK(text_of(picture.file) == drawn_by(picture.command));
      ++pictures;
    }
  }
  CHECK(pictures >= 4);
}

}  // namespace docs_images_test

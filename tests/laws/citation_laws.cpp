// Comments and pages cite files that are there, the glossary names sixty terms and where they live, and every
// public type has a comment.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/layer_rules.hpp"

namespace citation_laws {

using foretrain::test::read_sources;
using foretrain::test::SourceFile;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = FORETRAIN_SOURCE_DIR;

/// Paths in repositories of others, which comments cite beside the address of the repository.
const std::set<std::string>& paths_of_others() {
  static const std::set<std::string> paths{"docs/_pages/config-json.md",
                                           "docs/performance.md",
                                           "docs/setup/summaries.md",
                                           "docs/polaris/hardware-overview/machine-overview.md",
                                           "models/base.py",
                                           "python/distribute/cross_device_utils.py",
                                           "python/mxnet/model.py"};
  return paths;
}

/// A path whose place for a name is written in capitals, as in sim/strategy/NAME.cpp, stands for many files.
bool is_pattern(const std::string& path) {
  static const std::regex capitals("(^|[/_])[A-Z]{3,}([_.]|$)");
  const std::string file = fs::path(path).filename().string();
  return std::regex_search(file, capitals) && file != "README.md" && file != "CHANGELOG.md" &&
         file != "CONTRIBUTING.md" && file != "CMakeLists.txt";
}

/// Files of our folders that a text names, in the order of the text.
std::vector<std::string> cited_paths(const std::string& text) {
  static const std::regex path(
      "(^|[^\\w./-])((?:docs|sim|tests|tools|topologies|models|datasets|evidence|scenarios|calibrate|cmake|"
      "packaging|python|web)/[\\w./-]*\\w\\.(?:cpp|hpp|inc|md|toml|csv|jsonl?|py|sh|cmake|tsx?|svg))\\b");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), path), end; match != end; ++match)
    found.push_back((*match)[2]);
  return found;
}

/// Whether a cited file is there: from the root of the tree, from docs/, or from the folder of the page.
bool is_there(const std::string& path, const fs::path& folder) {
  return paths_of_others().count(path) > 0 || is_pattern(path) || fs::exists(kRoot / path) ||
         fs::exists(kRoot / "docs" / path) || fs::exists(folder / path);
}

void check_citations(const std::string& name, const std::string& text, bool (*is_prose)(const std::string&)) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (!is_prose(line)) continue;
    for (const std::string& path : cited_paths(line)) {
      if (!is_there(path, (kRoot / name).parent_path()))
        FAIL_CHECK(name << ":" << number << ": there is no " << path);
    }
  }
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Pages of the documentation that people write; the history names files of its time. Blocks of output are
/// checked by the tests of the pages.
std::vector<fs::path> pages() {
  std::vector<fs::path> found{kRoot / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    const bool is_history = entry.path().parent_path().filename() == "history";
    if (entry.path().extension() == ".md" && !is_history) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

std::string without_blocks(const std::string& page) {
  std::istringstream lines(page);
  std::string line, out;
  bool inside = false;
  while (std::getline(lines, line)) {
    const bool is_fence = line.starts_with("```");
    inside = inside != is_fence;
    out += inside || is_fence ? "\n" : line + "\n";
  }
  return out;
}

/// Types of a header that others may use, each with the line before it.
struct PublicType {
  std::string name;
  int line = 0;
  bool has_comment = false;
};

/// Namespace-level types of a header. Partial specializations and forward declarations do not count.
std::vector<PublicType> public_types(const std::string& header) {
  static const std::regex type("^(?:struct|class|enum class|enum|union) (\\w+)\\b(?!<)[^;{]*(?:\\{.*|)$");
  std::vector<PublicType> found;
  std::istringstream lines(header);
  std::string line, above;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with("template") || line.starts_with("  requires")) continue;
    std::smatch match;
    const bool is_specialized = line.find('<') < std::min(line.find(':'), line.find('{'));
    if (std::regex_match(line, match, type) && !is_specialized)
      found.push_back({match[1], number, above.starts_with("//")});
    above = line;
  }
  return found;
}

}  // namespace

TEST_CASE("law: files that comments name are in the tree") {
  CHECK(cited_paths("see docs/sources/links.md 1, and (sim/engine/max_min.hpp).") ==
        std::vector<std::string>{"docs/sources/links.md", "sim/engine/max_min.hpp"});
  CHECK(cited_paths("github.com/a/b/docs/c.md").empty());
  CHECK(is_there("sim/strategy/NAME.cpp", kRoot));
  CHECK_FALSE(is_there("docs/sources/no_such_page.md", kRoot));
  const auto is_comment = [](const std::string& line) { return line.find("//") != std::string::npos; };
  for (const char* folder : {"sim", "calibrate", "tests/laws", "tests/physics", "tests/measured"}) {
    for (const SourceFile& file : read_sources(FORETRAIN_SOURCE_DIR, folder))
      if (file.path != "tests/laws/citation_laws.cpp") check_citations(file.path, file.text, is_comment);
  }
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "topologies")) {
    const std::string name = fs::relative(entry.path(), kRoot).string();
    if (entry.path().extension() == ".toml") {
      check_citations(name, text_of(entry.path()),
                      [](const std::string& line) { return line.find('#') != std::string::npos; });
    }
  }
}

TEST_CASE("law: files that pages name are in the tree") {
  for (const fs::path& page : pages()) {
    check_citations(fs::relative(page, kRoot).string(), without_blocks(text_of(page)),
                    [](const std::string&) { return true; });
  }
}

TEST_CASE("law: the glossary has sixty terms, each with a sentence and the file where it lives") {
  static const std::regex row("^\\| ([^|]+) \\| ([^|]+\\.) \\| `([^`|]+)` \\|$");
  std::istringstream lines(text_of(kRoot / "docs/glossary.md"));
  std::set<std::string> terms;
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with("| ") || line.starts_with("| term")) continue;
    std::smatch part;
    INFO(line);
    REQUIRE(std::regex_match(line, part, row));
    CHECK(terms.insert(part[1]).second);
    CHECK(fs::exists(kRoot / part[3].str()));
  }
  CHECK(terms.size() >= 60);
}

TEST_CASE("law: every public type has a comment") {
  const std::vector<PublicType> sample =
      public_types("/// A task.\nstruct Task {\n};\nclass Queue;\nenum class Kind { host };\n");
  REQUIRE(sample.size() == 2);
  CHECK(sample[0].has_comment);
  CHECK_FALSE(sample[1].has_comment);
  for (const SourceFile& file : read_sources(FORETRAIN_SOURCE_DIR, "sim")) {
    if (!file.path.ends_with(".hpp")) continue;
    for (const PublicType& type : public_types(file.text)) {
      if (!type.has_comment)
        FAIL_CHECK(file.path << ":" << type.line << ": " << type.name << " has no comment");
    }
  }
}

}  // namespace citation_laws

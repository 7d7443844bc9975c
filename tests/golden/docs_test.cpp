// What the documentation says is true: its commands run, its TOML is read, its reference pages are what the
// program prints.
//
// Commands are the lines of ```console and ```sh blocks that call foretrain. They run in a folder that looks
// like the root of the source tree, where they may write. <!-- expect 1 --> above a block says how its
// commands end, ```console-error that they fail.
// <!-- scenario -->, <!-- model -->, <!-- cluster -->, <!-- sweep --> or <!-- provenance --> above a ```toml
// block has it read; a file name in the comment, as in <!-- scenario my.toml -->, puts it where the commands
// below find it. Below <!-- output: foretrain … --> (or tools/…) stands what that prints, and below <!--
// image: foretrain … --> the picture that it draws with --svg. Each page is a test of its own
// (cmake/tests.cmake), which names it in the environment.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "sim/report/fields/output_shape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/markdown.hpp"
#include "tests/support/run_program.hpp"

namespace docs_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = FORETRAIN_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

test::ProgramRun run(const std::string& line, const fs::path& folder) {
  return test::run_program("export FORETRAIN_PATH='" + kRoot.string() + "'\n" + line, folder.string(),
                           FORETRAIN_BINARY);
}

/// A folder that can be written to, with links to everything in the root of the tree; gone when it ends.
class Playground {
 public:
  Playground() {
    std::string name = (fs::temp_directory_path() / "foretrain-docs-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    top_ = name;
    fs::create_directory(folder());
    for (const auto& entry : fs::directory_iterator(kRoot))
      fs::create_symlink(entry.path(), folder() / entry.path().filename());
  }
  ~Playground() { fs::remove_all(top_); }
  Playground(const Playground&) = delete;
  Playground& operator=(const Playground&) = delete;

  fs::path folder() const { return top_ / "main"; }

 private:
  fs::path top_;
};

bool holds_commands(const test::FencedBlock& block) {
  return block.language == "console" || block.language == "sh" || block.language == "console-error";
}

void check_commands(const test::FencedBlock& block, const Playground& playground) {
  for (const std::string& line : test::command_lines(block.text)) {
    INFO("a server does not end: it belongs into a block without a language, which is not run");
    REQUIRE_FALSE((line.starts_with("foretrain serve") || line.starts_with("foretrain mcp")));
    const test::ProgramRun outcome = run(line, playground.folder());
    INFO(line << "\n" << outcome.output);
    if (block.note.starts_with("expect ")) {
      CHECK(outcome.exit_code == std::atoi(block.note.c_str() + 7));
    } else {
      CHECK((outcome.exit_code == 0) == (block.language != "console-error"));
    }
  }
}

/// The command that reads a file of that kind; empty for a kind that is none.
std::string reading_command(const std::string& kind, const std::string& file) {
  if (kind == "scenario") return "foretrain predict ./" + file;
  if (kind == "model") return "foretrain predict --model ./" + file + " --cluster star-1gpu --gpus 1";
  if (kind == "cluster") return "foretrain topology check ./" + file;
  // Asks for a script, which reads the sweep and times some cases.
  if (kind == "sweep") return "foretrain sweep submit ./" + file + " --slurm";
  if (kind == "provenance") return "foretrain validate docs/measured/puhti.csv --provenance ./" + file;
  return "";
}

void check_toml(const test::FencedBlock& block, const Playground& playground) {
  const std::size_t space = block.note.find(' ');
  const std::string file =
      space == std::string::npos ? fmt::format("block_{}.toml", block.line) : block.note.substr(space + 1);
  const std::string command = reading_command(block.note.substr(0, space), file);
  if (command.empty()) return;
  std::ofstream(playground.folder() / file) << block.text;
  const test::ProgramRun outcome = run(command, playground.folder());
  INFO(command << "\n" << outcome.output);
  CHECK(outcome.exit_code == 0);
}

void check_output(const test::FencedBlock& block, const Playground& playground) {
  const std::string line = block.note.substr(std::string_view("output: ").size());
  const test::ProgramRun outcome = run(line, playground.folder());
  INFO(line);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output == block.text);
}

void check_picture(const test::Picture& picture, const fs::path& folder, const Playground& playground) {
  const fs::path drawn = playground.folder() / "drawn.svg";
  fs::remove(drawn);
  const test::ProgramRun outcome =
      run(picture.command + " -o /dev/null --svg drawn.svg", playground.folder());
  INFO(picture.command << "\n" << outcome.output);
  CHECK(outcome.exit_code == 0);
  CHECK(text_of(folder / picture.file) == text_of(drawn));
}

}  // namespace

TEST_CASE("the page named by FORETRAIN_PAGE is right",
          "[.]") {  // `make docs` writes its outputs and pictures
  const char* page = std::getenv("FORETRAIN_PAGE");
  REQUIRE(page != nullptr);
  const std::string text = text_of(kRoot / page);
  REQUIRE_FALSE(text.empty());
  const Playground playground;
  for (const test::FencedBlock& block : test::fenced_blocks(text)) {
    INFO(page << ":" << block.line);
    if (holds_commands(block)) check_commands(block, playground);
    if (block.language == "toml") check_toml(block, playground);
    if (block.note.starts_with("output: ")) check_output(block, playground);
  }
  for (const test::Picture& picture : test::pictures(text))
    check_picture(picture, (kRoot / page).parent_path(), playground);
}

TEST_CASE("the reference pages are what the program prints (`make docs` writes them)") {
  for (const std::string topic :
       {"commands", "scenario", "cluster", "model", "output", "catalogs", "constants"}) {
    const test::ProgramRun printed = run("foretrain reference " + topic, kRoot);
    INFO(topic);
    REQUIRE(printed.exit_code == 0);
    CHECK(text_of(kRoot / "docs/reference" / (topic + ".md")) == printed.output);
  }
}

TEST_CASE("schemas and types of other languages are what the program prints of the declared fields") {
  std::vector<std::pair<std::string, std::string>> files{{"typescript", "web/report/src/reports.ts"},
                                                         {"python", "python/foretrain/reports.py"}};
  for (const DeclaredReport& report : declared_reports()) {
    const std::string topic = "schema/" + std::string(report.name);
    files.emplace_back(topic, "docs/reference/" + topic + ".json");
  }
  for (const auto& [topic, file] : files) {
    const test::ProgramRun printed = run("foretrain reference " + topic, kRoot);
    INFO(file << ": `make docs` writes it");
    REQUIRE(printed.exit_code == 0);
    CHECK(text_of(kRoot / file) == printed.output);
  }
}

TEST_CASE("a machine or a network of one's own takes under 40 lines of TOML, the question included") {
  for (const std::string page : {"my-machine", "my-model"}) {
    int blocks = 0;
    std::ptrdiff_t lines = 0;
    for (const test::FencedBlock& block :
         test::fenced_blocks(text_of(kRoot / "docs/tutorials" / (page + ".md")))) {
      // What people write themselves; blocks below an output are what the program writes.
      const std::string kind = block.note.substr(0, block.note.find(' '));
      if (block.language != "toml" || reading_command(kind, "").empty()) continue;
      ++blocks;
      lines += std::ranges::count(block.text, '\n');
    }
    INFO(page << ": " << lines << " lines in " << blocks << " files");
    CHECK(blocks == 3);
    CHECK(lines > 20);
    CHECK(lines < 40);
  }
}

TEST_CASE("fenced blocks are found with their language, their line and the comment above") {
  const auto blocks = test::fenced_blocks(
      "text\n\n<!-- expect 1 -->\n\n```console title\n$ a\n```\nmore\n  ```toml\nb = 1\n");
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].line == 5);
  CHECK(blocks[0].language == "console");
  CHECK(blocks[0].note == "expect 1");
  CHECK(blocks[0].text == "$ a\n");
  CHECK(blocks[1].language == "toml");
  CHECK(blocks[1].note.empty());
  CHECK(blocks[1].text == "b = 1\n");
}

TEST_CASE("pictures are found with their command and file") {
  const auto pictures = test::pictures(
      "<!-- image: foretrain a b -->\n![c](d/e.svg)\n\n![no command](f.svg)\n<!-- image: foretrain g -->\n");
  REQUIRE(pictures.size() == 1);
  CHECK(pictures[0].command == "foretrain a b");
  CHECK(pictures[0].file == "d/e.svg");
}

TEST_CASE("command lines are those that call foretrain, with their continuations") {
  const auto commands = test::command_lines(
      "$ foretrain list gpus\nfoo\nls foretrain\nforetrain predict \\\n  --gpus 1\n$ cd x\n");
  CHECK(commands == std::vector<std::string>{"foretrain list gpus", "foretrain predict --gpus 1"});
}

TEST_CASE("a run program tells its exit code and what it wrote") {
  CHECK(test::run_program("echo out; echo err >&2; exit 3", "/", "/x/y").exit_code == 3);
  CHECK(test::run_program("echo out; echo err >&2", "/", "/x/y").output == "out\nerr\n");
  CHECK(test::run_program("kill -9 $$", "/", "/x/y").exit_code == 128 + 9);
  CHECK(test::run_program("pwd; cat", "/usr", "/x/it's").output == "/usr\n");
}

}  // namespace docs_test

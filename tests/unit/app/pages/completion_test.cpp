// Completion of commands in shells, asked of the shells themselves, and the manual page.
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace completion_test {

using Catch::Matchers::StartsWith;
using foretrain::test::TemporaryFolder;

namespace {

/// What bash offers for the last of the words.
std::vector<std::string> completed(const TemporaryFolder& folder, const std::string& words) {
  folder.write(
      "ask.sh",
      "source <(foretrain completion bash)\nCOMP_WORDS=(" + words +
          ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_foretrain\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  std::istringstream lines(folder.run("bash ask.sh").output);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

bool is_installed(const TemporaryFolder& folder, const std::string& program) {
  return folder.run("command -v " + program).exit_code == 0;
}

}  // namespace

TEST_CASE("bash completes commands, options, choices and names of catalogs") {
  const TemporaryFolder folder;
  if (!is_installed(folder, "bash")) FORETRAIN_SKIP("no bash here");
  using Names = std::vector<std::string>;
  CHECK(completed(folder, "foretrain pred") == Names{"predict"});
  CHECK(completed(folder, "foretrain topology ''") ==
        Names{"show", "new", "import", "questions", "detect", "check", "diff", "draw"});
  CHECK(completed(folder, "foretrain predict --clu") == Names{"--cluster"});
  CHECK(completed(folder, "foretrain predict --format ''") == Names{"table", "json", "html", "csv"});
  CHECK(completed(folder, "foretrain collective --op all_r") == Names{"all_reduce"});
  CHECK(completed(folder, "foretrain predict --cluster puht") == Names{"puhti"});
  CHECK(completed(folder, "foretrain predict --cluster = puht") ==
        Names{"puhti"});  // as bash cuts --cluster=puht
  CHECK(completed(folder, "foretrain topology show --channels puht") == Names{"puhti"});
  CHECK(completed(folder, "foretrain predict csc-mnist-dd") == Names{"csc-mnist-ddp"});
  CHECK(completed(folder, "foretrain model show resnet15") == Names{"resnet152"});
  CHECK(completed(folder, "foretrain compare --models resnet50,resnet15") == Names{"resnet50,resnet152"});
  CHECK(completed(folder, "foretrain model show resnet50 --gpu l40") == Names{"l40", "l40s"});
  CHECK(completed(folder, "foretrain predict -o ask") == Names{"ask.sh"});
  CHECK(completed(folder, "foretrain predict --gpus ''") == Names{""});
}

TEST_CASE("the scripts of the other shells have no mistakes of syntax") {
  const TemporaryFolder folder;
  folder.run("foretrain completion zsh > _foretrain; foretrain completion fish > foretrain.fish");
  CHECK_THAT(folder.read("_foretrain"), StartsWith("#compdef foretrain\n"));
  CHECK_THAT(folder.read("foretrain.fish"), ContainsSubstring("complete -c foretrain"));
  if (is_installed(folder, "zsh")) CHECK(folder.run("zsh -n _foretrain").output.empty());
  if (is_installed(folder, "fish")) CHECK(folder.run("fish --no-execute foretrain.fish").output.empty());
}

TEST_CASE("the manual page has every command, and no line that troff takes for a request") {
  const TemporaryFolder folder;
  const std::string page = folder.run("foretrain reference man").output;
  CHECK_THAT(page, StartsWith(".TH FORETRAIN 1"));
  for (const char* section :
       {".SS foretrain predict\n", ".SS foretrain topology draw\n", ".SH EXIT STATUS\n"})
    CHECK_THAT(page, ContainsSubstring(section));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('.')) continue;
    const std::string request = line.substr(0, line.find(' '));
    INFO(line);
    CHECK((request == ".TH" || request == ".SH" || request == ".SS" || request == ".TP" || request == ".PP" ||
           request == ".B" || request == ".I" || request == ".RI" || request == ".nf" || request == ".fi"));
  }
}

TEST_CASE("names alone are listed without a look into the files") {
  const TemporaryFolder folder;
  CHECK_THAT(folder.run("foretrain list clusters --names").output, ContainsSubstring("\npuhti\n"));
  CHECK_THAT(folder.run("foretrain list strategies --names").output, StartsWith("single\n"));
  folder.run("mkdir -p own/models own/topologies && echo wrong > own/models/mine.toml");
  CHECK_THAT(folder.run("FORETRAIN_PATH=own:$FORETRAIN_PATH foretrain list models --names").output,
             ContainsSubstring("\nmine\n"));
}

}  // namespace completion_test

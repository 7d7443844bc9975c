// Tests of the mutators: texts are cut as their languages nest, and mutants stay small and are the same
// again.
#include "tests/fuzz/mutators/mutate.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/support/catch.hpp"

namespace mutate_test {

using namespace foretrain::test;

namespace {

constexpr std::string_view kToml = "a = 1\n[run]\ngpus = [1, 2]\n[data]\nsamples = 10\n";

std::vector<std::string> texts_of(std::string_view text, const Level& level) {
  std::vector<std::string> texts;
  for (const Piece& piece : level) texts.emplace_back(text.substr(piece.begin, piece.end - piece.begin));
  return texts;
}

bool has_level(Language language, std::string_view text, const std::vector<std::string>& wanted) {
  return std::ranges::any_of(levels_of(language, text),
                             [&](const Level& level) { return texts_of(text, level) == wanted; });
}

std::set<std::string> mutants_of(Language language, std::string_view text, unsigned count) {
  std::set<std::string> mutants;
  for (unsigned seed = 1; seed <= count; ++seed) {
    std::minstd_rand random(seed);
    for (int warm_up = 0; warm_up < 3; ++warm_up) random();
    mutants.insert(mutated(language, text, 4096, random));
  }
  return mutants;
}

}  // namespace

TEST_CASE("TOML is cut into tables, lines, values, lists and words") {
  CHECK(has_level(Language::toml, kToml, {"a = 1\n", "[run]\ngpus = [1, 2]\n", "[data]\nsamples = 10\n"}));
  CHECK(has_level(Language::toml, kToml, {" 1\n", " [1, 2]\n", " 10\n"}));
  CHECK(has_level(Language::toml, kToml, {"[run]", "[1, 2]", "[data]"}));
  CHECK(has_level(Language::toml, kToml, {"a", "1", "run", "gpus", "1", "2", "data", "samples", "10"}));
}

TEST_CASE("a CSV is cut into rows and fields") {
  CHECK(has_level(Language::csv, "a,b\n1,22\n", {"a,b\n", "1,22\n"}));
  CHECK(has_level(Language::csv, "a,b\n1,22\n", {"a", "b", "1", "22"}));
}

TEST_CASE("XML is cut into elements by their depth") {
  const std::string_view text = "<log><gpu id='1'><t>3</t></gpu><x/></log>";
  CHECK(has_level(Language::xml, text, {std::string(text)}));
  CHECK(has_level(Language::xml, text, {"<gpu id='1'><t>3</t></gpu>", "<x/>"}));
  CHECK(has_level(Language::xml, text, {"<t>3</t>"}));
}

TEST_CASE("JSON is cut into objects and lists by their depth, and into members") {
  const std::string_view text = R"({"a":[1,2],"b":{"c":3}})";
  CHECK(has_level(Language::json, text, {"[1,2]", R"({"c":3})"}));
  CHECK(has_level(Language::json, text, {R"("a":)", "1", "2", R"("b":)", R"("c":3)"}));
}

TEST_CASE("a shell script is cut into lines, values and words") {
  const std::string_view text = "#SBATCH --nodes=2\nsrun python a.py\n";
  CHECK(has_level(Language::shell, text, {"#SBATCH --nodes=2\n", "srun python a.py\n"}));
  CHECK(has_level(Language::shell, text, {"#SBATCH", "--nodes=2", "srun", "python", "a.py"}));
}

TEST_CASE(
    "tables are left out, doubled and exchanged, numbers become extreme, values are put into each other") {
  const std::set<std::string> mutants = mutants_of(Language::toml, kToml, 3000);
  const auto made = [&](std::string_view mutant) { return mutants.contains(std::string(mutant)); };
  CHECK(made("a = 1\n[data]\nsamples = 10\n"));
  CHECK(made("a = 1\n[data]\nsamples = 10\n[run]\ngpus = [1, 2]\n"));
  CHECK(made("a = 1\n[run]\ngpus = [1, 2]\n[run]\ngpus = [1, 2]\n[data]\nsamples = 10\n"));
  CHECK(std::ranges::any_of(mutants,
                            [](const std::string& m) { return m.find("1e308") != std::string::npos; }));
  CHECK(std::ranges::any_of(
      mutants, [](const std::string& m) { return m.find("{ a = [1, 2] }") != std::string::npos; }));
  CHECK(std::ranges::any_of(mutants,
                            [](const std::string& m) { return m.find("[[[[[[[[[[") != std::string::npos; }));
  CHECK(mutants.size() > 600);
}

TEST_CASE("mutants of any bytes stay within the limit, and are the same for the same seed") {
  std::minstd_rand bytes(7);
  for (unsigned seed = 1; seed < 300; ++seed) {
    std::string text(bytes() % 200, '\0');
    for (char& c : text) c = "ab1 \n=[]{}<>/\",\\'$\x80"[bytes() % 20];
    for (const Language language :
         {Language::toml, Language::csv, Language::xml, Language::json, Language::shell, Language::lines}) {
      std::minstd_rand first(seed), again(seed);
      const std::string mutant = mutated(language, text, 250, first);
      REQUIRE(mutant.size() <= 250);
      REQUIRE(mutant == mutated(language, text, 250, again));
    }
  }
}

TEST_CASE("every language has a target, and every target with a language is there") {
  std::set<Language> languages;
  for (const auto& entry : std::filesystem::directory_iterator(FORETRAIN_SOURCE_DIR "/tests/fuzz"))
    if (entry.path().extension() == ".cpp") languages.insert(language_of(entry.path().stem().string()));
  CHECK(languages.size() == 6);
}

}  // namespace mutate_test

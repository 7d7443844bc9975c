// Files of rules about measured rows: what a rule says, and every mistake with its place.
#include "sim/scenario/provenance.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace schema_provenance_test {

using namespace foretrain;

namespace {

const std::string kSaid = "said_in = \"its log\"\n";
const std::string kWords = "words = [\"xla\"]\n";
const std::string kSettings = "settings = { framework.execution = \"compiled\" }\n";

std::string mistakes(const std::string& text) {
  test::use_source_catalogs();
  const SourceText source{"p.toml", text};
  Diagnostics diagnostics(source);
  read_provenance(source, diagnostics);
  return format(diagnostics.found());
}

/// The only rule of a text without mistakes.
ProvenanceRule rule(const std::string& text) {
  test::use_source_catalogs();
  const SourceText source{"p.toml", "[[rule]]\n" + text};
  Diagnostics diagnostics(source);
  Provenance provenance = read_provenance(source, diagnostics);
  INFO(format(diagnostics.found()));
  CHECK(diagnostics.empty());
  REQUIRE(provenance.rules.size() == 1);
  return provenance.rules[0];
}

/// What a rule that is right but for `line` is answered with.
std::string mistake_in(const std::string& line) {
  return mistakes("[[rule]]\n" + line + "\n" + kSaid + kWords + kSettings);
}

}  // namespace

TEST_CASE("a rule has words, what it sets and where it is said") {
  const ProvenanceRule r = rule(kWords + kSettings + kSaid);
  CHECK(r.words == std::vector<std::string>{"xla"});
  REQUIRE(r.settings.size() == 1);
  CHECK(r.settings[0].key == "framework.execution");
  CHECK(r.settings[0].value == "\"compiled\"");
  CHECK(r.settings[0].place == SourceSpan{3, 36, 10});
  CHECK(r.said_in == "its log");
  CHECK((r.in_series && r.in_source));
  CHECK((r.framework + r.model_prefix + r.cluster + r.strategy + r.precision + r.as_cluster + r.as_strategy)
            .empty());
}

TEST_CASE("a rule can say what a throughput counts") {
  CHECK(rule(kWords + "run_as = { unit = \"frames\" }\n" + kSaid).counts == "frames");
  CHECK(rule(kWords + kSettings + kSaid).counts.empty());
}

TEST_CASE("a rule has conditions, and another cluster and strategy") {
  const ProvenanceRule r =
      rule(kSaid + "words = [\"XLA\", \"Trt2\"]\ncolumns = [\"source\"]\nunless_after = [\"Without-\"]\n" +
           "unless_set = [\"framework\", \"strategy.num_packs\"]\n" +
           "where = { framework = \"tensorflow\", model_prefix = \"bert\", cluster = \"puhti\", strategy = "
           "\"anything\", "
           "precision = \"amp_fp16\" }\nrun_as = { cluster = \"mahti\", strategy = \"mirrored\" }\n");
  CHECK(r.words == std::vector<std::string>{"xla", "trt2"});
  CHECK(r.unless_after == std::vector<std::string>{"without-"});
  CHECK(r.unless_set == std::vector<std::string>{"framework", "strategy.num_packs"});
  CHECK_FALSE(r.in_series);
  CHECK(r.in_source);
  CHECK(r.framework == "tensorflow");
  CHECK(r.model_prefix == "bert");
  CHECK(r.cluster == "puhti");
  CHECK(r.strategy == "anything");
  CHECK(r.precision == "amp_fp16");
  CHECK(r.as_cluster == "mahti");
  CHECK(r.as_strategy == "mirrored");
  CHECK(r.settings.empty());
}

TEST_CASE("settings are keys with dots, in quotes or as tables, of every plain kind") {
  const ProvenanceRule r =
      rule(kSaid + kWords +
           "[rule.settings]\n\"framework.name\" = \"tensorflow\"\nstrategy.num_packs = 0\n"
           "loop.progress_bar = true\n[rule.settings.data]\ndecode_spread = 0.5\nname = 'a\"b'\n");
  std::string all;
  for (const RuleSetting& setting : r.settings) all += setting.key + "=" + setting.value + ";";
  CHECK(all ==
        "framework.name=\"tensorflow\";strategy.num_packs=0;loop.progress_bar=true;data.decode_spread=0.5;"
        "data.name=\"a\\\"b\";");
}

TEST_CASE("rules keep the order of their file") {
  const SourceText source{"p.toml", "[[rule]]\n" + kWords + kSettings + kSaid +
                                        "[[rule]]\nwords = [\"b\"]\n" + kSettings + kSaid};
  Diagnostics diagnostics(source);
  const Provenance provenance = read_provenance(source, diagnostics);
  REQUIRE(provenance.rules.size() == 2);
  CHECK(provenance.rules[1].words[0] == "b");
  CHECK(provenance.source.name == "p.toml");
}

TEST_CASE("mistakes in rules are shown whole") {
  CHECK(mistake_in("framwork = 1") == R"(p.toml:2:1: error: unknown key "framwork" in [rule]
  2 | framwork = 1
    | ^^^^^^^^
  hint: known: said_in, words, unless_after, columns, where, unless_set, settings, run_as
)");
  CHECK(mistake_in("unless_sett = [\"framework\"]") ==
        R"(p.toml:2:1: error: unknown key "unless_sett" in [rule]
  2 | unless_sett = ["framework"]
    | ^^^^^^^^^^^
  hint: did you mean "unless_set"?
)");
  CHECK(mistakes("[[rule]]\n" + kSaid + kWords + "settings = { framework.nam = \"tensorflow\" }\n") ==
        R"(p.toml:4:24: error: no scenario has the key "framework.nam"
  4 | settings = { framework.nam = "tensorflow" }
    |                        ^^^
  hint: did you mean "framework.name"?
)");
}

TEST_CASE("what a rule must have is asked for") {
  CHECK_THAT(mistakes("[[rule]]\n" + kWords + kSettings),
             ContainsSubstring("p.toml:1:1: error: rule.said_in is missing"));
  CHECK_THAT(mistakes("[[rule]]\n" + kSaid + kSettings), ContainsSubstring("rule.words is missing"));
  CHECK_THAT(mistakes("[[rule]]\n" + kSaid + kWords), ContainsSubstring("the rule changes nothing"));
  CHECK_THAT(mistakes("# nothing\n"),
             ContainsSubstring("rule is missing") && ContainsSubstring("add [[rule]]"));
  CHECK_THAT(mistakes("rule = 1\n"), ContainsSubstring("rule must be a list"));
  CHECK_THAT(mistakes("rule = [1]\n"), ContainsSubstring("p.toml:1:9: error: a rule is a table"));
  CHECK_THAT(mistakes("[[rules]]\n"), ContainsSubstring("did you mean \"rule\"?"));
}

TEST_CASE("every wrong value of a rule is a mistake") {
  const std::vector<test::Mistake> table{
      {"a framework", "where = { framework = \"tensorflo\" }",
       "p.toml:2:23: error: unknown rule.where.framework"},
      {"a precision", "where = { precision = \"fp61\" }", "unknown rule.where.precision \"fp61\""},
      {"a condition", "where = { modell = \"bert\" }", "unknown key \"modell\" in [rule.where]"},
      {"no text", "where = { strategy = 5 }", "rule.where.strategy must be a string"},
      {"no table", "where = [\"ddp\"]", "rule.where must be a table"},
      {"a column", "columns = [\"model\"]", "no text column is called \"model\""},
      {"no columns", "columns = []", "rule.columns is an empty list"},
      {"an empty text", "unless_after = [\" \"]", "p.toml:2:17: error: rule.unless_after is empty"},
      {"a number", "unless_after = [1]", "rule.unless_after must hold strings"},
      {"a long text", "unless_after = [\"" + std::string(501, 'x') + "\"]", "longer than 500 bytes"},
      {"a long list", "unless_after = [\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]",
       "at most 8 are allowed"},
      {"a table nobody has", "unless_set = [\"framwork\"]", "no scenario has the key or table \"framwork\""},
      {"a strategy", "run_as = { strategy = \"dpp\" }", "unknown rule.run_as.strategy \"dpp\""},
      {"a cluster", "run_as = { cluster = \"phuti\" }", "did you mean \"puhti\"?"},
      {"another column", "run_as = { precision = \"fp32\" }", "unknown key \"precision\" in [rule.run_as]"},
      {"nothing to run as", "run_as = {}", "rule.run_as is empty"}};
  for (const test::Mistake& mistake : table) {
    INFO(mistake.what);
    CHECK_THAT(mistake_in(mistake.text), ContainsSubstring(mistake.message));
  }
}

TEST_CASE("every wrong setting of a rule is a mistake") {
  const std::vector<test::Mistake> table{
      {"a column", "model.name = \"resnet50\"", "a rule cannot set model.name"},
      {"the cluster", "cluster.name = \"puhti\"", "as in run_as = "},
      {"a study", "study.batch = 1", "a rule cannot set study.batch"},
      {"a list", "data.samples = [1]", "data.samples must be one line of text, a number, true or false"},
      {"no number", "data.samples = inf", "must be one line of text"},
      {"a key twice", "data.name = \"a\", \"data.name\" = \"b\"", "data.name is set twice"},
      {"two lines", "data.name = \"a\\nb\"", "must be one line of text"}};
  for (const test::Mistake& mistake : table) {
    INFO(mistake.what);
    CHECK_THAT(mistakes("[[rule]]\n" + kSaid + kWords + "settings = { " + mistake.text + " }\n"),
               ContainsSubstring(mistake.message));
  }
  CHECK_THAT(mistakes("[[rule]]\n" + kSaid + kWords + "settings = {}\n"),
             ContainsSubstring("rule.settings is empty"));
}

TEST_CASE("all mistakes of all rules are shown at once") {
  const std::string shown =
      mistakes("[[rule]]\n" + kWords + "said = \"x\"\n[[rule]]\nwords = []\n" + kSettings + kSaid);
  CHECK_THAT(shown, ContainsSubstring("said_in is missing") && ContainsSubstring("changes nothing") &&
                        ContainsSubstring("unknown key \"said\"") &&
                        ContainsSubstring("rule.words is an empty list"));
}

TEST_CASE("there is a most of rules, and hostile files stay cheap") {
  std::string many, wrong = "[[rule]]\n[rule.settings]\n";
  for (int i = 0; i < 201; ++i) many += "[[rule]]\n" + kWords + kSettings + kSaid;
  for (int i = 0; i < 20'000; ++i) wrong += "k" + std::to_string(i) + " = 1\n";
  CHECK_THAT(mistakes(many), ContainsSubstring("rule has 201 entries, at most 200 are allowed"));
  CHECK_THAT(mistakes(wrong), ContainsSubstring("no scenario has the key \"k0\""));
}

TEST_CASE("a rule in an unreadable file is not said to lack what may have stood there") {
  const std::string shown = mistakes("[[rule]]\n" + kWords + kSaid + "settings = { framework.name = \n");
  CHECK_THAT(shown, !ContainsSubstring("changes nothing"));
  CHECK_THAT(shown, ContainsSubstring("error:"));
}

}  // namespace schema_provenance_test

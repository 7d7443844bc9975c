// As what rows are run: rules about their texts, one condition after the other, and what their numbers say.
#include "sim/analysis/validation/validation.hpp"
#include "tests/support/catch.hpp"

namespace inferred_settings_test {

using namespace foretrain;

namespace {

Measurement row(const std::string& strategy, int gpus, const std::string& source = "somebody's README") {
  Measurement m;
  m.strategy = strategy, m.gpus = gpus, m.source = source;
  return m;
}

/// Words set "a.key = 1".
ProvenanceRule about(std::vector<std::string> words, const std::string& key = "a.key") {
  ProvenanceRule rule;
  rule.words = std::move(words), rule.said_in = "its log";
  rule.settings = {{key, "1", {}}};
  return rule;
}

Measurement told(const std::vector<ProvenanceRule>& rules, const Measurement& m) {
  std::vector<Measurement> rows{m};
  apply_provenance({{}, rules}, rows);
  return rows.front();
}

/// Whether the only rule takes effect on the row.
bool takes(const ProvenanceRule& rule, const Measurement& m) {
  return told({rule}, m).settings.size() > m.settings.size();
}

Measurement with_source(const std::string& source) { return row("ddp", 1, source); }

}  // namespace

TEST_CASE("a word is found alone, beside digits and signs, in capitals, in series and source") {
  const ProvenanceRule xla = about({"xla"});
  for (const char* source : {"xla", "RTX_A6000_XLA_TF1_15.logs", "x xla2", "relax xla", "with-Xla"})
    CHECK(takes(xla, with_source(source)));
  for (const char* source : {"", "relaxlations", "xlab", "axla"})
    CHECK_FALSE(takes(xla, with_source(source)));
  Measurement named = with_source("");
  named.series = "BERT-with-xla";
  CHECK(takes(xla, named));
}

TEST_CASE("a rule may look in one column only") {
  ProvenanceRule rule = about({"xla"});
  rule.in_series = false;
  Measurement m = with_source("README");
  m.series = "with-xla";
  CHECK_FALSE(takes(rule, m));
  rule.in_series = true, rule.in_source = false;
  CHECK(takes(rule, m));
  CHECK_FALSE(takes(rule, with_source("xla")));
}

TEST_CASE("all words of a rule must be there, each in any of its columns") {
  const ProvenanceRule rule = about({"benchmark", "trt2"});
  CHECK_FALSE(takes(rule, with_source("benchmark")));
  CHECK(takes(rule, with_source("benchmark logs/x_trt2_y")));
  Measurement both = with_source("benchmark");
  both.series = "trt2";
  CHECK(takes(rule, both));
}

TEST_CASE("a word behind a denial does not count, another one does") {
  ProvenanceRule rule = about({"xla"});
  rule.unless_after = {"without-", "w-o-"};
  CHECK_FALSE(takes(rule, with_source("batch-64-Without-XLA")));
  CHECK_FALSE(takes(rule, with_source("w-o-xla")));
  CHECK(takes(rule, with_source("without-xla and with-xla")));
}

TEST_CASE("each condition alone keeps a rule from rows that do not meet it") {
  Measurement m = with_source("log");
  m.model = "bert_large_s384", m.cluster = "puhti", m.precision = "amp_fp16",
  m.settings = {{"framework.name", "\"tensorflow\""}};
  const auto with = [](std::string ProvenanceRule::*condition, const char* value) {
    ProvenanceRule rule = about({"log"});
    rule.*condition = value;
    return rule;
  };
  CHECK(takes(with(&ProvenanceRule::model_prefix, "bert"), m));
  CHECK_FALSE(takes(with(&ProvenanceRule::model_prefix, "large"), m));
  CHECK(takes(with(&ProvenanceRule::cluster, "puhti"), m));
  CHECK_FALSE(takes(with(&ProvenanceRule::cluster, "puh"), m));
  CHECK(takes(with(&ProvenanceRule::strategy, "ddp"), m));
  CHECK_FALSE(takes(with(&ProvenanceRule::strategy, "mirrored"), m));
  CHECK(takes(with(&ProvenanceRule::precision, "amp_fp16"), m));
  CHECK_FALSE(takes(with(&ProvenanceRule::precision, "fp32"), m));
  CHECK(takes(with(&ProvenanceRule::framework, "tensorflow"), m));
  CHECK_FALSE(takes(with(&ProvenanceRule::framework, "pytorch"), m));
  m.settings = {{"framework.name", " tensorflow"}};  // as people write it in a CSV
  CHECK(takes(with(&ProvenanceRule::framework, "tensorflow"), m));
  m.settings.clear();
  CHECK_FALSE(takes(with(&ProvenanceRule::framework, "tensorflow"), m));
}

TEST_CASE("what a row's settings say counts before its source") {
  const ProvenanceRule rule = about({"log"}, "framework.name");
  Measurement m = with_source("log");
  m.settings = {{"framework.name", "\"pytorch\""}};
  CHECK_FALSE(takes(rule, m));
  m.settings = {{"framework.version", "\"2.1\""}};
  CHECK(takes(rule, m));
  ProvenanceRule careful = rule;
  careful.unless_set = {"framework"};
  CHECK_FALSE(takes(careful, m));
  m.settings = {{"frameworks", "1"}};
  CHECK(takes(careful, m));
}

TEST_CASE("a rule above counts before one below, and is no setting of the row's own") {
  ProvenanceRule first = about({"log"}, "framework.name"), second = first,
                 third = about({"log"}, "framework.execution");
  first.settings[0].value = "\"tensorflow\"";
  third.unless_set = {"framework"}, third.framework = "tensorflow";
  const Settings settings = told({first, second, third}, with_source("log")).settings;
  CHECK(settings == Settings{{"framework.name", "\"tensorflow\""}, {"framework.execution", "1"}});
  CHECK(told({third, first}, with_source("log")).settings.size() == 1);  // not known yet
}

TEST_CASE("a rule runs rows on another cluster with another strategy") {
  ProvenanceRule rule;
  rule.words = {"trt2"}, rule.said_in = "its log", rule.cluster = "puhti", rule.as_cluster = "mahti",
  rule.as_strategy = "zero1";
  Measurement m = with_source("trt2");
  m.cluster = "puhti";
  const Measurement run = told({rule}, m);
  CHECK(run.cluster == "mahti");
  CHECK(run.strategy == "zero1");
  m.cluster = "raven";
  CHECK(told({rule}, m).cluster == "raven");
  CHECK(told({rule}, m).strategy == "ddp");
}

TEST_CASE("a rule that says what rows count makes them rates, but not those that have a unit") {
  ProvenanceRule frames;
  frames.words = {"log"}, frames.said_in = "its script", frames.counts = "frames";
  std::vector<Measurement> rows{with_source("log"), with_source("log"), with_source("x")};
  rows[1].metric = Measurement::Metric::step_s;
  CHECK(apply_provenance({{}, {frames}}, rows) ==
        std::vector<InferredSetting>{{"throughput in frames, not samples", 1, "its script"}});
  CHECK(rows[0].metric == Measurement::Metric::rate);
  CHECK(rows[1].metric == Measurement::Metric::step_s);
  CHECK(rows[2].metric == Measurement::Metric::samples_per_s);
  frames.words = {"nowhere"};
  CHECK(apply_provenance({{}, {frames}}, rows) ==
        std::vector<InferredSetting>{{"throughput in frames", 0, "its script"}});
}

TEST_CASE("what rules tell is counted in their order, with where it is said, also when no row hears it") {
  ProvenanceRule both = about({"log"}, "b.key"), silent = about({"nowhere"}), moved;
  both.settings.push_back({"a.key", "2", {}});
  moved.words = {"log"}, moved.said_in = "its page", moved.as_cluster = "mahti";
  ProvenanceRule unmoved = moved;
  unmoved.words = {"nowhere"};
  std::vector<Measurement> rows{with_source("log"), with_source("log"), with_source("x")};
  rows[0].cluster = "puhti", rows[1].cluster = "mahti";
  CHECK(apply_provenance({{}, {both, silent, moved, unmoved}}, rows) ==
        std::vector<InferredSetting>{{"a.key = 2", 2, "its log"},
                                     {"b.key = 1", 2, "its log"},
                                     {"a.key = 1", 0, "its log"},
                                     {"cluster mahti for puhti", 1, "its page"},
                                     {"cluster mahti", 0, "its page"}});
  CHECK(apply_provenance({}, rows).empty());
}

TEST_CASE("an unknown strategy on one GPU is the plain loop, on several it stays") {
  std::vector<Measurement> rows{row("no_such_strategy", 1), row("no_such_strategy", 2), row("ddp", 1)};
  CHECK(name_plain_loops(rows) == std::vector<InferredSetting>{{"strategy single for no_such_strategy", 1}});
  CHECK(rows[0].strategy == "single");
  CHECK(rows[1].strategy == "no_such_strategy");
  CHECK(rows[2].strategy == "ddp");
  CHECK(rows[0].settings.empty());
}

TEST_CASE(
    "a series of MirroredStrategy that goes on over several nodes is MultiWorkerMirroredStrategy's from its "
    "first row") {
  std::vector<Measurement> rows{row("mirrored", 1), row("mirrored", 16), row("mirrored", 8)};
  rows[0].series = rows[1].series = "over nodes", rows[2].series = "one node";
  rows[1].nodes = 2;
  CHECK(name_several_workers(rows) ==
        std::vector<InferredSetting>{{"strategy multi_worker_mirrored for mirrored", 2}});
  CHECK(rows[0].strategy == "multi_worker_mirrored");
  CHECK(rows[1].strategy == "multi_worker_mirrored");
  CHECK(rows[2].strategy == "mirrored");
}

}  // namespace inferred_settings_test

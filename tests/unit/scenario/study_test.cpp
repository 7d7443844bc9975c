// Table [study]: what it takes, what it refuses with which words, and how its combinations are counted.
#include "sim/scenario/study.hpp"

#include "sim/strategy/catalog.hpp"
#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace study_test {

using namespace foretrain;

namespace {

const std::string kText =
    "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n[run]\ngpus = [1, 4]\n";  // 6 lines

Scenario read(const std::string& more, const ScenarioOverrides& overrides = {}) {
  test::use_source_catalogs();
  return read_scenario({"s.toml", kText + more}, overrides);
}

Scenario combination(const std::string& more, std::size_t number, ScenarioOverrides overrides = {}) {
  const Scenario own = read(more, overrides);
  overrides.combination = settings_of(own.study, study_points(own.study, own.strategy).at(number));
  return read(more, overrides);
}

/// "64 dp, 64 ddp, …"
std::string points(const Scenario& scenario) {
  std::string out;
  for (const StudyPoint& point : study_points(scenario.study, scenario.strategy)) {
    if (!out.empty()) out += ",";
    for (const Value& value : point) out += (out.empty() || out.back() == ',' ? "" : " ") + text_of(value);
  }
  return out;
}

std::string mistakes(const std::string& study, const ScenarioOverrides& overrides = {}) {
  return test::scenario_mistakes(kText + "[study]\n" + study, overrides);
}

std::string list_of(int count) {
  std::string out;
  for (int i = 1; i <= count; ++i) out += std::to_string(i) + ", ";
  return "[" + out + "]";
}

ScenarioOverrides with(std::vector<std::string> settings) {
  ScenarioOverrides overrides;
  overrides.settings = std::move(settings);
  return overrides;
}

}  // namespace

TEST_CASE("a scenario without a study has no axes") { CHECK(read("").study.axes.empty()); }

TEST_CASE("the combinations of a study come in the order written, the last axis fastest") {
  CHECK(points(read("[study]\nbatch = [64, 128]\nstrategy = [\"dp\", \"ddp\"]\n")) ==
        "64 dp,64 ddp,128 dp,128 ddp");
  CHECK(points(read("[study]\n\"loop.non_blocking\" = [true, false]\n\"data.decode_spread\" = [0.5]\n")) ==
        "true 0.5,false 0.5");
}

TEST_CASE("short names stand for keys, and batch for the kind of batch that the scenario has") {
  CHECK(read("[study]\nbatch = [64]\nworkers = [2]\n").study.axes[0].key == "model.batch_per_gpu");
  CHECK(read("[study]\nbatch = [64]\nworkers = [2]\n").study.axes[1].key == "data.workers_per_gpu");
  CHECK(read("[study]\nbatch = [64]\n", with({"model.global_batch=32"})).study.axes.empty());
  const std::string strong =
      "[model]\nname = \"mnist_net\"\nglobal_batch = 64\n[cluster]\nname = \"puhti\"\n[study]\nbatch = "
      "[32]\n";
  CHECK(read_scenario({"s.toml", strong}, {}).study.axes.at(0).key == "model.global_batch");
}

TEST_CASE("a combination is the scenario with its values set") {
  const std::string study =
      "[data]\nworkers_per_gpu = 1\n[study]\nbatch = [64, 128]\nworkers = [3]\nstrategy = [\"ddp\", "
      "\"horovod\"]\n";
  const Scenario last = combination(study, 3);
  CHECK(last.workload.batch_per_gpu == 128);
  CHECK(last.workload.data.workers_per_gpu == 3);
  CHECK(last.strategy == "horovod");
  CHECK(last.study.axes.empty());
  CHECK(read(study).workload.data.workers_per_gpu == 1);
}

TEST_CASE(
    "numbers of GPUs are no part of a combination's settings but the list of all of them, as far as the "
    "cluster goes") {
  const std::string study = "[study]\ngpus = [2, 100000, 8]\n";
  CHECK(combination(study, 0).gpus == std::vector<int>{2, 8});
  CHECK(combination(study, 1).gpus == std::vector<int>{2, 8});
}

TEST_CASE("what is measured belongs to the scenario as it stands, not to its combinations") {
  CHECK_FALSE(combination("[measured]\nstep = \"3 ms\"\n[study]\nbatch = [64]\n", 0).anchor);
}

TEST_CASE("an option varies only for strategies that have it") {
  const std::string study =
      "[study]\nstrategy = [\"ddp\", \"horovod\"]\n\"strategy.bucket_cap\" = [\"1 MiB\", \"25 MiB\"]\n";
  CHECK(points(read(study)) == "ddp 1 MiB,ddp 25 MiB,horovod -");
  CHECK(combination(study, 0).knobs.get<DdpOptions>().bucket_cap == Bytes{1 << 20});
  CHECK(combination(study, 2).strategy == "horovod");
}

TEST_CASE("for another strategy than its own a combination leaves out launch and options, as compare does") {
  const std::string study =
      "[strategy]\nname = \"ddp\"\nbucket_cap = \"1 MiB\"\n[launch]\nwith = \"torchrun\"\n[study]\nstrategy "
      "= [\"dp\"]\n";
  const Scenario other = combination(study, 0);
  CHECK(other.strategy == "data_parallel");
  CHECK(other.launch.with == Launch{}.with);
}

TEST_CASE("the command line wins over an axis, and can bring one in") {
  ScenarioOverrides overrides = with({"data.workers_per_gpu=2"});
  overrides.batch = 8;
  CHECK(points(read("[study]\nbatch = [64, 128]\nworkers = [0, 4]\nprecision = [\"fp32\"]\n", overrides)) ==
        "fp32");
  CHECK(points(read("", with({"study.batch=[1,2]"}))) == "1,2");
  overrides.strategy = "horovod";
  const Scenario fixed = read(
      "[study]\nstrategy = [\"ddp\"]\n\"strategy.bucket_cap\" = [\"1 MiB\"]\ncores = [1, 2]\n", overrides);
  CHECK(points(fixed) == "1,2");
  CHECK_THAT(fixed.warnings.back(),
             ContainsSubstring("strategy.bucket_cap has no effect with strategy horovod"));
}

TEST_CASE("wrong axes are answered at their place") {
  CHECK(mistakes("bath = [1]\n") ==
        "s.toml:8:1: error: unknown key \"bath\" in [study]\n  8 | bath = [1]\n    | ^^^^\n  hint: did you "
        "mean \"batch\"?\n");
  CHECK(mistakes("batch = 64\n") ==
        "s.toml:8:9: error: study: \"batch\" must be a list, not an integer\n  8 | batch = 64\n    |         "
        "^^\n"
        "  hint: as in batch = [64, 128, 256]\n");
  CHECK_THAT(mistakes("batch = []\n"),
             ContainsSubstring("s.toml:8:9: error: study: \"batch\" has no values"));
  CHECK_THAT(mistakes("data.workers_per_gpu = [1]\n"),
             ContainsSubstring("s.toml:8:1: error: study: \"data\" is a table") &&
                 ContainsSubstring("\"data.workers_per_gpu\" = [0, 2, 4]"));
  CHECK_THAT(mistakes("batch = [64, [128]]\n"),
             ContainsSubstring("8:14: error: study: \"batch\" must hold plain values, not a list"));
  CHECK_THAT(mistakes("batch = [64, { a = 1 }]\n"), ContainsSubstring("must hold plain values, not a table"));
  CHECK_THAT(mistakes("batch = [64, 32, 64]\n"),
             ContainsSubstring("8:18: error: study: \"batch\" has 64 twice"));
  CHECK_THAT(mistakes("gpus = [1, 0]\n"),
             ContainsSubstring("8:12: error: study: gpus must hold integers from 1 to 1000000"));
  CHECK_THAT(mistakes("gpus = [\"two\"]\n"), ContainsSubstring("study: gpus must hold integers"));
  CHECK_THAT(mistakes("batch = [1]\n\"model.batch_per_gpu\" = [2]\n"),
             ContainsSubstring("\"batch\" and \"model.batch_per_gpu\" set the same"));
  CHECK_THAT(mistakes("batch = [1]\n\"model.global_batch\" = [2]\n"), ContainsSubstring("set the same"));
  CHECK_THAT(mistakes("\"measured.step\" = [\"1 s\"]\n"),
             ContainsSubstring("unknown key \"measured.step\" in [study]"));
  CHECK_THAT(mistakes("note = [\"a\"]\n"), ContainsSubstring("unknown key \"note\" in [study]"));
  CHECK_THAT(mistakes("\"data.prefech\" = [1]\n"), ContainsSubstring("did you mean \"data.prefetch\""));
  CHECK_THAT(mistakes("\"strategy.fusion_threshold\" = [\"1 MiB\"]\n"),
             ContainsSubstring("strategy.fusion_threshold is an option of horovod, not of ddp"));
}

TEST_CASE("a study on the command line is answered there") {
  CHECK_THAT(test::scenario_mistakes(kText, with({"study.batch=64"})),
             ContainsSubstring("--set study.batch=64:1:13: error: study: \"batch\" must"));
  CHECK_THAT(test::scenario_mistakes(kText, with({"study=3"})), ContainsSubstring("study must be a table"));
}

TEST_CASE("more combinations than 200, or lines than 1000, are counted and refused") {
  CHECK(mistakes("batch = " + list_of(200) + "\ngpus = [1]\n").empty());
  CHECK_THAT(mistakes("batch = " + list_of(67) + "\nworkers = [0, 1, 2]\n"),
             ContainsSubstring("s.toml:7:1: error: [study] has 201 combinations, at most 200 are predicted"));
  CHECK_THAT(mistakes("batch = " + list_of(10'000) + "\nworkers = " + list_of(10'000) + "\n"),
             ContainsSubstring("has 100000000 combinations"));
  CHECK_THAT(mistakes("batch = " + list_of(126) + "\n", with({"run.gpus=[1,2,3,4,5,6,7,8]"})),
             ContainsSubstring("has 126 combinations on 8 numbers of GPUs each, at most 1000 lines"));
}

TEST_CASE("a study of mistakes only is reported within bounds") {
  std::string wrong;
  for (int i = 0; i < 20'000; ++i) wrong += "key" + std::to_string(i) + " = [1]\n";
  const std::string answer = mistakes(wrong);
  CHECK_THAT(answer, ContainsSubstring("50 errors"));
}

}  // namespace study_test

// What rows tell about their runs besides their columns.
#include "sim/analysis/row_facts.hpp"

#include "tests/support/catch.hpp"

using namespace foretrain;

namespace {

Measurement row(const std::string& strategy, int gpus, const std::string& source = "somebody's README") {
  Measurement m;
  m.strategy = strategy, m.gpus = gpus, m.source = source;
  return m;
}

Measurement taken(const Measurement& m) { return with_plain_loops({m}).front(); }

const Settings kTensorFlow{{"framework.name", "\"tensorflow\""}};

}  // namespace

TEST_CASE("an unknown strategy on one GPU is the plain loop, on several it stays") {
  CHECK(taken(row("no_such_strategy", 1)).strategy == "single");
  CHECK(taken(row("no_such_strategy", 2)).strategy == "no_such_strategy");
}

TEST_CASE("a known strategy stays what it is, with its framework") {
  CHECK(taken(row("ddp", 1, "TensorFlow")).strategy == "ddp");
  CHECK(taken(row("ddp", 1, "TensorFlow")).settings.empty());
}

TEST_CASE("TensorFlow is known by its own strategies and by the source") {
  CHECK(taken(row("no_such_strategy", 1)).settings.empty());
  CHECK(taken(row("no_such_strategy", 1, "NVIDIA/DeepLearningExamples TensorFlow2/README")).settings == kTensorFlow);
  for (const std::string strategy : {"mirrored", "parameter_server"}) {
    const Measurement m = taken(row(strategy, 1));
    if (m.strategy == "single") CHECK(m.settings == kTensorFlow);
  }
}

TEST_CASE("a source that names XLA ran compiled") {
  const Settings compiled{{"framework.name", "\"tensorflow\""}, {"framework.execution", "\"compiled\""}};
  CHECK(taken(row("no_such_strategy", 1, "tensorflow logs/RTX_A6000_XLA_TF1_15.logs")).settings == compiled);
  CHECK(taken(row("no_such_strategy", 1, "tensorflow relaxlations")).settings == kTensorFlow);
}

TEST_CASE("what the row itself says about the framework counts") {
  Measurement m = row("no_such_strategy", 1, "TensorFlow");
  m.settings = {{"framework.version", "\"2.1\""}};
  CHECK(taken(m).settings == m.settings);
}

TEST_CASE("rows of AdaptDL's traces ran its trainer, on any number of GPUs") {
  const auto trained = [](const Measurement& m) { return with_trainers({m}).front().settings; };
  const Settings adaptdl{{"loop.hooks", "\"adaptdl\""}};
  CHECK(trained(row("ddp", 4, "petuum/adaptdl sched/traces/yolov3/placements.csv")) == adaptdl);
  CHECK(trained(row("ddp", 4)).empty());
  Measurement plain = row("ddp", 1, "petuum/adaptdl");
  plain.settings = {{"loop.hooks", "\"none\""}};
  CHECK(trained(plain) == plain.settings);
}

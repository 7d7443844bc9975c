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
Settings told(const Measurement& m) { return with_provenance({m}).front().settings; }

const Settings kTensorFlow{{"framework.name", "\"tensorflow\""}};
const Settings kCompiled{{"framework.name", "\"tensorflow\""}, {"framework.execution", "\"compiled\""}};

}  // namespace

TEST_CASE("an unknown strategy on one GPU is the plain loop, on several it stays") {
  CHECK(taken(row("no_such_strategy", 1)).strategy == "single");
  CHECK(taken(row("no_such_strategy", 2)).strategy == "no_such_strategy");
  CHECK(taken(row("ddp", 1)).strategy == "ddp");
}

TEST_CASE("TensorFlow is known by its own strategies and by the source") {
  CHECK(taken(row("no_such_strategy", 1)).settings.empty());
  CHECK(taken(row("mirrored", 1)).settings == kTensorFlow);
  CHECK(told(row("ddp", 4, "lambdal/lambda-tensorflow-benchmark")) == kTensorFlow);
  CHECK(told(row("ddp", 4)).empty());
}

TEST_CASE("a source or series that names XLA ran compiled, unless it names it to deny it") {
  CHECK(told(row("mirrored", 1, "tensorflow logs/RTX_A6000_XLA_TF1_15.logs")) == kCompiled);
  CHECK(told(row("mirrored", 1, "tensorflow relaxlations")) == kTensorFlow);
  Measurement m = row("mirrored", 1, "DLPerf TensorFlow/bert");
  m.series = "BERT-Base-FP16-batch-size-64-with-xla";
  CHECK(told(m) == kCompiled);
  m.series = "BERT-Base-FP16-batch-size-64-without-xla";
  CHECK(told(m) == kTensorFlow);
}

TEST_CASE("NVIDIA's examples convolve channels last") {
  CHECK(told(row("ddp", 1, "NVIDIA/DeepLearningExamples PyTorch/README.md")) == Settings{{"framework.layout", "\"channels_last\""}});
}

TEST_CASE("NVIDIA's and Lambda's BERT for PyTorch keep 16-bit weights") {
  Measurement m = row("ddp", 1, "lambdal/deeplearning-benchmark pytorch/pytorch-train-throughput-fp16.csv");
  CHECK(told(m).empty());
  m.model = "bert_large_s384";
  CHECK(told(m) == Settings{{"model.half_weights", "true"}});
}

TEST_CASE("rows of AdaptDL's traces ran its trainer") {
  const Settings adaptdl{{"loop.hooks", "\"adaptdl\""}};
  CHECK(told(row("ddp", 4, "petuum/adaptdl sched/traces/yolov3/placements.csv")) == adaptdl);
}

TEST_CASE("what a row's settings say counts before its source") {
  Measurement m = row("ddp", 1, "TensorFlow XLA");
  m.settings = {{"framework.version", "\"2.1\""}};
  CHECK(told(m) == m.settings);
  Measurement plain = row("ddp", 1, "petuum/adaptdl");
  plain.settings = {{"loop.hooks", "\"none\""}};
  CHECK(told(plain) == plain.settings);
}

TEST_CASE("what was read into rows is counted by what it says") {
  const std::vector<Measurement> given{row("mirrored", 1, "tensorflow XLA"), row("mirrored", 1, "tensorflow"), row("ddp", 1)};
  CHECK(facts_between(given, given).empty());
  const std::vector<RowFact> expected{
      {"framework.execution = \"compiled\"", 1}, {"framework.name = \"tensorflow\"", 2}, {"strategy single for mirrored", 2}};
  CHECK(facts_between(given, with_plain_loops(with_provenance(given))) == expected);
}

TEST_CASE("NVIDIA's BERT pre-training with Apex exchanges one message behind backward") {
  Measurement m = row("ddp", 16, "Oneflow-Inc/DLPerf NVIDIADeepLearningExamples/PyTorch/BERT/README.md");
  m.series = "DLPERF-PyTorch-NGC-20.03-apex-DDP-BERT-Base-pretrain-fp32-b32";
  m.model = "bert_base_s128";
  const Settings settings = told(m);
  CHECK(std::find(settings.begin(), settings.end(), std::pair<std::string, std::string>{"strategy.bucket_cap", "\"1 GB\""}) != settings.end());
  CHECK(std::find(settings.begin(), settings.end(), std::pair<std::string, std::string>{"strategy.first_bucket", "\"1 GB\""}) != settings.end());
  m.series = "DLPERF-MindSpore-1.1-BERT-Base-pretrain";
  CHECK(told(m).empty());
}

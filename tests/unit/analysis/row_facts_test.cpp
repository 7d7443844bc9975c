// What rows tell about their runs besides their columns.
#include "sim/analysis/row_facts.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

namespace row_facts_test {

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

TEST_CASE("TensorFlow is known by the source") {
  CHECK(taken(row("no_such_strategy", 1)).settings.empty());
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
  const Settings adaptdl{{"loop.hooks", "\"gradient_noise\""}};
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
  const std::vector<Measurement> given{row("mirrored", 1, "tensorflow XLA"), row("no_such_strategy", 1, "tensorflow"), row("ddp", 1)};
  CHECK(facts_between(given, given).empty());
  const std::vector<RowFact> expected{
      {"framework.execution = \"compiled\"", 1}, {"framework.name = \"tensorflow\"", 2}, {"strategy single for no_such_strategy", 1}};
  CHECK(facts_between(given, with_plain_loops(with_provenance(given))) == expected);
}

TEST_CASE("NVIDIA's BERT pre-training with Apex exchanges one message behind backward") {
  Measurement m = row("ddp", 16, "Oneflow-Inc/DLPerf NVIDIADeepLearningExamples/PyTorch/BERT/README.md");
  m.series = "DLPERF-PyTorch-NGC-20.03-apex-DDP-BERT-Base-pretrain-fp32-b32";
  m.model = "bert_base_s128";
  const Settings settings = told(m);
  CHECK(std::find(settings.begin(), settings.end(), std::pair<std::string, std::string>{"strategy.bucket_cap", "\"1 GB\""}) !=
        settings.end());
  CHECK(std::find(settings.begin(), settings.end(), std::pair<std::string, std::string>{"strategy.first_bucket", "\"1 GB\""}) !=
        settings.end());
  m.series = "DLPERF-MindSpore-1.1-BERT-Base-pretrain";
  CHECK(told(m).empty());
}

TEST_CASE("MXNet's kvstore and tf_cnn_benchmarks' default sum on the GPUs, other strategies of theirs know no such option") {
  const Settings on_gpu{{"strategy.server_on_gpu", "true"}};
  CHECK(told(row("parameter_server", 16, "apache/mxnet example/image-classification/README.md")) == on_gpu);
  CHECK(told(row("parameter_server", 8, "lambdal/lambda-tensorflow-benchmark")).back() == on_gpu.back());
  CHECK(told(row("horovod", 8, "MxNet/Classification")).empty());
}

TEST_CASE("tf_cnn_benchmarks replicates with a sum of each gradient and threads of its own for each GPU") {
  const Settings settings = told(row("mirrored", 8, "lambdal/lambda-tensorflow-benchmark"));
  CHECK(settings == Settings{kTensorFlow.front(), {"strategy.num_packs", "0"}, {"strategy.private_threads", "true"}});
  // Its documentation for TensorFlow 1.1 is older than those threads.
  const Settings old = told(row("mirrored", 8, "tensorflow/docs_src/performance/benchmarks.md"));
  CHECK(old == Settings{kTensorFlow.front(), {"strategy.num_packs", "0"}});
}

TEST_CASE("NVIDIA's Mask R-CNN for TensorFlow 2 runs compiled") {
  const Settings settings = told(row("mirrored", 8, "NVIDIA/DeepLearningExamples TensorFlow2/Segmentation/MaskRCNN/README.md"));
  CHECK(std::find(settings.begin(), settings.end(), kCompiled.back()) != settings.end());
}

TEST_CASE("a series of MirroredStrategy that goes on over several nodes is MultiWorkerMirroredStrategy's from its first row") {
  std::vector<Measurement> rows{row("mirrored", 1), row("mirrored", 16), row("mirrored", 8)};
  rows[0].series = rows[1].series = "over nodes", rows[2].series = "one node";
  rows[1].nodes = 2;
  const std::vector<Measurement> run = with_provenance(rows);
  CHECK(run[0].strategy == "multi_worker_mirrored");
  CHECK(run[1].strategy == "multi_worker_mirrored");
  CHECK(run[2].strategy == "mirrored");
}

TEST_CASE("tf_cnn_benchmarks sends gradients of 16-bit runs in 16 bit") {
  Measurement m = row("mirrored", 8, "lambdal/lambda-tensorflow-benchmark");
  const std::pair<std::string, std::string> halves{"strategy.compression", "\"fp16\""};
  for (const char* precision : {"fp32", "amp_fp16"}) {
    m.precision = precision;
    const Settings settings = told(m);
    CHECK((std::find(settings.begin(), settings.end(), halves) != settings.end()) == (m.precision == "amp_fp16"));
  }
}

TEST_CASE("Lambda's second board has all GPUs at one socket") {
  Measurement m = row("mirrored", 8, "lambdal/lambda-tensorflow-benchmark logs/Gold_6230-GeForce_RTX_2080_Ti_XLA_trt2_TF1_15.logs");
  m.cluster = "rtx2080ti-8gpu";
  const Measurement run = with_provenance({m}).front();
  CHECK(run.cluster == "rtx2080ti-8gpu-single-root");
  const std::vector<RowFact> facts = facts_between({m}, {run});
  CHECK(std::find(facts.begin(), facts.end(), RowFact{"cluster rtx2080ti-8gpu-single-root for rtx2080ti-8gpu", 1}) != facts.end());
  m.source = "lambdal/lambda-tensorflow-benchmark logs/Gold_6230-GeForce_RTX_2080_Ti_XLA_trt_TF1_15.logs";
  CHECK(with_provenance({m}).front().cluster == "rtx2080ti-8gpu");
  m.cluster = "hgx-a100-40gb", m.source += "_trt2";
  CHECK(with_provenance({m}).front().cluster == "hgx-a100-40gb");
}

TEST_CASE("NVIDIA's language models for TensorFlow reduce tables whole under Horovod, and its container of March 2020 has Horovod 0.19") {
  Measurement m = row("horovod", 8, "Oneflow-Inc/DLPerf NVIDIADeepLearningExamples/TensorFlow/LanguageModeling/BERT/README.md");
  m.series = "DLPERF-TensorFlow1-NGC-20.03-BERT-Base";
  const Settings settings = told(m);
  CHECK(std::count(settings.begin(), settings.end(), Settings::value_type{"strategy.sparse_as_dense", "true"}) == 1);
  CHECK(std::count(settings.begin(), settings.end(), Settings::value_type{"strategy.horovod_version", "\"0.19\""}) == 1);
  m.strategy = "mirrored";
  for (const auto& [key, value] : told(m)) CHECK(!key.starts_with("strategy.sparse"));
  CHECK(told(row("horovod", 8, "NVIDIA/DeepLearningExamples PyTorch/LanguageModeling/BERT")).size() == 1);  // its layout
}

}  // namespace row_facts_test

// docs/measured/provenance.toml: every rule finds rows of scaling.csv, and each source is read as its
// publisher meant it.
#include <algorithm>

#include "sim/analysis/validation/validation.hpp"
#include "tests/measured/measured_rows.hpp"
#include "tests/support/catch.hpp"

namespace provenance_measured {

using namespace foretrain;

namespace {

Measurement row(const std::string& strategy, const std::string& source) {
  Measurement m;
  m.strategy = strategy, m.gpus = 8, m.source = source;
  return m;
}

Measurement told(const Measurement& m) {
  std::vector<Measurement> rows{m};
  apply_provenance(test::measured_provenance(), rows);
  return rows.front();
}

bool says(const Measurement& m, const std::string& key, const std::string& value) {
  return std::ranges::count(told(m).settings, std::pair(key, value)) > 0;
}

const Settings kTensorFlow{{"framework.name", "\"tensorflow\""}};
const Settings kCompiled{{"framework.name", "\"tensorflow\""}, {"framework.execution", "\"compiled\""}};

}  // namespace

TEST_CASE("every rule about published rows tells something of some of them") {
  std::vector<Measurement> rows = test::measured_rows("scaling.csv").scaling;
  for (const InferredSetting& setting : apply_provenance(test::measured_provenance(), rows)) {
    INFO(setting.what << ": " << setting.said_in);
    CHECK(setting.rows >= 5);
    CHECK(setting.said_in.size() >= 20);
  }
}

TEST_CASE("published sources name TensorFlow, and XLA unless to deny it") {
  CHECK(told(row("ddp", "lambdal/lambda-tensorflow-benchmark")).settings == kTensorFlow);
  CHECK(told(row("ddp", "somebody's README")).settings.empty());
  CHECK(told(row("mirrored", "tensorflow logs/RTX_A6000_XLA_TF1_15.logs")).settings == kCompiled);
  Measurement m = row("mirrored", "DLPerf TensorFlow/bert");
  m.series = "BERT-Base-FP16-batch-size-64-with-xla";
  CHECK(told(m).settings == kCompiled);
  m.series = "BERT-Base-FP16-batch-size-64-without-xla";
  CHECK(told(m).settings == kTensorFlow);
  m.settings = {{"framework.version", "\"2.1\""}};
  CHECK(told(m).settings == m.settings);
}

TEST_CASE(
    "NVIDIA's examples convolve channels last, and their BERT for PyTorch keeps 16-bit weights, which Lambda "
    "runs, too") {
  const Settings last{{"framework.layout", "\"channels_last\""}};
  CHECK(told(row("ddp", "NVIDIA/DeepLearningExamples PyTorch/README.md")).settings == last);
  Measurement m = row("ddp", "lambdal/deeplearning-benchmark pytorch/pytorch-train-throughput-fp16.csv");
  CHECK(told(m).settings.empty());
  m.model = "bert_large_s384";
  CHECK(told(m).settings == Settings{{"model.half_weights", "true"}});
}

TEST_CASE("AdaptDL's traces ran its trainer, and Apex' pre-training exchanges one message") {
  CHECK(says(row("ddp", "petuum/adaptdl sched/traces/yolov3/placements.csv"), "loop.hooks",
             "\"gradient_noise\""));
  Measurement m = row("ddp", "Oneflow-Inc/DLPerf NVIDIADeepLearningExamples/PyTorch/BERT/README.md");
  m.series = "DLPERF-PyTorch-NGC-20.03-apex-DDP-BERT-Base-pretrain-fp32-b32", m.model = "bert_base_s128";
  CHECK(says(m, "strategy.bucket_cap", "\"1 GB\""));
  CHECK(says(m, "strategy.first_bucket", "\"1 GB\""));
  m.series = "DLPERF-MindSpore-1.1-BERT-Base-pretrain";
  CHECK(told(m).settings.empty());
}

TEST_CASE("tf_cnn_benchmarks and MXNet sum on the GPUs, and other strategies of theirs know no such option") {
  CHECK(says(row("parameter_server", "apache/mxnet example/image-classification/README.md"),
             "strategy.server_on_gpu", "true"));
  CHECK(
      says(row("parameter_server", "lambdal/lambda-tensorflow-benchmark"), "strategy.server_on_gpu", "true"));
  CHECK(told(row("horovod", "MxNet/Classification")).settings.empty());
}

TEST_CASE(
    "tf_cnn_benchmarks replicates with a sum of each gradient, threads of its own, and 16-bit runs in 16 "
    "bit") {
  Measurement m = row("mirrored", "lambdal/lambda-tensorflow-benchmark");
  CHECK(told(m).settings ==
        Settings{kTensorFlow.front(), {"strategy.num_packs", "0"}, {"strategy.private_threads", "true"}});
  m.precision = "amp_fp16";
  CHECK(says(m, "strategy.compression", "\"fp16\""));
  // Its documentation for TensorFlow 1.1 is older than those threads.
  const Measurement old = row("mirrored", "tensorflow/docs_src/performance/benchmarks.md");
  CHECK(told(old).settings == Settings{kTensorFlow.front(), {"strategy.num_packs", "0"}});
  CHECK(says(row("mirrored", "NVIDIA/DeepLearningExamples TensorFlow2/Segmentation/MaskRCNN/README.md"),
             "framework.execution", "\"compiled\""));
}

TEST_CASE("Lambda's second board has all GPUs at one socket") {
  Measurement m =
      row("mirrored",
          "lambdal/lambda-tensorflow-benchmark logs/Gold_6230-GeForce_RTX_2080_Ti_XLA_trt2_TF1_15.logs");
  for (const std::string cluster :
       {"rtx2080ti-8gpu", "rtx2080ti-nvlink-8gpu", "rtx8000-8gpu", "rtx8000-nvlink-8gpu"}) {
    m.cluster = cluster;
    CHECK(told(m).cluster == cluster + "-single-root");
  }
  m.cluster = "hgx-a100-40gb";
  CHECK(told(m).cluster == "hgx-a100-40gb");
  m.cluster = "rtx2080ti-8gpu",
  m.source = "lambdal/lambda-tensorflow-benchmark logs/Gold_6230-GeForce_RTX_2080_Ti_XLA_trt_TF1_15.logs";
  CHECK(told(m).cluster == "rtx2080ti-8gpu");
}

TEST_CASE(
    "NVIDIA's language models for TensorFlow reduce tables whole under Horovod, and its container of March "
    "2020 has Horovod 0.19") {
  Measurement m = row(
      "horovod", "Oneflow-Inc/DLPerf NVIDIADeepLearningExamples/TensorFlow/LanguageModeling/BERT/README.md");
  m.series = "DLPERF-TensorFlow1-NGC-20.03-BERT-Base";
  CHECK(says(m, "strategy.sparse_as_dense", "true"));
  CHECK(says(m, "strategy.horovod_version", "\"0.19\""));
  m.strategy = "mirrored";
  CHECK_FALSE(says(m, "strategy.sparse_as_dense", "true"));
  CHECK(told(row("horovod", "NVIDIA/DeepLearningExamples PyTorch/LanguageModeling/BERT")).settings.size() ==
        1);  // its layout
}

}  // namespace provenance_measured

// Memory against what ran: the largest batches of public benchmarks on cards of 16 to 80 GB, what nvidia-smi
// showed, every open row.
//
// Batches and readings: lambdal/deeplearning-benchmark, pytorch/pytorch-train-bs-fp32.csv and -fp16.csv,
// scripts/config*, results/*/
// *_monitor.csv. The networks there are NVIDIA's: ResNet-50 v1.5 with momentum, BERT-large fine-tuned with
// Adam at 384 tokens, in 16 bit with Apex O2 (16-bit weights). A run counts as one at the limit unless cards
// of other sizes ran it with clearly fewer bytes a sample: those of 80 GB ran twice the batch of 40 GB, and
// 40 GB less than 24, 32 and 48 GB suggest.
#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <set>

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/device/memory.hpp"
#include "tests/measured/measured_rows.hpp"
#include "tests/support/catch.hpp"

namespace memory_measured {

using namespace foretrain;

namespace {

constexpr double kMiB = 1 << 20;

struct Run {
  const char* model;
  const char* cluster;  ///< for its GPU
  Precision precision;
  std::int64_t batch;
  bool at_limit;
};

// clang-format off
const std::vector<Run> kRuns{
    {"resnet50", "dgx1-v100", Precision::fp32, 128, true},        {"resnet50", "dgx1-v100", Precision::amp_fp16, 256, true},
    {"resnet50", "rtx3090-8gpu", Precision::tf32, 224, true},     {"resnet50", "rtx3090-8gpu", Precision::amp_fp16, 448, true},
    {"resnet50", "dgx2", Precision::fp32, 296, true},             {"resnet50", "dgx2", Precision::amp_fp16, 608, true},
    {"resnet50", "a100-pcie-8gpu", Precision::tf32, 360, false},  {"resnet50", "a100-pcie-8gpu", Precision::amp_fp16, 720, false},
    {"resnet50", "rtxa6000-8gpu", Precision::tf32, 496, true},    {"resnet50", "rtxa6000-8gpu", Precision::amp_fp16, 928, true},
    {"resnet50", "hgx-a100-80gb", Precision::tf32, 720, false},   {"resnet50", "hgx-a100-80gb", Precision::amp_fp16, 1440, false},
    {"bert_large_s384", "dgx1-v100", Precision::fp32, 8, true},     {"bert_large_s384", "dgx1-v100", Precision::amp_fp16, 16, true},
    {"bert_large_s384", "rtx3090-8gpu", Precision::tf32, 16, true}, {"bert_large_s384", "rtx3090-8gpu", Precision::amp_fp16, 28, true},
    {"bert_large_s384", "dgx-a100", Precision::tf32, 28, true},     {"bert_large_s384", "dgx-a100", Precision::amp_fp16, 48, false},
    {"bert_large_s384", "rtx8000-8gpu", Precision::fp32, 32, false}, {"bert_large_s384", "rtx8000-8gpu", Precision::amp_fp16, 64, true},
    {"bert_large_s384", "hgx-h100", Precision::tf32, 64, true},     {"bert_large_s384", "hgx-h100", Precision::amp_fp16, 112, true},
};
// clang-format on

struct Question {
  Scenario scenario;
  MemorySite site;
};

Question question_of(const Run& run, int gpus = 1) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ScenarioOverrides overrides;
  overrides.model = run.model, overrides.cluster = run.cluster, overrides.gpus = {1},
  overrides.batch = run.batch;
  overrides.settings = {"loop.zero_grad=zero", fmt::format("model.precision={}", name_of(run.precision))};
  Question question{make_scenario(overrides), {}};
  Workload& work = question.scenario.workload;
  const bool bert = std::string_view(run.model).starts_with("bert");
  work.optimizer = {bert ? OptimizerKind::adam : OptimizerKind::momentum, OptimizerForm::fused, true};
  work.half_weights = bert && is_half(run.precision);
  question.site = {{}, gpus, question.scenario.cluster.node.gpu.architecture};
  if (gpus > 1)
    question.site.strategy.buffers = {work.model->parameter_elements() * (work.half_weights ? 2 : 4)};
  return question;
}

}  // namespace

TEST_CASE(
    "what ran on cards of 16 to 80 GB fits, and where it filled them the largest batch is within ten "
    "percent") {
  std::string table;
  for (const Run& run : kRuns) {
    const Question question = question_of(run);
    const Bytes capacity = question.scenario.cluster.node.gpu.capacity();
    const std::int64_t most = largest_batch(question.scenario.workload, question.site, capacity);
    const double error = static_cast<double>(most) / static_cast<double>(run.batch) - 1;
    const std::string row =
        fmt::format("| {} | {} | {} | {:.1f} | {} | {} | {:+.0f} % |{}\n", run.model, name_of(run.precision),
                    question.scenario.cluster.node.gpu.name, static_cast<double>(capacity.count) / (1 << 30),
                    run.batch, most, 100 * error, run.at_limit ? " limit |" : " |");
    table += row;
    INFO(row);
    CHECK(most >= run.batch);
    if (run.at_limit) CHECK(error <= 0.1);
  }
  if (std::getenv("FORETRAIN_PRINT") != nullptr) WARN(table);
}

TEST_CASE("nvidia-smi shows what was predicted, within ten percent") {
  struct Reading {
    Run run;
    int gpus;
    double mib;
  };
  // 16 A4000 (an Ampere of 16 GB, here by another one's name) and 8 V100 of 32 GB, all with DDP.
  const std::vector<Reading> readings{
      {{"bert_large_s384", "dgx-a100", Precision::amp_fp16, 8, false}, 16, 11'938},
      {{"resnet50", "dgx2", Precision::fp32, 296, false}, 8, 30'967},
      {{"resnet50", "dgx2", Precision::amp_fp16, 608, false}, 8, 31'235}};
  for (const Reading& reading : readings) {
    const Question question = question_of(reading.run, reading.gpus);
    const double predicted =
        static_cast<double>(memory_use(question.scenario.workload, question.site).total().count) / kMiB;
    const std::string row =
        fmt::format("{} at batch {}: {:.0f} MiB", reading.run.model, reading.run.batch, predicted);
    if (std::getenv("FORETRAIN_PRINT") != nullptr) WARN(row);
    INFO(row);
    CHECK(std::abs(predicted / reading.mib - 1) <= 0.1);
  }
}

TEST_CASE("no row of the open data is said not to fit") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  std::set<std::string> seen;
  int checked = 0;
  for (const Measurement& row : test::measured_rows("scaling.csv").scaling) {
    // Their inputs differ in length and size; the networks here take the largest for all of a batch.
    if (row.model == "tacotron2" || row.model == "mask_rcnn_r50_fpn") continue;
    // These rewrite a graph to 16 bits; MXNet, PaddlePaddle and OneFlow are taken as TensorFlow.
    const bool tensorflow = std::ranges::any_of(
        std::initializer_list<const char*>{"tf", "TF", "TensorFlow", "MXNet", "Paddle", "OneFlow"},
        [&](const char* name) { return row.series.find(name) != std::string::npos; });
    const std::string key =
        fmt::format("{} {} {} {} {}", row.model, row.cluster, row.precision, row.batch_per_gpu, tensorflow);
    if (!seen.insert(key).second) continue;
    ScenarioOverrides overrides;
    overrides.model = row.model, overrides.cluster = row.cluster, overrides.gpus = {1},
    overrides.batch = row.batch_per_gpu;
    overrides.settings = {fmt::format("model.precision={}", row.precision)};
    try {
      Scenario scenario = make_scenario(overrides);
      Workload& work = scenario.workload;
      work.optimizer = {OptimizerKind::momentum, OptimizerForm::fused, true};
      // Networks of sequences were run with Apex O2 or the graph rewriting of TensorFlow, MXNet, …: 16 bit
      // everywhere.
      work.half_weights = is_half(work.precision) && scenario.model.input_is_tokens;
      if (tensorflow) work.framework.kind = FrameworkKind::tensorflow;
      const MemorySite site{{}, 1, scenario.cluster.node.gpu.architecture};
      INFO(row.series << " line " << row.line << ": " << key);
      const Bytes least = memory_use(work, site).least(), capacity = scenario.cluster.node.gpu.capacity();
      CHECK(static_cast<double>(least.count) / 1e9 <= static_cast<double>(capacity.count) / 1e9);
      ++checked;
    } catch (const InputError&) {
      // A model or cluster that is not in the catalogs.
    }
  }
  CHECK(checked >= 100);
}

}  // namespace memory_measured

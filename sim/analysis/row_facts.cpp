// One GPU has nobody to talk to, so the strategy's name only tells which framework ran. Sources are read as text: a word in them stands
// for a setting.
#include "sim/analysis/row_facts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Whether `word` stands in the text by itself or beside digits and signs ("tensorflow2", "_xla_"), and not denied ("without-xla").
bool mentions(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::string_view before = text.substr(0, at);
    const std::size_t end = at + word.size();
    const bool alone = (at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]));
    if (alone && !before.ends_with("without-") && !before.ends_with("w-o-")) return true;
  }
  return false;
}

bool sets(const Measurement& row, std::string_view key) {
  return std::any_of(row.settings.begin(), row.settings.end(), [&](const auto& setting) { return setting.first.starts_with(key); });
}

bool runs(const Measurement& row, std::string_view framework) {
  return std::any_of(row.settings.begin(), row.settings.end(),
                     [&](const auto& setting) { return setting.first == "framework.name" && mentions(setting.second, framework); });
}

struct Fact {
  std::string_view word, key, value;
  std::string_view framework;    ///< only where this one runs
  std::string_view model;        ///< only networks whose name begins so
  std::string_view strategy{};   ///< only rows of this one
  std::string_view precision{};  ///< only rows in this one
};
constexpr std::array kFacts{std::to_array<Fact>(
    {{"tensorflow", "framework.name", "\"tensorflow\"", "", ""},
     {"xla", "framework.execution", "\"compiled\"", "tensorflow", ""},
     {"deeplearningexamples", "framework.layout", "\"channels_last\"", "", ""},
     {"deeplearningexamples pytorch", "model.half_weights", "true", "", "bert"},
     {"deeplearning-benchmark", "model.half_weights", "true", "", "bert"},
     {"adaptdl", "loop.hooks", "\"gradient_noise\"", "", ""},
     // Its run_pretraining.py asks Apex for messages of 250,000,000 elements: one, behind backward.
     {"apex-ddp-bert-base-pretrain", "strategy.bucket_cap", "\"1 GB\"", "", "bert"},
     {"apex-ddp-bert-base-pretrain", "strategy.first_bucket", "\"1 GB\"", "", "bert"},
     // kvstore device and dist_device_sync, as its README says; local_parameter_device's default; distributed_replicated.
     {"mxnet", "strategy.server_on_gpu", "true", "", "", "parameter_server"},
     {"lambda-tensorflow-benchmark", "strategy.server_on_gpu", "true", "", "", "parameter_server"},
     // tf_cnn_benchmarks, variable_update=replicated, gpu_thread_mode=gpu_private; its documentation of TensorFlow 1.1 too.
     {"lambda-tensorflow-benchmark", "strategy.num_packs", "0", "", "", "mirrored"},
     // compact_gradient_transfer, its default: gradients of use_fp16 travel in 16 bit.
     {"lambda-tensorflow-benchmark", "strategy.compression", "\"fp16\"", "", "", "mirrored", "amp_fp16"},
     {"lambda-tensorflow-benchmark", "strategy.private_threads", "true", "", "", "mirrored"},
     // NVIDIA's scripts for BERT and Transformer-XL (optimization.py, main.py: DistributedOptimizer), which DLPerf runs as well.
     {"languagemodeling", "strategy.sparse_as_dense", "true", "tensorflow", "", "horovod"},
     // NVIDIA's release notes of the container.
     {"ngc-20.03", "strategy.horovod_version", "\"0.19\"", "tensorflow", "", "horovod"},
     // Its scripts train with --xla unless told --no_xla.
     {"segmentation/maskrcnn", "framework.execution", "\"compiled\"", "tensorflow", "", "mirrored"},
     {"docs_src", "strategy.num_packs", "0", "", "", "mirrored"},
     {"tfbench-ec2dist", "strategy.server_on_gpu", "true", "", "", "parameter_server"}})};

/// Lambda's TensorFlow benchmarks ran on two boards, of which logs of the one with all GPUs at one socket say trt2.
std::string board_of(const Measurement& row, std::string_view text) {
  const bool two_boards = row.cluster.starts_with("rtx2080ti-") || row.cluster.starts_with("rtx8000-");
  const bool single_root = two_boards && mentions(text, "lambda-tensorflow-benchmark") && mentions(text, "trt2");
  return single_root ? row.cluster + "-single-root" : row.cluster;
}

Measurement informed(Measurement row) {
  const std::string text = in_small_letters(row.series + "\n" + row.source);
  const bool says_framework = sets(row, "framework.");
  for (const Fact& fact : kFacts) {
    const bool said = fact.key.starts_with("framework.") ? says_framework : sets(row, fact.key);
    if (said || !mentions(text, fact.word) || !row.model.starts_with(fact.model) || (!fact.framework.empty() && !runs(row, fact.framework)))
      continue;
    if (!fact.strategy.empty() && row.strategy != fact.strategy) continue;
    if (!fact.precision.empty() && row.precision != fact.precision) continue;
    row.settings.emplace_back(fact.key, fact.value);
  }
  row.cluster = board_of(row, text);
  return row;
}

/// MirroredStrategy is one process: a series that goes on over several nodes is of MultiWorkerMirroredStrategy.
void name_several_workers(std::vector<Measurement>& rows) {
  std::set<std::string> series;
  for (const Measurement& row : rows) {
    if (row.strategy == "mirrored" && row.nodes > 1) series.insert(row.series);
  }
  for (Measurement& row : rows) {
    if (row.strategy == "mirrored" && series.contains(row.series)) row.strategy = "multi_worker_mirrored";
  }
}

}  // namespace

std::vector<Measurement> with_plain_loops(std::vector<Measurement> rows) {
  for (Measurement& row : rows) {
    if (row.gpus != 1 || find_strategy(row.strategy) != nullptr) continue;
    row.strategy = "single";
  }
  return rows;
}

std::vector<RowFact> facts_between(const std::vector<Measurement>& given, const std::vector<Measurement>& run) {
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < given.size(); ++i) {
    for (std::size_t added = given[i].settings.size(); added < run[i].settings.size(); ++added)
      ++counts[run[i].settings[added].first + " = " + run[i].settings[added].second];
    if (run[i].cluster != given[i].cluster) ++counts["cluster " + run[i].cluster + " for " + given[i].cluster];
    if (run[i].strategy != given[i].strategy) ++counts["strategy " + run[i].strategy + " for " + given[i].strategy];
  }
  std::vector<RowFact> facts;
  for (const auto& [what, rows] : counts) facts.push_back({what, rows});
  return facts;
}

std::vector<Measurement> with_provenance(std::vector<Measurement> rows) {
  name_several_workers(rows);
  for (Measurement& row : rows) row = informed(std::move(row));
  return rows;
}

}  // namespace foretrain

// Rows of large models. Each row is one step with integers, times and texts, many of which a source may omit.
#include "sim/scenario/csv/large_model_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/units.hpp"

namespace foretrain {

namespace {

/// Upper limits of parameters, of sizes, and of degrees and numbers of GPUs.
constexpr std::int64_t kMostParameters = std::int64_t{1} << 50, kMostSize = 1'000'000'000,
                       kMostDegree = 10'000'000;

/// Reads a number from 1 to `most`; nullopt for an empty field.
std::optional<std::int64_t> optional_integer(const CsvRecord& record, std::string_view column,
                                             std::int64_t most) {
  if (record.text(column).empty()) return std::nullopt;
  return record.integer(column, 1, most);
}

/// Reads a number; 0 for an empty field.
double optional_positive(const CsvRecord& record, std::string_view column, double least, double most) {
  return record.text(column).empty() ? 0 : record.positive(column, least, most);
}

}  // namespace

const std::vector<std::string>& large_model_columns() {
  static const std::vector<std::string> kNames{"source",
                                               "model",
                                               "params",
                                               "layers",
                                               "hidden",
                                               "heads",
                                               "kv_heads",
                                               "ffn",
                                               "vocab",
                                               "seq_len",
                                               "micro_batch",
                                               "global_batch",
                                               "tp",
                                               "pp",
                                               "vpp",
                                               "cp",
                                               "ep",
                                               "dp",
                                               "zero_stage_or_fsdp",
                                               "recompute",
                                               "precision",
                                               "gpu",
                                               "nodes",
                                               "gpus",
                                               "framework",
                                               "step_time_s",
                                               "tokens_per_s_per_gpu",
                                               "tflops_per_gpu",
                                               "mfu",
                                               "memory_gb",
                                               "notes"};
  return kNames;
}

const std::vector<std::string>& optional_large_model_columns() {
  static const std::vector<std::string> kNames{"fits"};
  return kNames;
}

std::string LargeModelMeasurement::noted(std::string_view key) const {
  const std::string wanted = std::string(key) + "=";
  for (std::size_t at = notes.find(wanted); at != std::string::npos; at = notes.find(wanted, at + 1)) {
    // The key must be a word of its own: "tp" is not the end of "vtp".
    if (at > 0 && notes[at - 1] != ' ' && notes[at - 1] != ';') continue;
    const std::size_t begin = at + wanted.size();
    return notes.substr(begin, notes.find_first_of("; ", begin) - begin);
  }
  return {};
}

LargeModelMeasurement read_large_model(const CsvRecord& record) {
  LargeModelMeasurement m;
  m.source = record.text("source"), m.model = record.name("model"), m.line = record.line();
  m.params = optional_integer(record, "params", kMostParameters);
  for (const auto& [column, place] : {std::pair{"layers", &LargeModelMeasurement::layers},
                                      {"hidden", &LargeModelMeasurement::hidden},
                                      {"heads", &LargeModelMeasurement::heads},
                                      {"kv_heads", &LargeModelMeasurement::kv_heads},
                                      {"ffn", &LargeModelMeasurement::ffn},
                                      {"vocab", &LargeModelMeasurement::vocab},
                                      {"seq_len", &LargeModelMeasurement::seq_len},
                                      {"micro_batch", &LargeModelMeasurement::micro_batch},
                                      {"global_batch", &LargeModelMeasurement::global_batch}})
    m.*place = optional_integer(record, column, kMostSize);
  for (const auto& [column, place] : {std::pair{"tp", &LargeModelMeasurement::tp},
                                      {"pp", &LargeModelMeasurement::pp},
                                      {"vpp", &LargeModelMeasurement::vpp},
                                      {"cp", &LargeModelMeasurement::cp},
                                      {"ep", &LargeModelMeasurement::ep},
                                      {"dp", &LargeModelMeasurement::dp}})
    m.*place = optional_integer(record, column, kMostDegree);
  m.sharding = record.text("zero_stage_or_fsdp"), m.recompute = record.text("recompute");
  m.precision = record.text("precision"), m.gpu = record.name("gpu"), m.framework = record.name("framework");
  m.gpus = static_cast<int>(record.integer("gpus", 1, kMostDegree).value_or(1));
  m.nodes = static_cast<int>(record.integer("nodes", 1, kMostDegree).value_or(1));
  if (m.nodes > m.gpus)
    record.wrong("nodes", fmt::format("{} nodes for {}", m.nodes, counted(m.gpus, "GPU")),
                 "every node in use has at least one GPU of the job");
  m.step_s = optional_positive(record, "step_time_s", kShortestTime, to_seconds(kLongestTime));
  m.memory_gb = optional_positive(record, "memory_gb", 1e-6, 1e6);
  m.notes = record.text("notes");
  const std::string fits = record.text("fits");
  if (fits == "0" || fits == "1")
    m.fits = fits == "1";
  else if (!fits.empty())
    record.wrong("fits", fmt::format("\"{}\" is neither 0 nor 1", fits.substr(0, 20)));
  return m;
}

}  // namespace foretrain

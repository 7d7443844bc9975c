// Rows of fine-tunings. Each row has one value, whose unit its metric determines.
#include "sim/scenario/csv/fine_tuning_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Upper limit of counts and sizes.
constexpr std::int64_t kLargestTuningNumber = 1'000'000'000;
constexpr std::array<std::string_view, 5> kTuningMetrics{"memory_gb", "step_s", "tokens_per_s",
                                                         "samples_per_s", "fits"};

/// Returns a number; nullopt for an empty field, or for words such as "auto".
std::optional<std::int64_t> tuning_size(const CsvRecord& record, std::string_view column) {
  const std::string text = record.text(column);
  const bool is_number =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? record.integer(column, 1, kLargestTuningNumber) : std::nullopt;
}

/// Returns a number, by default 1.
int tuning_count(const CsvRecord& record, std::string_view column) {
  return static_cast<int>(tuning_size(record, column).value_or(1));
}

/// Returns a number of parameters; 0 if the field is none.
double tuning_parameters(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && number > 0 && number < 1e15 ? number : 0;
}

}  // namespace

const std::vector<std::string>& fine_tuning_columns() {
  static const std::vector<std::string> kNames{
      "source",    "page",      "model",    "params",  "method",    "rank",    "targets",     "weights_dtype",
      "optimizer", "opt_dtype", "strategy", "offload", "recompute", "seq_len", "micro_batch", "accumulation",
      "packing",   "gpu",       "gpus",     "nodes",   "metric",    "value",   "notes"};
  return kNames;
}

FineTuningMeasurement read_fine_tuning_row(const CsvRecord& record) {
  FineTuningMeasurement m;
  m.line = record.line(), m.source = record.name("source"), m.model = record.name("model");
  for (const auto& [column, place] : {std::pair{"page", &FineTuningMeasurement::page},
                                      {"method", &FineTuningMeasurement::method},
                                      {"targets", &FineTuningMeasurement::targets},
                                      {"weights_dtype", &FineTuningMeasurement::weights},
                                      {"optimizer", &FineTuningMeasurement::optimizer},
                                      {"opt_dtype", &FineTuningMeasurement::optimizer_dtype},
                                      {"strategy", &FineTuningMeasurement::strategy},
                                      {"offload", &FineTuningMeasurement::offload},
                                      {"recompute", &FineTuningMeasurement::recompute},
                                      {"packing", &FineTuningMeasurement::packing},
                                      {"gpu", &FineTuningMeasurement::gpu},
                                      {"notes", &FineTuningMeasurement::notes}})
    // All other columns are texts as they are.
    m.*place = record.text(column);
  m.rank = tuning_size(record, "rank"), m.sequence = tuning_size(record, "seq_len");
  m.micro_batch = tuning_size(record, "micro_batch"), m.accumulation = tuning_size(record, "accumulation");
  m.params = tuning_parameters(record.text("params"));
  m.gpus = tuning_count(record, "gpus"), m.nodes = tuning_count(record, "nodes");
  const std::string metric = record.name("metric");
  const auto found = std::ranges::find(kTuningMetrics, std::string_view(metric));
  if (found == kTuningMetrics.end())
    record.wrong("metric", fmt::format("\"{}\" is no metric", metric.substr(0, 30)),
                 "memory_gb, step_s, tokens_per_s, samples_per_s or fits");
  else
    m.metric = static_cast<FineTuningMeasurement::Metric>(found - kTuningMetrics.begin());
  // Only `fits` may be zero: the job ran out of memory.
  const bool is_zero = record.text("value") == "0";
  if (m.metric != FineTuningMeasurement::Metric::fits)
    m.value = record.positive("value", 1e-9, 1e15);
  else
    m.value = is_zero ? 0 : record.positive("value", 1, 1);
  return m;
}

}  // namespace foretrain

// Writes predictions as CSV, with columns from the declared fields. Only names may need quotes; unknown
// values are empty.
//
// Readers are spreadsheets, so there is one line for each number of GPUs, and names of the training are
// repeated in every line.
#include "sim/report/prediction/csv.hpp"

#include <fmt/format.h>

#include "sim/report/fields/csv_table.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

// Quotes inside a field are doubled.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_figures(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{},{}", interval->low_s, interval->high_s) : ",";
}

std::string csv_figures(const std::optional<Range>& range) {
  return range ? fmt::format("{},{}", range->low, range->high) : ",";
}

// Columns that every table with points has: name, and path of the field when it differs.
const std::vector<CsvColumn>& point_columns() {
  static const std::vector<CsvColumn> columns{
      {"gpus"},
      {"nodes"},
      {"batch_per_gpu"},
      {"global_batch"},
      {"steps_per_epoch"},
      {"step_s"},
      {"step_low_s", "interval/low_s"},
      {"step_high_s", "interval/high_s"},
      {"epoch_s"},
      {"total_s"},
      {"samples_per_s"},
      {"speedup"},
      {"efficiency"},
      {"gpu_hours"},
      {"memory_bytes", "memory/bytes"},
      {"memory_capacity_bytes", "memory/capacity_bytes"},
      {"compute_s", "breakdown/compute_s"},
      {"exposed_communication_s", "breakdown/exposed_communication_s"},
      {"input_stall_s", "breakdown/input_stall_s"},
      {"host_s", "breakdown/host_s"},
      {"optimizer_s", "breakdown/optimizer_s"},
      {"other_s", "breakdown/other_s"}};
  return columns;
}

namespace {

/// Returns the columns of a prediction: the names of the training, the common columns of a point, and then
/// the others.
std::vector<CsvColumn> prediction_columns() {
  std::vector<CsvColumn> out{{"scenario", "../scenario"},
                             {"model", "../model"},
                             {"cluster", "../cluster"},
                             {"strategy", "../strategy"},
                             {"precision", "../precision"}};
  const std::vector<CsvColumn> rest{{"startup_s"},
                                    {"loader_restart_s"},
                                    {"validation_s"},
                                    {"checkpoint_s"},
                                    {"periodic_s"},
                                    {"largest_batch_per_gpu", "memory/largest_batch_per_gpu"},
                                    {"scaling", "../scaling"},
                                    {"total_low_s", "total_interval/low_s"},
                                    {"total_high_s", "total_interval/high_s"},
                                    {"speedup_low", "speedup_interval/low"},
                                    {"speedup_high", "speedup_interval/high"},
                                    {"chance_of_gain"},
                                    {"fits", "memory/fits"},
                                    {"warnings", "../warnings"},
                                    {"verdict", "../answer/verdict"},
                                    {"cause", "../answer/cause"}};
  out.insert(out.end(), point_columns().begin(), point_columns().end());
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace

// The columns are taken from the JSON report, so both have the same values.
std::string write_csv(const Prediction& p, const ReportOptions&) {
  static const std::vector<CsvColumn> columns = prediction_columns();
  return csv_table(columns, declared_json(p), "points");
}

std::string write_predictions_csv(const std::vector<Prediction>& predictions, const ReportOptions& options) {
  std::vector<std::string> texts;
  for (const Prediction& prediction : predictions) texts.push_back(write_csv(prediction, options));
  return joined_csv(texts);
}

// The header of all texts but the first is removed.
std::string joined_csv(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += out.empty() ? text : text.substr(text.find('\n') + 1);
  return out;
}

}  // namespace foretrain

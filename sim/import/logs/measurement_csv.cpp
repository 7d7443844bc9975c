// Reader of both CSV files that `validate` takes: rows of collectives (op, time_us) and of training runs
// (metric, value).
// A row with a wrong field is left out, with the message that `validate` gives. Epoch times and rates without
// a unit are left out too.
#include <algorithm>
#include <array>
#include <set>

#include "sim/import/logs/readers.hpp"
#include "sim/scenario/csv/csv_line.hpp"

namespace foretrain {

namespace {

/// Says whether a header has a column.
bool has_column(const std::vector<CsvField>& header, std::string_view name) {
  return std::any_of(header.begin(), header.end(), [&](const CsvField& field) { return field.text == name; });
}

/// Turns a row of collectives into a sample; the time is in us.
Sample sample_of(const CollectiveMeasurement& row) {
  Sample sample;
  sample.kind = SampleKind::collective, sample.what = row.op, sample.gpus = row.gpus,
  sample.nodes = row.nodes, sample.bytes = row.bytes;
  sample.value = row.time_us, sample.unit = SampleUnit::us, sample.source = row.source,
  sample.line = row.line;
  sample.settings = {{"cluster", row.cluster}, {"series", row.series}};
  sample.settings.insert(sample.settings.end(), row.settings.begin(), row.settings.end());
  return sample;
}

/// Turns a row of training into a sample: a rate in samples a second, or a step in us.
Sample sample_of(const Measurement& row) {
  Sample sample;
  const bool is_rate = row.metric == Measurement::Metric::samples_per_s;
  sample.kind = SampleKind::training, sample.what = is_rate ? "samples_per_s" : "step",
  sample.gpus = row.gpus, sample.nodes = row.nodes;
  sample.value = is_rate ? row.value : row.value * 1e6,
  sample.unit = is_rate ? SampleUnit::per_s : SampleUnit::us;
  sample.source = row.source, sample.line = row.line;
  sample.settings = {{"cluster", row.cluster},     {"series", row.series},
                     {"model", row.model},         {"strategy", row.strategy},
                     {"precision", row.precision}, {"batch", std::to_string(row.batch_per_gpu)}};
  sample.settings.insert(sample.settings.end(), row.settings.begin(), row.settings.end());
  return sample;
}

/// Says whether a row has a metric that a sample can hold.
bool is_step_or_rate(const Measurement& row) {
  return row.metric == Measurement::Metric::samples_per_s || row.metric == Measurement::Metric::step_s;
}

}  // namespace

bool is_measurement_csv(std::string_view text) {
  CsvLines lines(text);
  const auto header = lines.next();
  if (!header || !has_column(*header, "series")) return false;
  return (has_column(*header, "op") && has_column(*header, "time_us")) ||
         (has_column(*header, "metric") && has_column(*header, "value"));
}

void read_measurement_csv(const SourceText& source, const LogHints&, SampleSheet& sheet) {
  CsvLines lines(source.text);
  lines.next();
  const int header = lines.line();
  Diagnostics diagnostics(source);
  const MeasurementFile file = read_measurements(source, diagnostics);
  // A mistake in the header makes every row unreadable; other mistakes leave out their line.
  std::set<int> wrong;
  for (const Diagnostic& found : diagnostics.found()) {
    if (found.span.line <= header) diagnostics.throw_if_any();
    if (wrong.insert(found.span.line).second) sheet.count_row(), sheet.skip(found.span.line, found.message);
  }
  const auto add = [&](const auto& row) {
    if (wrong.contains(row.line)) return;
    sheet.count_row();
    sheet.add(sample_of(row));
  };
  for (const CollectiveMeasurement& row : file.collective) add(row);
  for (const Measurement& row : file.scaling) {
    const bool is_sample = is_step_or_rate(row) || wrong.contains(row.line);
    if (is_sample) add(row);
    if (!is_sample)
      sheet.count_row(),
          sheet.skip(row.line,
                     "epochs and rates without a unit are no samples; samples_per_s and step_s are");
  }
  // The reader of `validate` stops at its limit of mistakes, so the rows behind it were never read.
  if (diagnostics.found().size() >= Diagnostics::kMostDiagnostics)
    sheet.skip(*wrong.rbegin(), "nothing below is read: too many rows are wrong");
}

}  // namespace foretrain

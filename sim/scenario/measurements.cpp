// A record is looked at through its header: columns by name, each field with its place.
#include "sim/scenario/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/base/names.hpp"
#include "sim/scenario/csv_line.hpp"
#include "sim/scenario/text_scan.hpp"

namespace foretrain {

namespace {

const std::vector<std::string> kScalingColumns{"series", "model", "cluster", "strategy", "precision", "batch_per_gpu", "gpus", "nodes", "metric", "value", "settings", "source"};
const std::vector<std::string> kCollectiveColumns{"series", "cluster", "op", "gpus", "nodes", "bytes", "time_us", "settings", "source"};
const std::vector<std::string> kMetrics{"samples_per_s", "step_s", "epoch_s", "rate"};

/// Which column stands where.
class Header {
 public:
  Header(const std::vector<CsvField>& fields, Diagnostics& diagnostics) : size_(fields.size()) {
    for (const CsvField& field : fields) names_.push_back(field.text);
    is_collective_ = has("time_us") || has("op");
    const auto& wanted = is_collective_ ? kCollectiveColumns : kScalingColumns;
    for (const CsvField& field : fields) {
      const bool known = std::find(wanted.begin(), wanted.end(), field.text) != wanted.end();
      if (!known) diagnostics.report(field.span, fmt::format("unknown column \"{}\"", field.text.substr(0, 40)), did_you_mean(field.text, wanted));
    }
    for (const std::string& name : wanted) {
      if (!has(name)) diagnostics.report(fields.front().span, fmt::format("the column \"{}\" is missing", name), "");
    }
  }
  bool has(std::string_view name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }
  std::size_t index(std::string_view name) const { return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin()); }
  std::size_t size() const { return size_; }
  bool is_collective() const { return is_collective_; }

 private:
  std::vector<std::string> names_;
  std::size_t size_;
  bool is_collective_ = false;
};

/// One record seen through the header.
class Record {
 public:
  Record(const Header& header, const std::vector<CsvField>& fields, Diagnostics& diagnostics) : header_(header), fields_(fields), diagnostics_(diagnostics) {}

  const CsvField& field(std::string_view name) const { return fields_[header_.index(name)]; }
  std::string text(std::string_view name) const { return field(name).text; }

  std::string name(std::string_view column) const {
    const CsvField& f = field(column);
    if (f.text.empty()) diagnostics_.report(f.span, fmt::format("{} is empty", column));
    return f.text;
  }

  std::int64_t integer(std::string_view column, std::int64_t least, std::int64_t most) const {
    const CsvField& f = field(column);
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(f.text.data(), f.text.data() + f.text.size(), value);
    const bool whole = problem == std::errc{} && end == f.text.data() + f.text.size();
    if (!whole || value < least || value > most) diagnostics_.report(f.span, fmt::format("{} must be an integer from {} to {}", column, least, most));
    return std::clamp(value, least, most);
  }

  double positive(std::string_view column) const {
    const CsvField& f = field(column);
    double value = 0;
    const auto [end, problem] = std::from_chars(f.text.data(), f.text.data() + f.text.size(), value);
    const bool whole = problem == std::errc{} && end == f.text.data() + f.text.size();
    if (!whole || !(value > 0) || !std::isfinite(value)) diagnostics_.report(f.span, fmt::format("{} must be a number more than zero", column));
    return value;
  }

  Measurement::Metric metric() const {
    const CsvField& f = field("metric");
    const auto at = std::find(kMetrics.begin(), kMetrics.end(), f.text);
    if (at == kMetrics.end()) diagnostics_.report(f.span, fmt::format("unknown metric \"{}\"", f.text.substr(0, 40)), did_you_mean(f.text, kMetrics));
    return at == kMetrics.end() ? Measurement::Metric::rate : static_cast<Measurement::Metric>(at - kMetrics.begin());
  }

  Settings settings() const {
    const CsvField& f = field("settings");
    Settings settings;
    for (std::size_t begin = 0; begin < f.text.size();) {
      const std::size_t end = std::min(f.text.find(';', begin), f.text.size());
      const std::string item = f.text.substr(begin, end - begin);
      const std::size_t equals = item.find('=');
      if (equals == std::string::npos || equals == 0) {
        diagnostics_.report(f.span, fmt::format("the setting \"{}\" is not key=value", item.substr(0, 40)), "several settings are separated by ';'");
      } else {
        settings.emplace_back(item.substr(0, equals), item.substr(equals + 1));
      }
      begin = end + 1;
    }
    return settings;
  }

 private:
  const Header& header_;
  const std::vector<CsvField>& fields_;
  Diagnostics& diagnostics_;
};

constexpr std::int64_t kMostGpus = 10'000'000;

Measurement read_scaling(const Record& record, int line) {
  Measurement m;
  m.series = record.name("series");
  m.model = record.name("model");
  m.cluster = record.name("cluster");
  m.strategy = record.name("strategy");
  m.precision = record.name("precision");
  m.batch_per_gpu = record.integer("batch_per_gpu", 1, 1'000'000'000);
  m.gpus = static_cast<int>(record.integer("gpus", 1, kMostGpus));
  m.nodes = static_cast<int>(record.integer("nodes", 1, kMostGpus));
  m.metric = record.metric();
  m.value = record.positive("value");
  m.settings = record.settings();
  m.source = record.text("source");
  m.line = line;
  return m;
}

CollectiveMeasurement read_collective(const Record& record, int line) {
  CollectiveMeasurement m;
  m.series = record.name("series");
  m.cluster = record.name("cluster");
  m.op = record.name("op");
  m.gpus = static_cast<int>(record.integer("gpus", 1, kMostGpus));
  m.nodes = static_cast<int>(record.integer("nodes", 1, kMostGpus));
  m.bytes = record.integer("bytes", 0, std::int64_t{1} << 50);
  m.time_us = record.positive("time_us");
  m.settings = record.settings();
  m.source = record.text("source");
  m.line = line;
  return m;
}

bool is_full(const Diagnostics& diagnostics) { return diagnostics.found().size() >= Diagnostics::kMostDiagnostics; }

}  // namespace

MeasurementFile read_measurements(const SourceText& source, Diagnostics& diagnostics) {
  MeasurementFile file;
  CsvLines lines(source.text);
  const auto first = is_text(source.text) ? lines.next() : std::nullopt;
  if (!first) {
    diagnostics.report({}, is_text(source.text) ? "has no header line" : "is not a text file", "the first line names the columns: series,model,cluster,…");
    return file;
  }
  const Header header(*first, diagnostics);
  file.kind = header.is_collective() ? MeasurementFile::Kind::collective : MeasurementFile::Kind::scaling;
  if (!diagnostics.empty()) return file;
  std::size_t rows = 0;
  for (auto fields = lines.next(); fields && !is_full(diagnostics); fields = lines.next()) {
    if (++rows > kMostMeasurements) {
      diagnostics.report({lines.line(), 1, 1}, fmt::format("more than {} rows", kMostMeasurements));
      break;
    }
    if (fields->size() != header.size()) {
      diagnostics.report(fields->front().span, fmt::format("{} fields, the header has {}", fields->size(), header.size()));
      continue;
    }
    const Record record(header, *fields, diagnostics);
    if (header.is_collective()) {
      file.collective.push_back(read_collective(record, lines.line()));
    } else {
      file.scaling.push_back(read_scaling(record, lines.line()));
    }
  }
  return file;
}

}  // namespace foretrain

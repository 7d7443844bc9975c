// A record is looked at through its header: columns by name, each field with its place.
#include "sim/scenario/csv/measurements.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/names.hpp"
#include "sim/base/units.hpp"
#include "sim/scenario/csv/csv_line.hpp"
#include "sim/scenario/csv/text_scan.hpp"

namespace foretrain {

namespace {

const std::vector<std::string> kScalingColumns{"series",    "model",         "cluster",  "strategy",
                                               "precision", "batch_per_gpu", "gpus",     "nodes",
                                               "metric",    "value",         "settings", "source"};
const std::vector<std::string> kCollectiveColumns{"series", "cluster", "op",       "gpus",  "nodes",
                                                  "bytes",  "time_us", "settings", "source"};
const std::vector<std::string> kMetrics{"samples_per_s", "step_s", "epoch_s", "rate"};
const std::vector<std::string> kOps{"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                                    "alltoall",   "sendrecv",   "gather",         "scatter"};

constexpr std::string_view kKinds =
    "a file of training runs has "
    "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source, "
    "one of collectives series,cluster,op,gpus,nodes,bytes,time_us,settings,source";

bool is_full(const Diagnostics& diagnostics) {
  return diagnostics.found().size() >= Diagnostics::kMostDiagnostics;
}

/// Keeps long lists of mistakes cheap: quoting a line takes a walk through the text.
void report(Diagnostics& diagnostics, SourceSpan span, std::string message, std::string hint = "") {
  if (!is_full(diagnostics)) diagnostics.report(span, std::move(message), std::move(hint));
}

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::int64_t kMostMeasuredGpus = 10'000'000;

/// Which column stands where.
class Header {
 public:
  Header(const std::vector<CsvField>& fields, Diagnostics& diagnostics) : size_(fields.size()) {
    for (const CsvField& field : fields) names_.push_back(field.text);
    const bool is_scaling = has("model") || has("metric") || has("value");
    is_collective_ = !is_scaling && (has("time_us") || has("op") || has("bytes"));
    const bool is_known = is_scaling || is_collective_;
    if (!is_known)
      report(diagnostics, whole_line(fields), "the header names no kind of measurement", std::string(kKinds));
    if (is_known) check_columns(fields, is_collective_ ? kCollectiveColumns : kScalingColumns, diagnostics);
  }
  bool has(std::string_view name) const { return holds(names_, name); }
  std::size_t index(std::string_view name) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }
  std::size_t size() const { return size_; }
  bool is_collective() const { return is_collective_; }

 private:
  static SourceSpan whole_line(const std::vector<CsvField>& fields) {
    const SourceSpan first = fields.front().span, last = fields.back().span;
    return {first.line, first.column, last.column + last.length - first.column};
  }

  void check_columns(const std::vector<CsvField>& fields, const std::vector<std::string>& wanted,
                     Diagnostics& diagnostics) const {
    for (const CsvField& field : fields) {
      if (!field.fault.empty()) report(diagnostics, field.span, field.fault);
      if (!holds(wanted, field.text))
        report(diagnostics, field.span, fmt::format("unknown column \"{}\"", field.text.substr(0, 40)),
               did_you_mean(field.text, wanted));
      const bool first = &fields[index(field.text)] == &field;
      if (!first)
        report(diagnostics, field.span,
               fmt::format("the column \"{}\" is there twice", field.text.substr(0, 40)));
      if (is_full(diagnostics)) return;
    }
    for (const std::string& name : wanted) {
      if (!has(name))
        report(diagnostics, whole_line(fields), fmt::format("the column \"{}\" is missing", name));
    }
  }

  std::vector<std::string> names_;
  std::size_t size_;
  bool is_collective_ = false;
};

/// One record seen through the header.
class Record {
 public:
  Record(const Header& header, const std::vector<CsvField>& fields, Diagnostics& diagnostics)
      : header_(header), fields_(fields), diagnostics_(diagnostics) {}

  const CsvField& field(std::string_view name) const { return fields_[header_.index(name)]; }

  /// Whether every field's quotes are right; reports the others.
  bool is_sound() const {
    bool sound = true;
    for (const CsvField& field : fields_) {
      if (field.fault.empty()) continue;
      report(diagnostics_, field.span, field.fault,
             "put the whole field in quotes and double the quotes inside");
      sound = false;
    }
    return sound;
  }

  std::string text(std::string_view name) const { return field(name).text; }

  std::string name(std::string_view column) const {
    const CsvField& f = field(column);
    if (f.text.empty()) report(diagnostics_, f.span, fmt::format("{} is empty", column));
    return f.text;
  }

  std::optional<std::int64_t> integer(std::string_view column, std::int64_t least, std::int64_t most) const {
    const CsvField& f = field(column);
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(f.text.data(), f.text.data() + f.text.size(), value);
    const bool whole = problem == std::errc{} && end == f.text.data() + f.text.size();
    if (whole && value >= least && value <= most) return value;
    report(diagnostics_, f.span, fmt::format("{} must be an integer from {} to {}", column, least, most));
    return std::nullopt;
  }

  double positive(std::string_view column, double least, double most) const {
    const CsvField& f = field(column);
    double value = 0;
    const auto [end, problem] = std::from_chars(f.text.data(), f.text.data() + f.text.size(), value);
    const bool whole = problem == std::errc{} && end == f.text.data() + f.text.size();
    if (!whole || !(value > 0) || !std::isfinite(value))
      report(diagnostics_, f.span, fmt::format("{} must be a number more than zero", column));
    else if (value < least || value > most)
      report(diagnostics_, f.span, fmt::format("{} must be a number from {:g} to {:g}", column, least, most),
             "check the unit");
    return value;
  }

  /// 0 when the field is wrong.
  int gpus() const { return static_cast<int>(integer("gpus", 1, kMostMeasuredGpus).value_or(0)); }

  /// A node in use holds at least one of the GPUs.
  int nodes(int gpus) const {
    const auto nodes = static_cast<int>(integer("nodes", 1, kMostMeasuredGpus).value_or(1));
    if (gpus > 0 && nodes > gpus)
      report(diagnostics_, field("nodes").span, fmt::format("{} nodes for {}", nodes, counted(gpus, "GPU")),
             "every node in use has at least one GPU of the job");
    return nodes;
  }

  std::string op() const {
    const CsvField& f = field("op");
    if (!holds(kOps, f.text))
      report(diagnostics_, f.span, fmt::format("unknown op \"{}\"", f.text.substr(0, 40)),
             did_you_mean(f.text, kOps));
    return f.text;
  }

  Measurement::Metric metric() const {
    const CsvField& f = field("metric");
    const auto at = std::find(kMetrics.begin(), kMetrics.end(), f.text);
    if (at == kMetrics.end())
      report(diagnostics_, f.span, fmt::format("unknown metric \"{}\"", f.text.substr(0, 40)),
             did_you_mean(f.text, kMetrics));
    return at == kMetrics.end() ? Measurement::Metric::rate
                                : static_cast<Measurement::Metric>(at - kMetrics.begin());
  }

  Settings settings() const {
    const CsvField& f = field("settings");
    Settings settings;
    for (std::size_t begin = 0; begin < f.text.size();) {
      const std::size_t end = std::min(f.text.find(';', begin), f.text.size());
      const std::string item = f.text.substr(begin, end - begin);
      const std::size_t equals = item.find('=');
      if (equals == std::string::npos || equals == 0) {
        report(diagnostics_, f.span, fmt::format("the setting \"{}\" is not key=value", item.substr(0, 40)),
               "several settings are separated by ';'");
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

Measurement read_scaling(const Record& record, int line) {
  Measurement m;
  m.series = record.name("series");
  m.model = record.name("model");
  m.cluster = record.name("cluster");
  m.strategy = record.name("strategy");
  m.precision = record.name("precision");
  m.batch_per_gpu = record.integer("batch_per_gpu", 1, 1'000'000'000).value_or(1);
  m.gpus = record.gpus();
  m.nodes = record.nodes(m.gpus);
  m.metric = record.metric();
  m.value = record.positive("value", kLeastMeasured, kMostMeasured);
  m.settings = record.settings();
  m.source = record.text("source");
  m.line = line;
  return m;
}

CollectiveMeasurement read_collective(const Record& record, int line) {
  CollectiveMeasurement m;
  m.series = record.name("series");
  m.cluster = record.name("cluster");
  m.op = record.op();
  m.gpus = record.gpus();
  m.nodes = record.nodes(m.gpus);
  m.bytes = record.integer("bytes", 0, std::int64_t{1} << 50).value_or(0);
  m.time_us = record.positive("time_us", kShortestTime * 1e6, to_seconds(kLongestTime) * 1e6);
  m.settings = record.settings();
  m.source = record.text("source");
  m.line = line;
  return m;
}

/// The first record; none for a text that cannot be read at all.
std::optional<std::vector<CsvField>> read_header(const SourceText& source, CsvLines& lines,
                                                 Diagnostics& diagnostics) {
  const bool too_large = source.text.size() > kLargestMeasurements, text = !too_large && is_text(source.text);
  auto first = text ? lines.next() : std::nullopt;
  if (too_large) report(diagnostics, {}, fmt::format("is larger than {} bytes", kLargestMeasurements));
  if (!too_large && !text) report(diagnostics, {}, "is not a text file");
  if (text && !first) report(diagnostics, {}, "has no header line", std::string(kKinds));
  return first;
}

void read_measurement_row(const Header& header, const std::vector<CsvField>& fields, MeasurementFile& file,
                          Diagnostics& diagnostics) {
  const int line = fields.front().span.line;
  const Record record(header, fields, diagnostics);
  if (!record.is_sound()) return;
  if (fields.size() != header.size()) {
    const SourceSpan place = fields[std::min(header.size(), fields.size() - 1)].span;
    return report(diagnostics, place,
                  fmt::format("{} fields, the header has {}", fields.size(), header.size()),
                  "a field that holds a comma stands in quotes");
  }
  if (header.is_collective()) {
    file.collective.push_back(read_collective(record, line));
  } else {
    file.scaling.push_back(read_scaling(record, line));
  }
}

}  // namespace

MeasurementFile read_measurements(const SourceText& source, Diagnostics& diagnostics) {
  MeasurementFile file;
  CsvLines lines(source.text);
  const auto first = read_header(source, lines, diagnostics);
  if (!first) return file;
  const Header header(*first, diagnostics);
  file.kind = header.is_collective() ? MeasurementFile::Kind::collective : MeasurementFile::Kind::scaling;
  if (!diagnostics.empty()) return file;
  std::size_t rows = 0;
  for (auto fields = lines.next(); fields && !is_full(diagnostics); fields = lines.next()) {
    if (++rows > kMostMeasurements) {
      report(diagnostics, {lines.line(), 1, 1}, fmt::format("more than {} rows", kMostMeasurements));
      break;
    }
    read_measurement_row(header, *fields, file, diagnostics);
  }
  return file;
}

}  // namespace foretrain

// Files of measurements. Kinds of files are distinguished by their headers; each kind has a reader of its
// rows.
#include "sim/scenario/csv/measurements.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/units.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/csv/csv_record.hpp"
#include "sim/scenario/csv/kernel_rows.hpp"
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

/// Hint with the columns of all kinds.
constexpr std::string_view kKinds =
    "a file of training runs has "
    "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source, "
    "one of collectives series,cluster,op,gpus,nodes,bytes,time_us,settings,source, "
    "one of kernels op,shape,precision,gpu,time_us,kernel,source, "
    "one of large models source,model,params,layers,hidden,heads,kv_heads,ffn,vocab,seq_len,micro_batch,"
    "global_batch,tp,pp,vpp,cp,ep,dp,zero_stage_or_fsdp,recompute,precision,gpu,nodes,gpus,framework,"
    "step_time_s,tokens_per_s_per_gpu,tflops_per_gpu,mfu,memory_gb,notes";

/// Upper limit of a job's GPUs.
constexpr std::int64_t kMostMeasuredGpus = 10'000'000;

/// Returns the number of GPUs; 0 when the field is wrong.
int gpus_of(const CsvRecord& record) {
  return static_cast<int>(record.integer("gpus", 1, kMostMeasuredGpus).value_or(0));
}

/// Returns the number of nodes; reports more nodes than GPUs, because a node in use has at least one.
int nodes_of(const CsvRecord& record, int gpus) {
  const auto nodes = static_cast<int>(record.integer("nodes", 1, kMostMeasuredGpus).value_or(1));
  if (gpus > 0 && nodes > gpus)
    record.wrong("nodes", fmt::format("{} nodes for {}", nodes, counted(gpus, "GPU")),
                 "every node in use has at least one GPU of the job");
  return nodes;
}

Measurement::Metric metric_of(const CsvRecord& record) {
  const auto at = std::find(kMetrics.begin(), kMetrics.end(), record.one_of("metric", kMetrics));
  return at == kMetrics.end() ? Measurement::Metric::rate
                              : static_cast<Measurement::Metric>(at - kMetrics.begin());
}

/// Reads "key=value;key=value"; reports items without a key.
Settings settings_of(const CsvRecord& record) {
  const std::string text = record.text("settings");
  Settings settings;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0) {
      record.wrong("settings", fmt::format("the setting \"{}\" is not key=value", item.substr(0, 40)),
                   "several settings are separated by ';'");
    } else {
      settings.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    }
    begin = end + 1;
  }
  return settings;
}

Measurement read_scaling(const CsvRecord& record) {
  Measurement m;
  m.series = record.name("series");
  m.model = record.name("model");
  m.cluster = record.name("cluster");
  m.strategy = record.name("strategy");
  m.precision = record.name("precision");
  m.batch_per_gpu = record.integer("batch_per_gpu", 1, 1'000'000'000).value_or(1);
  m.gpus = gpus_of(record);
  m.nodes = nodes_of(record, m.gpus);
  m.metric = metric_of(record);
  m.value = record.positive("value", kLeastMeasured, kMostMeasured);
  m.settings = settings_of(record);
  m.source = record.text("source");
  m.line = record.line();
  return m;
}

CollectiveMeasurement read_collective(const CsvRecord& record) {
  CollectiveMeasurement m;
  m.series = record.name("series");
  m.cluster = record.name("cluster");
  m.op = record.one_of("op", kOps);
  m.gpus = gpus_of(record);
  m.nodes = nodes_of(record, m.gpus);
  m.bytes = record.integer("bytes", 0, std::int64_t{1} << 50).value_or(0);
  m.time_us = record.positive("time_us", kShortestTime * 1e6, to_seconds(kLongestTime) * 1e6);
  m.settings = settings_of(record);
  m.source = record.text("source");
  m.line = record.line();
  return m;
}

/// Returns the first record; none for a text that cannot be read at all.
std::optional<std::vector<CsvField>> read_header(const SourceText& source, CsvLines& lines,
                                                 Diagnostics& diagnostics) {
  const bool too_large = source.text.size() > kLargestMeasurements, text = !too_large && is_text(source.text);
  auto first = text ? lines.next() : std::nullopt;
  if (too_large) add_mistake(diagnostics, {}, fmt::format("is larger than {} bytes", kLargestMeasurements));
  if (!too_large && !text) add_mistake(diagnostics, {}, "is not a text file");
  if (text && !first) add_mistake(diagnostics, {}, "has no header line", std::string(kKinds));
  return first;
}

/// Returns the kind of file; nullopt for a header of no kind. Columns that only one kind has decide, so that
/// one missing column is reported and does not change the kind.
std::optional<MeasurementFile::Kind> kind_of(const CsvHeader& header) {
  using Kind = MeasurementFile::Kind;
  if (header.has("method") && header.has("weights_dtype")) return Kind::fine_tunings;
  if (header.has("tp") || header.has("step_time_s")) return Kind::large_models;
  if (header.has("model") || header.has("metric") || header.has("value")) return Kind::scaling;
  const bool has_series = header.has("series") || header.has("cluster");
  // Names of GPUs are a column of other files, too.
  if (header.has("shape") || (header.has("gpu") && !has_series)) return Kind::kernels;
  const bool is_collective = header.has("time_us") || header.has("op") || header.has("bytes");
  return is_collective ? std::optional(Kind::collective) : std::nullopt;
}

void check_columns(const CsvHeader& header, const std::vector<CsvField>& fields, MeasurementFile::Kind kind,
                   Diagnostics& diagnostics) {
  using Kind = MeasurementFile::Kind;
  if (kind == Kind::scaling) header.check(fields, kScalingColumns, {}, diagnostics);
  if (kind == Kind::collective) header.check(fields, kCollectiveColumns, {}, diagnostics);
  if (kind == Kind::kernels) header.check(fields, kernel_columns(), optional_kernel_columns(), diagnostics);
  if (kind == Kind::fine_tunings) header.check(fields, fine_tuning_columns(), {}, diagnostics);
  if (kind == Kind::large_models)
    header.check(fields, large_model_columns(), optional_large_model_columns(), diagnostics);
}

/// Reads a row of large models. A mistake costs only that row, because a file has rows of many sources.
void read_large_row(const SourceText& source, const CsvHeader& header, const std::vector<CsvField>& fields,
                    MeasurementFile& file) {
  Diagnostics own(source);
  const CsvRecord record(header, fields, own);
  if (record.is_sound()) file.large_models.push_back(read_large_model(record));
  if (own.empty()) return;
  const Diagnostic& first = own.found().front();
  // The row was added before its mistake was found.
  if (file.large_models.size() > 0 && file.large_models.back().line == record.line())
    file.large_models.pop_back();
  file.unread.emplace_back(record.line(), first.message);
}

void read_row(const CsvRecord& record, const std::vector<std::string>& gpus, MeasurementFile& file) {
  if (!record.is_sound()) return;
  if (file.kind == MeasurementFile::Kind::collective)
    file.collective.push_back(read_collective(record));
  else if (file.kind == MeasurementFile::Kind::scaling)
    file.scaling.push_back(read_scaling(record));
  else if (file.kind == MeasurementFile::Kind::fine_tunings)
    file.fine_tunings.push_back(read_fine_tuning_row(record));
  else if (auto kernel = read_kernel(record, gpus))
    file.kernels.push_back(std::move(*kernel));
}

}  // namespace

MeasurementFile read_measurements(const SourceText& source, Diagnostics& diagnostics) {
  MeasurementFile file;
  CsvLines lines(source.text);
  const auto first = read_header(source, lines, diagnostics);
  if (!first) return file;
  const CsvHeader header(*first);
  const auto kind = kind_of(header);
  if (!kind)
    add_mistake(diagnostics, header.span(), "the header names no kind of measurement", std::string(kKinds));
  else
    check_columns(header, *first, file.kind = *kind, diagnostics);
  if (!diagnostics.empty()) return file;
  // Names of the catalog are read only for kernels.
  const bool has_gpus = file.kind == MeasurementFile::Kind::kernels;
  const std::vector<std::string> gpus = has_gpus ? names_in(CatalogKind::gpus) : std::vector<std::string>{};
  std::size_t rows = 0;
  for (auto fields = lines.next(); fields && !is_full(diagnostics); fields = lines.next()) {
    if (++rows > kMostMeasurements) {
      add_mistake(diagnostics, {lines.line(), 1, 1}, fmt::format("more than {} rows", kMostMeasurements));
      break;
    }
    if (file.kind == MeasurementFile::Kind::large_models)
      read_large_row(source, header, *fields, file);
    else
      read_row(CsvRecord(header, *fields, diagnostics), gpus, file);
  }
  return file;
}

}  // namespace foretrain

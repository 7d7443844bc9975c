// The formats of a model's summary: a table of functions, one row and one file each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/step/model_summary.hpp"

namespace foretrain {

/// Which layers a report lists: all, those that repeat only once, or none.
enum class LayerListing : std::uint8_t { folded, all, none };

using ModelReportFunction = std::string (*)(const ModelSummary& summary, LayerListing listing);

/// A format of a model's report: its name, and the function that writes it.
struct ModelReportEntry {
  std::string_view name;
  std::string_view summary;
  ModelReportFunction write;
};

const std::vector<ModelReportEntry>& model_reports();
const ModelReportEntry* find_model_report(std::string_view name);
std::vector<std::string> model_report_names();

// A model's summary for people: layers, totals, time by operator class, slowest layers.

std::string write_model_table(const ModelSummary& summary, LayerListing listing);

// One line per layer of a model's summary; FLOPs and bytes are of one sample, times of the whole batch.

std::string write_model_csv(const ModelSummary& summary, LayerListing listing);

// A model's summary as JSON, schema foretrain.model/1: keys are added, never renamed. Times in seconds, sizes
// in bytes.

std::string write_model_json(const ModelSummary& summary, LayerListing listing);

}  // namespace foretrain

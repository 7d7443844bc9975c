// The formats of a model's summary: a table of functions, with one row and one file for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/step/model_summary.hpp"

namespace foretrain {

/// Layers that a report lists: repeated groups once with their count, all layers, or none.
enum class LayerListing : std::uint8_t { folded, all, none };

using ModelReportFunction = std::string (*)(const ModelSummary& summary, LayerListing listing);

/// A format: its name, its help text, and the function that writes it.
struct ModelReportEntry {
  std::string_view name;
  std::string_view summary;
  ModelReportFunction write;
};

/// Returns all formats.
const std::vector<ModelReportEntry>& model_reports();
/// Returns the format of that name; nullptr: there is none.
const ModelReportEntry* find_model_report(std::string_view name);
/// Returns the names for --format.
std::vector<std::string> model_report_names();

/// Returns the summary for people: layers, totals, time by class of operator, slowest layers.

std::string write_model_table(const ModelSummary& summary, LayerListing listing);

/// Returns one line for each layer. FLOPs and bytes are those of one sample; times are those of the whole
/// batch.

std::string write_model_csv(const ModelSummary& summary, LayerListing listing);

/// Returns schema foretrain.model/1. Keys are added, never renamed. Times are in seconds and sizes in bytes.

std::string write_model_json(const ModelSummary& summary, LayerListing listing);

}  // namespace foretrain

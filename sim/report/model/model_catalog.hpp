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

struct ModelReportEntry {
  std::string_view name;
  std::string_view summary;
  ModelReportFunction write;
};

const std::vector<ModelReportEntry>& model_reports();
const ModelReportEntry* find_model_report(std::string_view name);
std::vector<std::string> model_report_names();

}  // namespace foretrain

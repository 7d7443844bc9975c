// Measured fine-tunings: memory, time, or whether a job fits, one value per row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/csv/csv_record.hpp"

namespace foretrain {

/// One row. Fields that a source does not state are empty; texts are as the source writes them.
struct FineTuningMeasurement {
  enum class Metric : std::uint8_t { memory_gb, step_s, tokens_per_s, samples_per_s, fits };
  std::string source, page, model, method, targets, weights, optimizer, optimizer_dtype, strategy, offload,
      recompute, packing, gpu, notes;
  std::optional<std::int64_t> rank, sequence, micro_batch, accumulation;
  /// Number of parameters; 0: unknown.
  double params = 0;
  int gpus = 1, nodes = 1;
  Metric metric = Metric::memory_gb;
  double value = 0;
  int line = 0;
  /// Returns the grade with which the notes begin, as in "[A]"; '?' without one.
  char grade() const { return notes.size() > 2 && notes[0] == '[' ? notes[1] : '?'; }
  bool notes_say(std::string_view text) const { return notes.find(text) != std::string::npos; }
};

/// Returns the columns: source,page,model,params,method,…,metric,value,notes.
const std::vector<std::string>& fine_tuning_columns();

/// Reads one row; wrong fields are reported in the record's diagnostics.
FineTuningMeasurement read_fine_tuning_row(const CsvRecord& record);

}  // namespace foretrain

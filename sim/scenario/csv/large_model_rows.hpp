// Measured steps of large models: sizes, degrees of parallelism, time and memory of each row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/csv/csv_record.hpp"

namespace foretrain {

/// One row. Fields that a source does not state are empty; texts are as the source writes them.
struct LargeModelMeasurement {
  std::string model, sharding, recompute, precision, gpu, framework, notes, source;
  std::optional<std::int64_t> params, layers, hidden, heads, kv_heads, ffn, vocab, seq_len;
  std::optional<std::int64_t> micro_batch, global_batch, tp, pp, vpp, cp, ep, dp;
  int nodes = 1, gpus = 1;
  /// Seconds of a step; 0: the row states memory only.
  double step_s = 0;
  /// Memory as its source counts it, on the first rank; 0: unknown.
  double memory_gb = 0;
  /// True if the job fitted into memory and ran; none: the file does not state it.
  std::optional<bool> fits;
  int line = 0;
  /// Returns the text after "key=" in the notes, up to the next ';' or ' '; empty when there is none.
  std::string noted(std::string_view key) const;
};

/// Return the columns source,model,params,…,memory_gb,notes, and the optional one, fits.
const std::vector<std::string>& large_model_columns();
const std::vector<std::string>& optional_large_model_columns();

/// Reads one row; wrong fields are reported in the record's diagnostics.
LargeModelMeasurement read_large_model(const CsvRecord& record);

}  // namespace foretrain

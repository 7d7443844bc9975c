// Measured steps of large models: sizes, degrees of parallelism, time and memory of one row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/csv/csv_record.hpp"

namespace foretrain {

/// Fields that a source does not tell are empty; texts are as the source writes them.
struct LargeModelMeasurement {
  std::string model, sharding, recompute, precision, gpu, framework, notes, source;
  std::optional<std::int64_t> params, layers, hidden, heads, kv_heads, ffn, vocab, seq_len;
  std::optional<std::int64_t> micro_batch, global_batch, tp, pp, vpp, cp, ep, dp;
  int nodes = 1, gpus = 1;
  double step_s = 0;         ///< 0: the row is about memory alone
  double memory_gb = 0;      ///< as its source counts, on the first rank; 0: not told
  std::optional<bool> fits;  ///< whether it ran at all; none: the file does not say
  int line = 0;
  /// What stands behind "key=" in the notes, up to the next ';' or ' '; empty: nothing.
  std::string noted(std::string_view key) const;
};

/// source,model,params,…,memory_gb,notes, and fits that may be missing.
const std::vector<std::string>& large_model_columns();
const std::vector<std::string>& optional_large_model_columns();

LargeModelMeasurement read_large_model(const CsvRecord& record);

}  // namespace foretrain

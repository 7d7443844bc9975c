// The table [recorded] of a model file: a network as its framework ran it, operator by operator.
#pragma once

#include <optional>

#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/workload/recorded/expand_recorded.hpp"

namespace foretrain {

/// The contents of the table; `measured_on` is set if operators have times.
struct RecordedFile {
  RecordedNetwork network;
  std::optional<MeasuredOn> measured_on;
};

/// Reads the table. Reports every mistake; if there was none, indices and sizes of the result are within
/// their limits.
RecordedFile read_recorded(TableReader& document, std::string_view key);

/// Returns the keys for the reference page: of [recorded], its operators, parameters, buffers and storages.
std::vector<KeyTable> recorded_key_tables();

}  // namespace foretrain

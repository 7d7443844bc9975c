// The table [recorded] of a model file: a network as its framework ran it, operator by operator.
#pragma once

#include <optional>

#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/workload/recorded/expand_recorded.hpp"

namespace foretrain {

/// What was read; `measured_on` is there when operators have times.
struct RecordedFile {
  RecordedNetwork network;
  std::optional<MeasuredOn> measured_on;
};

/// Reports every mistake; indices and sizes of what is returned are within their limits if there was none.
RecordedFile read_recorded(TableReader& document, std::string_view key);

/// [recorded], its operators, parameters, buffers and storages, for the reference page.
std::vector<KeyTable> recorded_key_tables();

}  // namespace foretrain

// Keys that a data-set preset and the table [data] share.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/toml/section_values.hpp"
#include "sim/workload/data_set.hpp"

namespace foretrain {

/// A table of names in the order of the enumerators.
template <typename Enum, std::size_t N>
std::vector<Choice<Enum>> choices_of(const std::array<std::string_view, N>& names) {
  std::vector<Choice<Enum>> out;
  for (std::size_t i = 0; i < N; ++i) out.push_back({std::string(names[i]), static_cast<Enum>(i)});
  return out;
}

/// samples, sample_bytes, stored_bytes, decode, decode_spread, storage; keys that are missing change nothing.
void read_data_set_keys(TableReader& reader, DataSet& set);

}  // namespace foretrain

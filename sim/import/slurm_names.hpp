// Options of Slurm that have no bearing on a training: they are passed over, and not reported.
#pragma once

#include <span>
#include <string_view>

namespace foretrain {

struct OptionName {
  std::string_view name;
  char letter = 0;
};

/// With a value.
std::span<const OptionName> slurm_other_options();
/// Without a value, or with one only after '='.
std::span<const OptionName> slurm_flags();

}  // namespace foretrain

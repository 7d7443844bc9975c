// Reports on a recorded step beside its prediction.
#pragma once

#include <string>

#include "sim/analysis/traces/trace_difference.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// Returns the answer in a sentence, both sides part by part, and the largest differences in words.
std::string write_trace_diff_table(const TraceDifference& difference);
/// Returns schema foretrain.trace_difference/1. Keys are added, never renamed.
std::string write_trace_diff_json(const TraceDifference& difference);

/// The formats of `trace diff`; the first is the default.
inline constexpr Format<TraceDifference> kTraceDiffFormats[] = {{"table", write_trace_diff_table},
                                                                {"json", write_trace_diff_json}};

}  // namespace foretrain

// A recorded step beside its prediction, for people and as JSON.
#pragma once

#include <string>

#include "sim/analysis/traces/trace_difference.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// The answer in a sentence, both sides by account, then the largest differences in words.
std::string write_trace_diff_table(const TraceDifference& difference);
/// Schema foretrain.trace_difference/1: keys are added, never renamed.
std::string write_trace_diff_json(const TraceDifference& difference);

inline constexpr Format<TraceDifference> kTraceDiffFormats[] = {{"table", write_trace_diff_table},
                                                                {"json", write_trace_diff_json}};

}  // namespace foretrain

// The declared JSON objects of a study.
#pragma once

#include "sim/analysis/search/study.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

/// Returns the fields of foretrain.study/1.
template <>
const OutputObject<StudyResult>& output_object<StudyResult>();

}  // namespace foretrain

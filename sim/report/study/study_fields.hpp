// The objects of a study.
#pragma once

#include "sim/analysis/search/study.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

template <>
const OutputObject<StudyResult>& output_object<StudyResult>();

}  // namespace foretrain

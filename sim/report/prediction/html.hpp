// The prediction as one self-contained page: the curve, where the step goes, the table.
#pragma once

#include "sim/report/catalog.hpp"

namespace foretrain {

/// HTML5 with inline SVG and no outside references.
std::string write_html(const Prediction& prediction, const ReportOptions& options);

}  // namespace foretrain

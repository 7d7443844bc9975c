// A model's summary as JSON, schema foretrain.model/1: keys are added, never renamed. Times in seconds, sizes
// in bytes.
#pragma once

#include "sim/report/model/model_catalog.hpp"

namespace foretrain {

std::string write_model_json(const ModelSummary& summary, LayerListing listing);

}  // namespace foretrain

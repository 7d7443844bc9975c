// One line per layer of a model's summary; FLOPs and bytes are of one sample, times of the whole batch.
#pragma once

#include "sim/report/model/model_catalog.hpp"

namespace foretrain {

std::string write_model_csv(const ModelSummary& summary, LayerListing listing);

}  // namespace foretrain

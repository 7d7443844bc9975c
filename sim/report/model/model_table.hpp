// A model's summary for people: layers, totals, time by operator class, slowest layers.
#pragma once

#include "sim/report/model/model_catalog.hpp"

namespace foretrain {

std::string write_model_table(const ModelSummary& summary, LayerListing listing);

}  // namespace foretrain

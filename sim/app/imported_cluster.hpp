// A cluster file made of what tools or the machine say, written with what people must know of it.
#pragma once

#include <string>

#include "sim/import/detection/detection.hpp"
#include "sim/import/machines/machine_cluster.hpp"

namespace foretrain {

/// The text to a file, or standard output where `output` is empty; assumptions and doubts to standard error.
void write_imported(const ImportedCluster& cluster, const std::string& output);

/// A cluster of machines like this one. Where no GPU was seen and none is named, cores take the GPUs' place.
ImportedCluster cluster_of_detected(DetectedMachine& detected, ImportAnswers answers);

}  // namespace foretrain

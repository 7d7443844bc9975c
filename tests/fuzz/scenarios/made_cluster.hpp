// The cluster of a made scenario, as its file.
#pragma once

#include <string>

#include "tests/fuzz/scenarios/made_scenario.hpp"

namespace foretrain::test {

struct MadeCluster {
  std::string text;
  int nodes = 1, gpus_per_node = 1;
  std::string fabric = "none";
};

MadeCluster make_cluster(Choices& choices, Units units);

/// The file of a network, from an image or a vector to a loss.
std::string make_model(Choices& choices);  // made_model.cpp

}  // namespace foretrain::test

// The JSON files of docs/measured.
#pragma once

#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/measured.hpp"

namespace foretrain::test {

/// A file of docs/measured, as in "pytorch/replicas.json". Throws what the parser throws.
inline nlohmann::json measured_json(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(kMeasured / name));
}

/// One training step of a network as PyTorch ran it; keys are those of docs/measured/networks.
inline nlohmann::json traced_network(const std::string& name) {
  return measured_json("networks/" + name + ".json");
}

}  // namespace foretrain::test

// The types of layers with their keys and what they are, in words.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// The words of the reference page on a type of layer.
struct DescribedLayer {
  std::string type;
  std::string keys;  ///< "**out**, bias": those in bold must be given
  std::string meaning;
};

/// Every type that a model file may use, in the order of the rules.
std::vector<DescribedLayer> described_layers();

}  // namespace foretrain

// The types of layers with their keys and meanings, in words.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// The reference page's row of a type of layer.
struct DescribedLayer {
  std::string type;
  /// Keys such as "**out**, bias"; those in bold are required.
  std::string keys;
  std::string meaning;
};

/// Returns every type that a model file may use, in the order of the rules.
std::vector<DescribedLayer> described_layers();

}  // namespace foretrain

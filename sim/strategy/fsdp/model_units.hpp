// The parts of a network that FSDP gathers and reduces as wholes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// One wrapped module.
struct ModelUnit {
  std::string name;
  std::vector<std::uint32_t> parameters;  ///< indices into ExpandedModel::parameters
  std::int64_t elements = 0;
};

/// Every layer and parameter is in one unit. The first is the root: what no other holds (it may be empty);
/// the others follow in the order of their first layer and have parameters.
struct ModelUnits {
  std::vector<ModelUnit> units;
  std::vector<std::uint32_t> of_layer;
  std::vector<std::uint32_t> of_parameter;

  /// Elements of the largest unit besides the root; 0 when there is none.
  std::int64_t largest() const;
};

/// One unit per block of the model file, as transformer_auto_wrap_policy wraps every instance of a block's
/// class. A block is told by the path of its layers: "decoder.7.add.0.attention" is in "decoder.7",
/// "projected.relu" in "projected"; "add.0.conv2d" is in none, because "add" is a layer itself.
ModelUnits units_by_block(const ExpandedModel& model);

/// Layers in a row until they hold `least` elements; what is left at the end stays with the root
/// (size_based_auto_wrap_policy, applied to the flat list of layers). Requires least >= 1.
ModelUnits units_by_size(const ExpandedModel& model, std::int64_t least);

}  // namespace foretrain

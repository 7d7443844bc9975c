// The parameters of blocks: which a list of layers asks for, in numbers, in names and in what it hands on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/layers/layer_template.hpp"

namespace foretrain {

/// Where a layer asks for a parameter.
struct ParameterUse {
  std::string name;
  SourceSpan span{};
};

/// Every parameter that a list of layers asks for, in its branches and in the arguments it hands on, in the
/// order of the text.
std::vector<ParameterUse> parameters_of(const LayerList& layers);

/// The parts of a name: plain text, and parameters without their '$'.
struct NamePart {
  std::string text;
  bool is_parameter = false;
};
std::vector<NamePart> parts_of(std::string_view name);

}  // namespace foretrain

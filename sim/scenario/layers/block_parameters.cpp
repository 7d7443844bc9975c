// Parameters of blocks: a walk over layer templates that collects names that begin with '$'.
#include "sim/scenario/layers/layer_template.hpp"

namespace foretrain {

namespace {

/// Adds the parameters of a formula, or of a name.
void add_number(const Number& number, std::vector<ParameterUse>& uses) {
  for (const NamePart& part : parts_of(number.formula)) {
    if (part.is_parameter) uses.push_back({part.text, number.span});
  }
}

void add_name(const NameText& name, std::vector<ParameterUse>& uses) {
  for (const NamePart& part : parts_of(name.text)) {
    if (part.is_parameter) uses.push_back({part.text, name.span});
  }
}

/// Adds the parameters of all parts of the layers, including those in branches.
void add_parameters(const LayerList& layers, std::vector<ParameterUse>& uses) {
  for (const LayerTemplate& layer : layers) {
    for (const KeyNumbers& given : layer.numbers) {
      for (const Number& number : given.numbers) add_number(number, uses);
    }
    for (const KeyFlag& flag : layer.flags) add_number(flag.number, uses);
    add_number(layer.repeat, uses);
    for (const Argument& argument : layer.arguments) add_number(argument.number, uses);
    // Names may contain parameters, too.
    for (const auto* names : {&layer.from, &layer.with, &layer.as}) {
      for (const NameText& name : *names) add_name(name, uses);
    }
    add_name(layer.weights, uses);
    for (const LayerList& branch : layer.branches) add_parameters(branch, uses);
  }
}

bool is_parameter_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

/// A '$' that no letter follows is plain text.
std::vector<NamePart> parts_of(std::string_view name) {
  std::vector<NamePart> parts;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    const bool is_parameter = name[at] == '$' && end < name.size() && is_parameter_letter(name[end]);
    if (is_parameter)
      while (end < name.size() && is_parameter_letter(name[end])) ++end;
    else
      while (end < name.size() && name[end] != '$') ++end;
    parts.push_back({std::string(name.substr(is_parameter ? at + 1 : at, end - at - (is_parameter ? 1 : 0))),
                     is_parameter});
    at = end;
  }
  return parts;
}

std::vector<ParameterUse> parameters_of(const LayerList& layers) {
  std::vector<ParameterUse> uses;
  add_parameters(layers, uses);
  return uses;
}

}  // namespace foretrain

// Layers as a model file writes them, before blocks are put in: some numbers and names still hold a block's
// parameters.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/toml/table_reader.hpp"
#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {

/// An integer, or what the parameters of a block or of a size make of it: "$name", "4*$name + 1".
struct Number {
  std::int64_t value = 0;
  std::string formula;  ///< parameter_arithmetic.hpp; empty for a plain integer
  SourceSpan span{};
};

/// Integers that a template's key was given, with their place for messages.
struct KeyNumbers {
  const LayerKey* key = nullptr;  ///< of the layer's type
  std::vector<Number> numbers;    ///< at least one
};

/// A flag that a parameter sets: 0 is false, 1 is true.
struct KeyFlag {
  const LayerKey* key = nullptr;
  Number number;
};

/// How often a block may be put in. A parameter may say 0: the block is left out.
inline constexpr NumberRange kRepeats{.most = kMostLayers};

/// The name of a result or the label of weights; "$name" in it stands for a parameter's number.
struct NameText {
  std::string text;
  SourceSpan span{};
};

/// An argument of a block of layers: its name and the numbers that replace it.
struct Argument {
  std::string name;
  SourceSpan name_span{};
  Number number;
};

/// A layer, or the use of a block when `block` is not empty.
struct LayerTemplate {
  Layer layer;  ///< with everything that needs no parameter: type, name, place, flags and words
  std::vector<KeyNumbers> numbers;
  std::vector<KeyFlag> flags;
  std::vector<std::vector<LayerTemplate>> branches;
  std::vector<NameText> as, from, with;  ///< `with` of a join or of attention's memory
  NameText weights;                      ///< empty text: none

  std::string block;
  SourceSpan block_span{};
  Number repeat{1, "", {}};
  std::vector<Argument> arguments;
};

using LayerList = std::vector<LayerTemplate>;

/// A named block of layers of a model file, which is repeated with arguments.
struct Block {
  SourceSpan span{};
  LayerList layers;
};
using Blocks = std::map<std::string, Block, std::less<>>;

/// "block", and the names of all types.
const std::vector<std::string>& layer_type_names();

/// The list of layers under `key` of a table. Unnamed layers get the name of their type, numbered
/// from the second on. Reports mistakes; faulty layers are left out.
LayerList read_layers(TableReader& table, std::string_view key);

/// The numbers under a key: one, or where the range allows it a list. Reports those that are no integer of
/// the range and no formula of parameters.
std::vector<Number> read_numbers(TableReader& table, std::string_view key, const NumberRange& range);

// The parameters of blocks: which a list of layers asks for, in numbers, in names and in what it hands on.

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

// Layers as a model file writes them, before blocks are expanded: some numbers and names still have a block's
// parameters.
//
// A block with a parameter, used twice:
// layers = [{ type = "block", block = "unit", repeat = 2, with = { width = 64 } }, { type = "loss" }]
// [blocks.unit]
// layers = [{ type = "linear", out = "$width" }, { type = "relu" }]
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

/// An integer, or a formula of the parameters of a block or of a size: "$name", "4*$name + 1".
struct Number {
  std::int64_t value = 0;
  /// See parameter_arithmetic.hpp; empty for a plain integer.
  std::string formula;
  SourceSpan span{};
};

/// The integers that a template gives to a key, with their places for messages.
struct KeyNumbers {
  /// Key of the layer's type.
  const LayerKey* key = nullptr;
  /// At least one number.
  std::vector<Number> numbers;
};

/// A flag that a parameter sets: 0 is false, 1 is true.
struct KeyFlag {
  const LayerKey* key = nullptr;
  Number number;
};

/// Range of the repeats of a block. A parameter may be 0: then the block is omitted.
inline constexpr NumberRange kRepeats{.most = kMostLayers};

/// The name of a result or the label of weights; "$name" in it means a parameter's number.
struct NameText {
  std::string text;
  SourceSpan span{};
};

/// An argument of a block: its name and the number that replaces it.
struct Argument {
  std::string name;
  SourceSpan name_span{};
  Number number;
};

/// A layer, or the use of a block if `block` is not empty.
struct LayerTemplate {
  /// All properties that need no parameter: type, name, place, flags and words.
  Layer layer;
  std::vector<KeyNumbers> numbers;
  std::vector<KeyFlag> flags;
  std::vector<std::vector<LayerTemplate>> branches;
  /// `with`: further operands of a join, or the memory of an attention.
  std::vector<NameText> as, from, with;
  /// Label of shared weights; empty: none.
  NameText weights;

  std::string block;
  SourceSpan block_span{};
  Number repeat{1, "", {}};
  std::vector<Argument> arguments;
};

using LayerList = std::vector<LayerTemplate>;

/// A named block of layers of a model file, which can be used with arguments.
struct Block {
  SourceSpan span{};
  LayerList layers;
};
using Blocks = std::map<std::string, Block, std::less<>>;

/// Returns "block", and the names of all types.
const std::vector<std::string>& layer_type_names();

/// Reads the list of layers under `key` of a table. Unnamed layers get the name of their type, numbered from
/// the second on. Reports mistakes; faulty layers are omitted.
LayerList read_layers(TableReader& table, std::string_view key);

/// Reads the numbers under a key: one, or a list if the range allows it. Reports values that are neither
/// integers of the range nor formulas of parameters.
std::vector<Number> read_numbers(TableReader& table, std::string_view key, const NumberRange& range);

// Parameters of blocks that a list of layers needs, in numbers, in names and in arguments that it passes on.

/// The use of a parameter by a layer.
struct ParameterUse {
  std::string name;
  SourceSpan span{};
};

/// Returns every parameter that a list of layers needs, in its branches and in the arguments that it passes
/// on, in the order of the text.
std::vector<ParameterUse> parameters_of(const LayerList& layers);

/// A part of a name: plain text, or a parameter without its '$'.
struct NamePart {
  std::string text;
  bool is_parameter = false;
};
/// Splits a name or formula into its parts.
std::vector<NamePart> parts_of(std::string_view name);

}  // namespace foretrain

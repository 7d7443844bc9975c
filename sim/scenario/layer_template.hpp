// Layers as a model file writes them, before blocks are put in: some numbers are still names of a block's parameters.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/scenario/table_reader.hpp"
#include "sim/workload/layer.hpp"

namespace foretrain {

/// The integer fields of a layer and of a block's use, each with its place in LayerTemplate::numbers.
enum class LayerField : std::uint8_t { out, kernel, stride, padding, dilation, groups, entries, heads, repeat };
inline constexpr std::size_t kLayerFields = 9;

/// An integer, or "$name" inside a block.
struct Number {
  std::int64_t value = 0;
  std::string parameter;  ///< without the '$'; empty for a plain integer
  SourceSpan span{};
};

struct Argument {
  std::string name;
  SourceSpan name_span{};
  Number number;
};

/// A layer, or the use of a block when `block` is not empty.
struct LayerTemplate {
  LayerType type = LayerType::relu;
  std::string name;
  std::array<Number, kLayerFields> numbers;
  bool bias = true;
  bool inplace = false;
  std::vector<std::vector<LayerTemplate>> branches;
  std::string block;
  SourceSpan block_span{};
  std::vector<Argument> with;
  SourceSpan span{};

  const Number& operator[](LayerField field) const { return numbers[static_cast<std::size_t>(field)]; }
  Number& operator[](LayerField field) { return numbers[static_cast<std::size_t>(field)]; }
};

using LayerList = std::vector<LayerTemplate>;

struct Block {
  SourceSpan span{};
  LayerList layers;
};
using Blocks = std::map<std::string, Block, std::less<>>;

/// The key of a field and the smallest value it may have; the largest is kLargestField, kMostRepeats for `repeat`.
std::string_view name_of(LayerField field);
std::int64_t least_of(LayerField field);
std::int64_t most_of(LayerField field);
inline constexpr std::int64_t kLargestField = 1'000'000'000;
inline constexpr std::int64_t kMostLayers = 100'000;

/// The list of layers under `key` of a table. Unnamed layers get the name of their type, numbered
/// from the second on. Reports mistakes; faulty layers are left out.
LayerList read_layers(TableReader& table, std::string_view key);

/// The parameter names a list of layers asks for, in its branches and in the arguments it hands on.
std::set<std::string> parameters_of(const LayerList& layers);

}  // namespace foretrain

// Which keys each type of layer takes in a model file: numbers, yes or no, words, and what else its rule
// reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/layers/layer.hpp"
#include "sim/workload/layers/shape.hpp"

namespace foretrain {

/// The number keys of layers and of a block's use.
enum class LayerField : std::uint8_t {
  out,
  kernel,
  stride,
  padding,
  dilation,
  groups,
  entries,
  heads,
  repeat,
  output_padding,
  factor,
  offset,
  shape,
  input,
  width,
  layers,
  window,
  shift,
  memory_length,
  steps,
  cutoffs,
  shares,
  divide,
  operators,
  parameters
};

inline constexpr std::int64_t kLargestField = 1'000'000'000;

/// A number key: its range, how many numbers it takes at most (one: no list), and where they go.
struct FieldRow {
  std::string_view key;
  std::int64_t least = 1;
  std::int64_t most = kLargestField;
  std::size_t longest = 1;
  void (*store)(Layer& layer, const std::vector<std::int64_t>& values) = nullptr;
};
const FieldRow& row_of(LayerField field);

/// A number key of one type: required, or with its default.
struct FieldRule {
  LayerField field;
  bool required = false;
  std::int64_t standard = 0;
};

struct FlagRule {
  std::string_view key;
  bool& (*flag)(Layer& layer);
};

/// A key with a time, which must be given.
struct TimeRule {
  std::string_view key;
  Time Layer::*member;
};

/// A key with one of a few words, the first of which is the default.
struct WordRule {
  std::string_view key;
  std::vector<std::string> words;
  void (*store)(Layer& layer, std::size_t word);
};

struct TypeRule {
  LayerType type = LayerType::relu;
  std::vector<FieldRule> fields;
  std::vector<FlagRule> flags = {};
  std::vector<WordRule> words = {};
  bool joins = false;       ///< takes `branches` and several names in `from` and `with`
  bool has_memory = false;  ///< takes one further name in `memory`
  std::vector<TimeRule> times = {};
};

/// The rule of a type by its name in files; nullptr when there is none.
const TypeRule* find_type_rule(std::string_view name);

/// The names of all types, and "block".
const std::vector<std::string>& layer_type_names();

}  // namespace foretrain

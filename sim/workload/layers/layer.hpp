// A network as people describe it: layers, with branches where the data flow splits and names where it meets
// again.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/held_options.hpp"
#include "sim/workload/fine_tuning/fine_tuning.hpp"

namespace foretrain {

struct LayerType;

/// A number for every direction of an image or volume: one for all, or {height, width}, or {depth, height,
/// width}.
struct Sides {
  std::array<std::int64_t, 3> value{};
  std::uint8_t count = 1;  ///< 1 to 3

  Sides(std::int64_t all = 0)
      : value{all, all, all} {}  // NOLINT(google-explicit-constructor): a plain number stands for all
  explicit Sides(const std::vector<std::int64_t>& values);
  std::int64_t operator[](std::size_t side) const { return value[count == 1 ? 0 : side]; }
  std::int64_t least() const;
  std::int64_t most() const;
  friend bool operator==(const Sides&, const Sides&) = default;
};

/// "3" or "[1, 7]".
std::string to_string(const Sides& sides);

/// One layer: what layers of every type have. What only its own type has, say a convolution's kernel, is in
/// that type's options: a struct in its file, which nothing else knows.
struct Layer : HeldOptions {
  const LayerType* type = nullptr;  ///< a row of layer_types.hpp; none only until the layer is given one
  std::string name;  ///< the whole path; empty: the type and its number behind the join around it
  std::vector<std::vector<Layer>> branches;
  SourceSpan span{};

  /// Names of results. `as`: what this layer's result is called from here on; "name+" appends it to the list
  /// of that name. `from`: the results to take instead of the previous layer's; only joins take more than
  /// one. `with`: what a join takes besides, or the memory that attention looks at.
  std::vector<std::string> as, from, with;
  /// Layers with the same label share their parameters.
  std::string weights;
  std::int64_t steps = 1;  ///< above 1: run row by row in a loop of the script
};

/// A network with the shape of one input sample: {channels, height, width}, {channels, depth, height, width},
/// {features}, {length, width}, or {sequence length} for token ids.
struct Model {
  std::string name;
  std::string description;
  std::vector<std::int64_t> input;
  bool input_is_tokens = false;
  std::vector<Layer> layers;
  /// What it is usually trained with, as `model.optimizer` names it; empty: not said.
  std::string optimizer{};
  std::int64_t samples_per_input = 1;  ///< a batch counts parts of an input, as tokens of a sentence
  bool is_recorded = false;            ///< its operators come from a recording: there are no layers
  FineTuning tuning{};                 ///< what of it trains, and what is added
  /// The program asks for the gradient of what goes in: frozen layers in front keep what backward reads.
  bool input_needs_gradient = false;
};

}  // namespace foretrain

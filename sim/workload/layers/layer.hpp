// Description of a network: layers, with branches where the data flow splits and names where it meets again.
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

/// A number for every direction of an image or volume: one for all, {height, width}, or {depth, height,
/// width}.
struct Sides {
  std::array<std::int64_t, 3> value{};
  std::uint8_t count = 1;  ///< 1 to 3

  Sides(std::int64_t all = 0)
      : value{all, all, all} {}  // NOLINT(google-explicit-constructor): a plain number stands for all
  /// Takes one to three numbers, in the order depth, height, width.
  explicit Sides(const std::vector<std::int64_t>& values);
  std::int64_t operator[](std::size_t side) const { return value[count == 1 ? 0 : side]; }
  /// Smallest and largest of the given numbers.
  std::int64_t least() const;
  std::int64_t most() const;
  friend bool operator==(const Sides&, const Sides&) = default;
};

/// Returns "3" or "[1, 7]".
std::string to_string(const Sides& sides);

/// A layer, with the members that layers of every type have. Members of one type alone, such as a
/// convolution's kernel, are in that type's options: a struct in the type's file, which no other code knows.
struct Layer : HeldOptions {
  const LayerType* type = nullptr;  ///< a row of layer_types.hpp; none only until the layer is given one
  std::string name;  ///< the whole path; empty: the type and its number behind the join around it
  std::vector<std::vector<Layer>> branches;
  SourceSpan span{};

  /// Names of results. `as`: names of this layer's result from here on; "name+" appends it to the list of
  /// that name. `from`: results to take instead of the previous layer's; only joins take more than one.
  /// `with`: further results that a join takes, or the memory that attention reads.
  std::vector<std::string> as, from, with;
  /// Layers with the same label share their parameters.
  std::string weights;
  std::int64_t steps = 1;  ///< above 1: run row by row in a loop of the script
};

/// A network with the shape of one input sample. The shape is {channels, height, width}, {channels, depth,
/// height, width}, {features}, {length, width}, or {sequence length} for token ids.
struct Model {
  std::string name;
  std::string description;
  std::vector<std::int64_t> input;
  bool input_is_tokens = false;
  std::vector<Layer> layers;
  /// Optimizer that it is usually trained with, by the name that `model.optimizer` has; empty: not stated.
  std::string optimizer{};
  std::int64_t samples_per_input = 1;  ///< a batch counts parts of an input, as tokens of a sentence
  bool is_recorded = false;            ///< its operators come from a recording: there are no layers
  /// The parameters that train, and what is added.
  FineTuning tuning{};
  /// The program requests the gradient of the input, so frozen layers in front keep what backward reads.
  bool input_needs_gradient = false;
};

}  // namespace foretrain

// A network as people describe it: layers, with branches where the data flow splits and names where it meets
// again.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"
#include "sim/workload/layers/sequence_fields.hpp"

namespace foretrain {

enum class LayerType : std::uint8_t {
  conv2d,
  batch_norm,
  linear,
  max_pool,
  avg_pool,
  adaptive_avg_pool,
  relu,
  gelu,
  tanh,
  sigmoid,
  softmax,
  flatten,
  add,
  concat,
  embedding,
  attention,
  layer_norm,
  dropout,
  conv1d,
  conv3d,
  conv_transpose,
  relu6,
  silu,
  hardswish,
  hardsigmoid,
  leaky_relu,
  elu,
  group_norm,
  instance_norm,
  dropout_channels,
  drop_path,
  upsample,
  multiply,
  slice,
  reshape,
  start,
  token_type,
  position,
  class_token,
  parameter,
  to_sequence,
  first_token,
  shift,
  gelu_new,
  lstm,
  gru,
  window_attention,
  patch_merging,
  mean_tokens,
  relative_attention,
  additive_attention,
  location_attention,
  scale,
  mask,
  adaptive_embedding,
  adaptive_softmax,
  dot_interaction,
  gated_tanh,
  pointwise,
  roi_align,
  timed,
  loss
};

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

enum class Interpolation : std::uint8_t { nearest, bilinear };
enum class LossKind : std::uint8_t { cross_entropy, mse, l1, bce };

/// One layer; which fields count depends on the type (0 = not given):
///   conv1d (on an image of height 1), conv2d, conv3d: out (channels), kernel, stride, padding (-1 = "same"),
///   dilation, groups, bias conv_transpose: the same and output_padding · linear: out (features), bias
///   max_pool, avg_pool: kernel, stride (default kernel), padding, ceil · adaptive_avg_pool: out (output side
///   length, default 1) add, concat, multiply: branches, an empty branch is the identity; or several names in
///   `from` or `with` embedding: entries, out (width) · attention: heads, bias (q, k, v and output
///   projections; scaled dot product over the sequence) batch_norm, layer_norm: – · group_norm: groups, bias
///   (weight and bias are trained) · instance_norm: bias (the same) dropout: inplace · dropout_channels:
///   drops whole channels · drop_path: drops whole samples relu, gelu, …: inplace · upsample: factor,
///   interpolation · slice: out (channels or features kept), offset reshape: shape, one entry may be -1 ·
///   start: shape, tokens: opens a further input of the network pointwise: operators (their number), out
///   (elements of each; default all of the input), gradient · roi_align: out (regions), kernel timed:
///   parameters (of one tensor), forward_time, backward_time loss: loss_kind, weighted; a network may have
///   several, which are added; the last layer is one
struct Layer {
  LayerType type = LayerType::relu;
  std::string name;  ///< the whole path; empty: the type and its number behind the join around it
  std::int64_t out = 0;
  Sides kernel = 0, stride = 0, padding = 0, dilation = 1;
  std::int64_t groups = 1, entries = 0, heads = 0;
  bool bias = true;
  bool inplace = false;
  std::vector<std::vector<Layer>> branches;
  SourceSpan span{};

  Sides output_padding = 0, factor = 2;
  std::int64_t offset = 0, operators = 1, parameters = 0;
  Time forward_time{}, backward_time{};
  std::vector<std::int64_t> shape;
  bool ceil = false;      ///< a pool's last window may hang over the edge
  bool tokens = false;    ///< a started input holds ids
  bool gradient = false;  ///< of pointwise operators: they run backward, too
  bool weighted = false;  ///< the loss is scaled before it is added to the others
  Interpolation interpolation = Interpolation::nearest;
  LossKind loss_kind = LossKind::cross_entropy;

  SequenceFields sequence;  ///< of layers over sequences

  /// Names of results. `as`: what this layer's result is called from here on; "name+" appends it to the list
  /// of that name. `from`: the results to take instead of the previous layer's; only joins take more than
  /// one. `with`: what a join takes besides.
  std::vector<std::string> as, from, with;
  /// Layers with the same label share their parameters.
  std::string weights;
};

/// A network with the shape of one input sample: {channels, height, width}, {channels, depth, height, width},
/// {features}, {length, width}, or {sequence length} for token ids.
struct Model {
  std::string name;
  std::string description;
  std::vector<std::int64_t> input;
  bool input_is_tokens = false;
  std::vector<Layer> layers;
  std::string
      optimizer{};  ///< what it is usually trained with, as `model.optimizer` names it; empty: not said
  std::int64_t samples_per_input = 1;  ///< a batch counts parts of an input, as tokens of a sentence
};

}  // namespace foretrain

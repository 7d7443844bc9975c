// A network as people describe it: layers, with branches where the data flow splits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"

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
  loss
};

/// One layer; which fields count depends on the type (0 = not given):
///   conv2d: out (channels), kernel, stride, padding (-1 = "same"), dilation, groups, bias · linear: out (features), bias
///   max_pool, avg_pool: kernel, stride (default kernel), padding · adaptive_avg_pool: out (output side length, default 1)
///   add, concat: branches, an empty branch is the identity · embedding: entries, out (width)
///   attention: heads, bias (q, k, v and output projections; scaled dot product over the sequence) · dropout: –
///   relu, gelu, …: inplace · loss: cross entropy over the last dimension (log_softmax + nll)
struct Layer {
  LayerType type = LayerType::relu;
  std::string name;
  std::int64_t out = 0, kernel = 0, stride = 0, padding = 0, dilation = 1, groups = 1, entries = 0, heads = 0;
  bool bias = true;
  bool inplace = false;
  std::vector<std::vector<Layer>> branches;
  SourceSpan span{};
};

/// A network with the shape of one input sample: {channels, height, width}, {features}, or {sequence length} for token ids.
struct Model {
  std::string name;
  std::string description;
  std::vector<std::int64_t> input;
  bool input_is_tokens = false;
  std::vector<Layer> layers;
};

}  // namespace foretrain

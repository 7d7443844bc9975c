// Well-known networks as plain values, for tests that must not depend on the TOML reader.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/layer_options.hpp"

namespace foretrain::test {

/// A layer with what its options begin with: batch_norm, layer_norm, dropout, flatten, loss, …
inline Layer plain(std::string_view type) {
  Layer layer;
  layer.type = find_layer_type(type);
  return layer;
}

inline Layer conv(std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                  bool bias) {
  Layer layer = plain("conv2d");
  set(layer, "out", out), set(layer, "kernel", kernel), set(layer, "stride", stride),
      set(layer, "padding", padding), set(layer, "bias", bias);
  return layer;
}

inline Layer linear(std::int64_t out, bool bias = true) {
  Layer layer = plain("linear");
  set(layer, "out", out), set(layer, "bias", bias);
  return layer;
}

inline Layer relu(bool inplace) {
  Layer layer = plain("relu");
  set(layer, "inplace", inplace);
  return layer;
}

inline Layer max_pool(std::int64_t kernel, std::int64_t stride = 0, std::int64_t padding = 0) {
  Layer layer = plain("max_pool");
  set(layer, "kernel", kernel), set(layer, "stride", stride), set(layer, "padding", padding);
  return layer;
}

inline Layer adaptive_avg_pool(std::int64_t out) {
  Layer layer = plain("adaptive_avg_pool");
  set(layer, "out", out);
  return layer;
}

inline Layer add(std::vector<Layer> first, std::vector<Layer> second) {
  Layer layer = plain("add");
  layer.branches = {std::move(first), std::move(second)};
  return layer;
}

inline void append(std::vector<Layer>& layers, std::vector<Layer> more) {
  for (Layer& layer : more) layers.push_back(std::move(layer));
}

/// The "Net" of the PyTorch MNIST example: 1,199,882 parameters in 8 tensors.
inline Model mnist_net() {
  return {"mnist_net",
          "CNN of the PyTorch MNIST example",
          {1, 28, 28},
          false,
          {conv(32, 3, 1, 0, true), relu(false), conv(64, 3, 1, 0, true), relu(false), max_pool(2),
           plain("dropout"), plain("flatten"), linear(128), relu(false), plain("dropout"), linear(10),
           plain("loss")}};
}

inline std::vector<Layer> resnet_stem() {
  return {conv(64, 7, 2, 3, false), plain("batch_norm"), relu(true), max_pool(3, 2, 1)};
}

inline std::vector<Layer> resnet_head() {
  return {adaptive_avg_pool(1), plain("flatten"), linear(1000), plain("loss")};
}

inline std::vector<Layer> projection(std::int64_t out, std::int64_t stride) {
  return {conv(out, 1, stride, 0, false), plain("batch_norm")};
}

inline std::vector<Layer> basic_block(std::int64_t width, std::int64_t stride, bool project) {
  std::vector<Layer> main{conv(width, 3, stride, 1, false), plain("batch_norm"), relu(true),
                          conv(width, 3, 1, 1, false), plain("batch_norm")};
  return {add(std::move(main), project ? projection(width, stride) : std::vector<Layer>{}), relu(true)};
}

inline std::vector<Layer> bottleneck(std::int64_t width, std::int64_t stride, bool project) {
  std::vector<Layer> main{conv(width, 1, 1, 0, false),      plain("batch_norm"), relu(true),
                          conv(width, 3, stride, 1, false), plain("batch_norm"), relu(true),
                          conv(4 * width, 1, 1, 0, false),  plain("batch_norm")};
  return {add(std::move(main), project ? projection(4 * width, stride) : std::vector<Layer>{}), relu(true)};
}

/// ResNet-18 (torchvision): 11,689,512 parameters in 62 tensors.
inline Model resnet18() {
  Model model{"resnet18", "ResNet-18 (torchvision)", {3, 224, 224}, false, resnet_stem()};
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < 2; ++block) {
      const bool first = stage > 0 && block == 0;
      append(model.layers, basic_block(64LL << stage, first ? 2 : 1, first));
    }
  }
  append(model.layers, resnet_head());
  return model;
}

/// ResNet-50 v1.5 (torchvision): 25,557,032 parameters in 161 tensors.
inline Model resnet50() {
  Model model{"resnet50", "ResNet-50 v1.5 (torchvision)", {3, 224, 224}, false, resnet_stem()};
  const int depth[] = {3, 4, 6, 3};
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < depth[stage]; ++block) {
      append(model.layers, bottleneck(64LL << stage, stage > 0 && block == 0 ? 2 : 1, block == 0));
    }
  }
  append(model.layers, resnet_head());
  return model;
}

/// VGG-16 (torchvision): 138,357,544 parameters in 32 tensors.
inline Model vgg16() {
  Model model{"vgg16", "VGG-16 (torchvision)", {3, 224, 224}, false, {}};
  const std::pair<std::int64_t, int> stages[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
  for (const auto& [width, convolutions] : stages) {
    for (int i = 0; i < convolutions; ++i) append(model.layers, {conv(width, 3, 1, 1, true), relu(true)});
    model.layers.push_back(max_pool(2));
  }
  append(model.layers, {adaptive_avg_pool(7), plain("flatten")});
  for (int i = 0; i < 2; ++i) append(model.layers, {linear(4096), relu(true), plain("dropout")});
  append(model.layers, {linear(1000), plain("loss")});
  return model;
}

/// The four-layer MLP on two-dimensional spirals: 2,834 parameters in 8 tensors.
inline Model spiral_mlp() {
  Model model{"spiral_mlp", "MLP 2-64-32-16-2", {2}, false, {}};
  for (std::int64_t width : {64, 32, 16}) {
    append(model.layers, {linear(width), relu(false), plain("dropout")});
  }
  append(model.layers, {linear(2), plain("loss")});
  return model;
}

inline Layer embedding(std::int64_t entries, std::int64_t width) {
  Layer layer = plain("embedding");
  set(layer, "entries", entries), set(layer, "out", width);
  return layer;
}

inline Layer attention(std::int64_t heads, bool bias = true) {
  Layer layer = plain("attention");
  set(layer, "heads", heads), set(layer, "bias", bias);
  return layer;
}

/// One post-norm encoder block as in BERT: attention and a four times wider perceptron, each added to its
/// input and normalized.
inline std::vector<Layer> encoder_block(std::int64_t width, std::int64_t heads) {
  return {add({attention(heads), plain("dropout")}, {}), plain("layer_norm"),
          add({linear(4 * width), plain("gelu"), linear(width), plain("dropout")}, {}), plain("layer_norm")};
}

/// Token embedding, blocks, and a head over the vocabulary.
inline Model encoder(int blocks, std::int64_t length, std::int64_t width, std::int64_t heads,
                     std::int64_t vocabulary) {
  Model model{"encoder", "post-norm transformer encoder", {length}, true, {embedding(vocabulary, width)}};
  for (int i = 0; i < blocks; ++i) append(model.layers, encoder_block(width, heads));
  append(model.layers, {linear(vocabulary), plain("loss")});
  return model;
}

}  // namespace foretrain::test

// The networks as tables: He et al. 2015 (table 1, 50 layers), Devlin et al. 2018 (base: 12 layers, hidden
// 768, 12 heads).
#include "calibrate/micro/plan/shapes.hpp"

#include <algorithm>
#include <charconv>

namespace foretrain::micro {

namespace {

using Kind = MixOperator::Kind;

MixOperator memory_bound(std::int64_t elements, int passes, int bytes_per_element, int times) {
  return {Kind::memory, {}, {}, elements * passes * bytes_per_element, times};
}

void add_product(std::vector<MixOperator>& operators, GemmShape shape, int times) {
  operators.push_back({Kind::gemm, {}, shape, 0, times});  // forward
  operators.push_back(
      {Kind::gemm, {}, {shape.k, shape.n, shape.m, shape.count}, 0, times});  // gradient of the input
  operators.push_back(
      {Kind::gemm, {}, {shape.m, shape.k, shape.n, shape.count}, 0, times});  // gradient of the weights
}

/// Batch norm reads twice and writes once, backward reads twice two tensors and writes one; ReLU moves 2 and
/// 3 tensors.
std::vector<MixOperator> resnet50_operators(int batch, int bytes_per_element) {
  constexpr int kForwardPasses = 3 + 2, kBackwardPasses = 5 + 3, kBlocks = 16, kSumPasses = 3;
  std::vector<MixOperator> operators;
  for (const RepeatedConv& conv : resnet50_convolutions(batch)) {
    for (const Kind kind : {Kind::conv_forward, Kind::conv_data, Kind::conv_weights})
      operators.push_back({kind, conv.shape, {}, 0, conv.layers});
    operators.push_back(
        memory_bound(conv.shape.output_elements(), kForwardPasses, bytes_per_element, conv.layers));
    operators.push_back(
        memory_bound(conv.shape.output_elements(), kBackwardPasses, bytes_per_element, conv.layers));
  }
  operators.push_back(
      memory_bound(std::int64_t{batch} * 1024 * 14 * 14, kSumPasses, bytes_per_element, kBlocks));
  add_product(operators, {1000, batch, 2048, 1}, 1);
  return operators;
}

/// Passes: bias, dropout, residual and layer norm twice a layer; bias and GELU; scale, mask, softmax and
/// dropout. Backward twice as many.
std::vector<MixOperator> bert_base_operators(int batch, int bytes_per_element) {
  constexpr int kLayers = 12, kHidden = 768, kWide = 4 * kHidden, kHeads = 12, kLength = 128,
                kDepth = kHidden / kHeads;
  constexpr int kHiddenPasses = 12, kWidePasses = 4, kScorePasses = 6;
  const int tokens = batch * kLength, pairs = batch * kHeads;
  std::vector<MixOperator> operators;
  add_product(operators, {kHidden, tokens, kHidden, 1}, 4 * kLayers);  // query, key, value, output
  add_product(operators, {kLength, kLength, kDepth, pairs}, kLayers);  // scores
  add_product(operators, {kDepth, kLength, kLength, pairs}, kLayers);  // values by scores
  add_product(operators, {kWide, tokens, kHidden, 1}, kLayers);
  add_product(operators, {kHidden, tokens, kWide, 1}, kLayers);
  for (const int direction : {1, 2}) {
    operators.push_back(
        memory_bound(std::int64_t{tokens} * kHidden, kHiddenPasses * direction, bytes_per_element, kLayers));
    operators.push_back(
        memory_bound(std::int64_t{tokens} * kWide, kWidePasses * direction, bytes_per_element, kLayers));
    operators.push_back(memory_bound(std::int64_t{pairs} * kLength * kLength, kScorePasses * direction,
                                     bytes_per_element, kLayers));
  }
  return operators;
}

/// Equal shapes in one row.
std::vector<RepeatedConv> merged(const std::vector<RepeatedConv>& rows) {
  std::vector<RepeatedConv> distinct;
  for (const RepeatedConv& row : rows) {
    const auto at = std::find_if(distinct.begin(), distinct.end(),
                                 [&](const RepeatedConv& other) { return other.shape == row.shape; });
    if (at != distinct.end()) {
      at->layers += row.layers;
    } else {
      distinct.push_back(row);
    }
  }
  return distinct;
}

}  // namespace

int integer_setting(const Sample& sample, std::string_view key, int otherwise) {
  const std::string_view text = setting_of(sample, key);
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

GemmShape gemm_shape_of(const Sample& sample) {
  const auto setting = [&](std::string_view key) { return integer_setting(sample, key, 1); };
  return {setting("m"), setting("n"), setting("k"), setting("count")};
}

ConvShape conv_shape_of(const Sample& sample) {
  const auto setting = [&](std::string_view key) { return integer_setting(sample, key, 1); };
  return {setting("batch"),  setting("channels"), setting("filters"), setting("size"),
          setting("kernel"), setting("stride"),   setting("groups")};
}

std::vector<RepeatedConv> resnet50_convolutions(int batch) {
  struct Stage {
    int width, size, blocks;  // size: of the stage's input
  };
  std::vector<RepeatedConv> rows{{{batch, 3, 64, 224, 7, 2}, 1}};
  int input = 64;
  for (const Stage& stage : {Stage{64, 56, 3}, Stage{128, 56, 4}, Stage{256, 28, 6}, Stage{512, 14, 3}}) {
    const int width = stage.width, wide = 4 * width, stride = width == 64 ? 1 : 2, size = stage.size / stride;
    rows.push_back({{batch, input, width, stage.size, 1}, 1});
    rows.push_back({{batch, width, width, stage.size, 3, stride}, 1});
    rows.push_back({{batch, width, wide, size, 1}, stage.blocks});
    rows.push_back({{batch, input, wide, stage.size, 1, stride}, 1});
    rows.push_back({{batch, wide, width, size, 1}, stage.blocks - 1});
    rows.push_back({{batch, width, width, size, 3}, stage.blocks - 1});
    input = wide;
  }
  return merged(rows);
}

std::vector<MixOperator> operators_of(std::string_view network, int batch, int bytes_per_element) {
  return network == "resnet50" ? resnet50_operators(batch, bytes_per_element)
                               : bert_base_operators(batch, bytes_per_element);
}

}  // namespace foretrain::micro

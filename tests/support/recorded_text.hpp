// A small network twice: layer by layer, and as a recording of it.
#pragma once

#include <string>
#include <string_view>

#include "sim/scenario/schema/schemas.hpp"

namespace foretrain::test {

/// [recorded] with this heading, these parameters, operators and storages.
inline std::string recorded_text(std::string_view parameters, std::string_view operators,
                                 std::string_view storages = "",
                                 std::string_view heading = "batch = 4\ngrows = true\n") {
  return "[recorded]\nformat = 1\n" + std::string(heading) + "parameters = [\n" + std::string(parameters) +
         "]\noperators = [\n" + std::string(operators) + "]\nstorages = [\n" + std::string(storages) + "]\n";
}

/// Without mistakes, else it throws them.
inline ExpandedModel expanded_text(const std::string& text) {
  const SourceText source{"net.toml", text};
  Diagnostics diagnostics(source);
  ModelFile file = read_model_file(source, diagnostics);
  diagnostics.throw_if_any();
  return std::move(file.expanded);
}

/// Convolution, batch norm, rectifier in place, pooling, linear layer, loss.
inline std::string small_network_layers() {
  return "input = [3, 8, 8]\nlayers = [\n"
         "  { type = \"conv2d\", out = 16, kernel = 3, padding = 1, bias = false },\n"
         "  { type = \"batch_norm\" },\n  { type = \"relu\", inplace = true },\n"
         "  { type = \"max_pool\", kernel = 2 },\n  { type = \"flatten\" },\n"
         "  { type = \"dropout\" },\n  { type = \"linear\", out = 10 },\n  { type = \"loss\" },\n]\n";
}

inline std::string small_network_recorded() {
  const std::string parameters =
      "{ name = \"conv.weight\", size = \"f32[16,3,3,3]\" },\n"
      "{ name = \"bn.weight\", size = \"f32[16]\" },\n{ name = \"bn.bias\", size = \"f32[16]\" },\n"
      "{ name = \"fc.weight\", size = \"f32[10,256]\" },\n{ name = \"fc.bias\", size = \"f32[10]\" },\n";
  const std::string forward =
      "{ op = \"aten::convolution\", of = \"conv\", in = [\"f32[B,3,8,8]\", \"f32[16,3,3,3]\"], "
      "out = [\"f32[B,16,8,8]\"], with = { stride = [1, 1], padding = [1, 1], groups = 1 } },\n"
      "{ op = \"aten::add_\", of = \"bn\", in = [\"i64[]\"], out = [\"i64[]\"], inplace = true },\n"
      "{ op = \"aten::native_batch_norm\", of = \"bn\", in = [\"f32[B,16,8,8]\", \"f32[16]\", \"f32[16]\", "
      "\"f32[16]\", \"f32[16]\"], out = [\"f32[B,16,8,8]\", \"f32[16]\", \"f32[16]\"] },\n"
      "{ op = \"aten::relu_\", of = \"relu\", in = [\"f32[B,16,8,8]\"], out = [\"f32[B,16,8,8]\"] },\n"
      "{ op = \"aten::max_pool2d_with_indices\", of = \"pool\", in = [\"f32[B,16,8,8]\"], "
      "out = [\"f32[B,16,4,4]\", \"i64[B,16,4,4]\"], with = { kernel = [2, 2] } },\n"
      "{ op = \"aten::_reshape_alias\", in = [\"f32[B,16,4,4]\"], out = [\"f32[B,256]\"], view = true },\n"
      "{ op = \"aten::native_dropout\", of = \"drop\", in = [\"f32[B,256]\"], out = [\"f32[B,256]\", "
      "\"b8[B,256]\"] },\n"
      "{ op = \"aten::t\", of = \"fc\", call = 9, in = [\"f32[10,256]\"], out = [\"f32[256,10]\"] },\n"
      "{ op = \"aten::addmm\", of = \"fc\", call = 9, in = [\"f32[10]\", \"f32[B,256]\", \"f32[256,10]\"], "
      "out = [\"f32[B,10]\"] },\n"
      "{ op = \"aten::_log_softmax\", call = 10, in = [\"f32[B,10]\"], out = [\"f32[B,10]\"] },\n"
      "{ op = \"aten::nll_loss_forward\", call = 10, in = [\"f32[B,10]\", \"i64[B]\"], out = [\"f32[]\", "
      "\"f32[]\"] },\n";
  const std::string backward =
      "{ op = \"aten::ones_like\", pass = \"backward\", in = [\"f32[]\"], out = [\"f32[]\"] },\n"
      "{ op = \"aten::nll_loss_backward\", pass = \"backward\", node = \"NllLossBackward0\", "
      "in = [\"f32[]\", \"f32[B,10]\", \"i64[B]\", \"f32[]\"], out = [\"f32[B,10]\"] },\n"
      "{ op = \"aten::_log_softmax_backward_data\", pass = \"backward\", node = \"LogSoftmaxBackward0\", "
      "in = [\"f32[B,10]\", \"f32[B,10]\"], out = [\"f32[B,10]\"] },\n"
      "{ op = \"aten::mm\", pass = \"backward\", of = \"fc\", call = 20, node = \"AddmmBackward0\", "
      "in = [\"f32[B,10]\", \"f32[10,256]\"], out = [\"f32[B,256]\"] },\n"
      "{ op = \"aten::t\", pass = \"backward\", of = \"fc\", call = 20, node = \"AddmmBackward0\", "
      "in = [\"f32[B,10]\"], out = [\"f32[10,B]\"], view = true },\n"
      "{ op = \"aten::mm\", pass = \"backward\", of = \"fc\", call = 20, node = \"AddmmBackward0\", "
      "in = [\"f32[10,B]\", \"f32[B,256]\"], out = [\"f32[10,256]\"] },\n"
      "{ op = \"aten::sum\", pass = \"backward\", of = \"fc\", call = 20, node = \"AddmmBackward0\", "
      "in = [\"f32[B,10]\"], out = [\"f32[1,10]\"], ready = [4] },\n"
      "{ op = \"aten::t\", pass = \"backward\", of = \"fc\", node = \"TBackward0\", in = [\"f32[10,256]\"], "
      "out = [\"f32[256,10]\"], ready = [3], view = true },\n"
      "{ op = \"aten::native_dropout_backward\", pass = \"backward\", of = \"drop\", node = "
      "\"NativeDropoutBackward0\", in = [\"f32[B,256]\", \"b8[B,256]\"], out = [\"f32[B,256]\"] },\n"
      "{ op = \"aten::max_pool2d_with_indices_backward\", pass = \"backward\", of = \"pool\", "
      "node = \"MaxPool2DWithIndicesBackward0\", in = [\"f32[B,16,4,4]\", \"f32[B,16,8,8]\", "
      "\"i64[B,16,4,4]\"], out = [\"f32[B,16,8,8]\"] },\n"
      "{ op = \"aten::threshold_backward\", pass = \"backward\", of = \"relu\", node = \"ReluBackward0\", "
      "in = [\"f32[B,16,8,8]\", \"f32[B,16,8,8]\"], out = [\"f32[B,16,8,8]\"] },\n"
      "{ op = \"aten::native_batch_norm_backward\", pass = \"backward\", of = \"bn\", node = "
      "\"NativeBatchNormBackward0\", in = [\"f32[B,16,8,8]\", \"f32[B,16,8,8]\", \"f32[16]\", \"f32[16]\", "
      "\"f32[16]\", \"f32[16]\", \"f32[16]\"], out = [\"f32[B,16,8,8]\", \"f32[16]\", \"f32[16]\"], "
      "ready = [1, 2] },\n"
      "{ op = \"aten::convolution_backward\", pass = \"backward\", of = \"conv\", node = "
      "\"ConvolutionBackward0\", in = [\"f32[B,16,8,8]\", \"f32[B,3,8,8]\", \"f32[16,3,3,3]\"], "
      "out = [\"f32[16,3,3,3]\"], with = { stride = [1, 1], groups = 1, output_mask = [false, true, false] "
      "}, ready = [0] },\n";
  const std::string storages =
      "{ size = \"f32[B,3,8,8]\", made = 0, saved = true },\n{ size = \"i64[B]\", made = 0, saved = true },\n"
      "{ size = \"f32[B,16,8,8]\", made = 0, freed = 22, saved = true },\n"
      "{ size = \"f32[B,16,8,8]\", made = 2, freed = 21, saved = true },\n"
      "{ size = \"f32[16]\", made = 2, freed = 22, saved = true },\n"
      "{ size = \"f32[16]\", made = 2, freed = 22, saved = true },\n"
      "{ size = \"f32[B,16,4,4]\", made = 4, freed = 6 },\n"
      "{ size = \"i64[B,16,4,4]\", made = 4, freed = 20, saved = true },\n"
      "{ size = \"f32[B,256]\", made = 6, freed = 16, saved = true },\n"
      "{ size = \"b8[B,256]\", made = 6, freed = 19, saved = true },\n"
      "{ size = \"f32[B,10]\", made = 9, freed = 13, saved = true },\n"
      "{ size = \"f32[]\", made = 10, freed = 12, saved = true },\n"
      "{ size = \"f32[10,256]\", made = 16 },\n{ size = \"f32[10]\", made = 17 },\n"
      "{ size = \"f32[B,16,8,8]\", made = 20, freed = 21 },\n{ size = \"f32[16,3,3,3]\", made = 23 },\n";
  return "input = [3, 8, 8]\n" +
         recorded_text(parameters, forward + backward, storages,
                       "by = \"by hand\"\nbatch = 4\ngrows = true\ninputs = [\"f32[B,3,8,8]\", \"i64[B]\"]\n"
                       "modules = 7\nbuffers = [{ name = \"bn.running_mean\", size = \"f32[16]\" }, "
                       "{ name = \"bn.running_var\", size = \"f32[16]\" }, "
                       "{ name = \"bn.num_batches_tracked\", size = \"i64[]\" }]\n");
}

}  // namespace foretrain::test

// A summary of a network that exists nowhere, for tests of the reports: a block that repeats, a view, times
// on a GPU.
#pragma once

#include "sim/analysis/step/model_summary.hpp"

namespace foretrain::test {

inline LayerSummary example_layer(std::string name, OperatorClass kind, Shape result, std::int64_t parameters,
                                  double flops, double bytes) {
  LayerSummary layer;
  layer.name = std::move(name), layer.kind = kind, layer.result = result, layer.parameters = parameters;
  layer.flops = flops, layer.bytes = bytes, layer.saved_bytes = bytes / 2;
  layer.forward_kernels = 1, layer.backward_kernels = 2;
  layer.forward_time = microseconds(20), layer.backward_time = microseconds(40);
  return layer;
}

inline ModelSummary example_model_summary() {
  ModelSummary s;
  s.name = "example", s.description = "A network, \"small\"", s.input = "[3, 32, 32]", s.batch = 64;
  s.layers.push_back(
      example_layer("stem", OperatorClass::conv, Shape::image(16, 32, 32), 448, 884736, 77824));
  for (const char* block : {"block.0.", "block.1."}) {
    s.layers.push_back(example_layer(block + std::string("conv2d"), OperatorClass::conv,
                                     Shape::image(16, 32, 32), 2320, 4.7e6, 131072));
    s.layers.push_back(example_layer(block + std::string("relu"), OperatorClass::elementwise,
                                     Shape::image(16, 32, 32), 0, 16384, 131072));
  }
  LayerSummary view;
  view.name = "flatten", view.result = Shape::features(16384);
  s.layers.push_back(view);
  s.groups = {{0, 1, 1}, {1, 2, 2}, {5, 1, 1}};
  s.totals.parameters = 5088, s.totals.tensors = 6, s.totals.gradients = Bytes{20352};
  s.totals.forward_flops = 10.3e6, s.totals.forward_product_flops = 10.2e6, s.totals.backward_flops = 20.5e6,
  s.totals.forward_bytes = 602112;
  s.totals.frozen = 640, s.totals.saved = 301056;
  s.totals.forward_kernels = 5, s.totals.backward_kernels = 10, s.totals.optimizer_kernels = 2;
  s.totals.activations_fp32 = Bytes{301056}, s.totals.activations_16_bit = Bytes{150528};
  s.totals.memory.parameters = Bytes{20352}, s.totals.memory.gradients = Bytes{20352},
  s.totals.memory.activations = Bytes{19'267'584};
  s.totals.memory.framework = Bytes{600'000'000};
  return s;
}

/// The same on a GPU.
inline ModelSummary example_timed_model_summary() {
  ModelSummary s = example_model_summary();
  s.times = KernelTimes{"gpu",
                        microseconds(310),
                        {{OperatorClass::conv, 9, microseconds(180)},
                         {OperatorClass::elementwise, 6, microseconds(120)},
                         {std::nullopt, 2, microseconds(10)}},
                        {{1, 2, microseconds(120)}, {2, 2, microseconds(120)}, {0, 1, microseconds(60)}}};
  return s;
}

}  // namespace foretrain::test

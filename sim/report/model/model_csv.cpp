// Writes a model's layers as CSV. A folded layer stands in its first place with its count. Names and shapes
// have commas and are quoted.
#include <iterator>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/report/model/model_catalog.hpp"
#include "sim/report/prediction/csv.hpp"

namespace foretrain {

namespace {

/// Returns the line of a layer.
std::string line_of(const LayerSummary& layer, std::size_t count) {
  return fmt::format("{},{},{},{},{},{:.10g},{:.10g},{:.6g},{:.10g},{},{},{},{}\n", csv_field(layer.name),
                     count, layer.kind ? name_of(*layer.kind) : "", csv_field(to_string(layer.result)),
                     layer.parameters, layer.flops, layer.bytes, layer.intensity(), layer.saved_bytes,
                     layer.forward_kernels, layer.backward_kernels, to_seconds(layer.forward_time),
                     to_seconds(layer.backward_time));
}

}  // namespace

// --layers none leaves the header alone.
std::string write_model_csv(const ModelSummary& summary, LayerListing listing) {
  // Columns: name, repetitions, kind and result of the layer; parameters; FLOPs and bytes of a forward pass
  // of one sample and their quotient; bytes kept for backward; kernels and their times of the batch.
  std::string out =
      "layer,count,kind,result,parameters,flops,bytes,flops_per_byte,saved_bytes,forward_kernels,backward_"
      "kernels,forward_s,backward_s\n";
  if (listing == LayerListing::none) return out;
  if (listing == LayerListing::all) {
    for (const LayerSummary& layer : summary.layers) out += line_of(layer, 1);
    return out;
  }
  // The layers of a repeated group all have the group's count.
  for (const RowGroup& group : summary.groups) {
    for (std::size_t i = 0; i < group.length; ++i)
      out += line_of(summary.layers[group.first + i], group.count);
  }
  return out;
}

}  // namespace foretrain

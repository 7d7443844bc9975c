// Writes a model's summary as JSON. A layer of a repeated group has the group's count.
//
// Sizes are in bytes and times in seconds. Per-sample values have this in their key or stand in a layer.
#include "sim/report/json_value.hpp"
#include "sim/report/model/model_catalog.hpp"
#include "sim/scenario/recording.hpp"

namespace foretrain {

namespace {

/// Returns one layer; times only when a GPU was named.
Json layer_json(const LayerSummary& layer, std::size_t count, bool timed) {
  Json out{{"layer", layer.name},
           {"count", count},
           {"kind", layer.kind ? Json(name_of(*layer.kind)) : Json(nullptr)},
           {"result", to_string(layer.result)},
           {"parameters", layer.parameters},
           {"flops", layer.flops},
           {"bytes", layer.bytes},
           {"flops_per_byte", layer.intensity()},
           {"saved_bytes", layer.saved_bytes},
           {"forward_kernels", layer.forward_kernels},
           {"backward_kernels", layer.backward_kernels}};
  // Times of the whole batch, on the GPU that was named.
  if (timed)
    out["forward_s"] = to_seconds(layer.forward_time), out["backward_s"] = to_seconds(layer.backward_time);
  return out;
}

/// Returns the list of layers.
Json layers_json(const ModelSummary& summary, LayerListing listing) {
  Json out = Json::array();
  if (listing == LayerListing::none) return out;
  const bool timed = summary.times.has_value();
  if (listing == LayerListing::all) {
    for (const LayerSummary& layer : summary.layers) out.push_back(layer_json(layer, 1, timed));
    return out;
  }
  for (const RowGroup& group : summary.groups) {
    for (std::size_t i = 0; i < group.length; ++i)
      out.push_back(layer_json(summary.layers[group.first + i], group.count, timed));
  }
  return out;
}

/// Returns the totals of the network. FLOPs are of one sample; memory is of the batch.
Json totals_json(const ModelTotals& t) {
  Json out{{"parameters", t.parameters},
           {"frozen_parameters", t.frozen},
           {"tensors", t.tensors},
           {"gradient_bytes", t.gradients.count},
           {"forward_flops", t.forward_flops},
           {"forward_product_flops", t.forward_product_flops},
           {"backward_flops", t.backward_flops},
           {"forward_bytes", t.forward_bytes},
           {"flops_per_byte", t.intensity()}};
  out["kernels"] = {
      {"forward", t.forward_kernels}, {"backward", t.backward_kernels}, {"optimizer", t.optimizer_kernels}};
  out["activation_bytes_per_sample"] = {{"fp32", t.activations_fp32.count},
                                        {"16_bit", t.activations_16_bit.count}};
  out["saved_bytes_per_sample"] = t.saved;
  out["memory_bytes"] = t.memory.total().count;
  return out;
}

/// Returns kernel times of a step by class of operator, and the slowest layers.
Json times_json(const KernelTimes& times, const std::vector<LayerSummary>& layers) {
  Json out{{"gpu", times.gpu}, {"kernel_s", to_seconds(times.total)}};
  Json classes = Json::array(), slowest = Json::array();
  for (const ClassTime& time : times.classes) {
    classes.push_back({{"class", time.kind ? name_of(*time.kind) : "optimizer"},
                       {"kernels", time.kernels},
                       {"time_s", to_seconds(time.time)}});
  }
  for (const SlowLayer& slow : times.slowest) {
    slowest.push_back(
        {{"layer", layers[slow.layer].name}, {"count", slow.count}, {"time_s", to_seconds(slow.time)}});
  }
  out["classes"] = std::move(classes);
  out["slowest"] = std::move(slowest);
  return out;
}

/// Returns facts about a recorded network; shares are of a step with this batch.
Json recording_json(const Recording& recording, std::int64_t batch) {
  return {{"by", recording.by},
          {"batch", recording.batch},
          {"grows", recording.grows},
          {"operators", recording.operators},
          {"launches", recording.launches},
          {"measured_launches", recording.measured_launches},
          {"without_formula",
           {{"launches", recording.unknown_launches},
            {"share_of_bytes", share_without_formula(recording, static_cast<double>(batch))},
            {"operators", recording.unknown}}}};
}

}  // namespace

// "times" and "recording" are absent when they do not apply.
std::string write_model_json(const ModelSummary& summary, LayerListing listing) {
  Json out{{"schema", "foretrain.model/1"},           {"model", summary.name},
           {"description", summary.description},      {"input", summary.input},
           {"precision", name_of(summary.precision)}, {"batch", summary.batch}};
  out["totals"] = totals_json(summary.totals);
  if (summary.recording) out["recording"] = recording_json(*summary.recording, summary.batch);
  if (summary.times) out["times"] = times_json(*summary.times, summary.layers);
  out["layers"] = layers_json(summary, listing);
  return json_text(out);
}

}  // namespace foretrain

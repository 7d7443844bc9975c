// Names of precisions, and facts about a workload that depend on its network.
#include "sim/workload/workload.hpp"

#include "sim/workload/framework_profile.hpp"
#include "sim/workload/lowering/lowering.hpp"
#include "sim/workload/tape/offload.hpp"
#include "sim/workload/tape/recompute.hpp"

namespace foretrain {

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::tf32:
      return "tf32";
    case Precision::amp_fp16:
      return "amp_fp16";
    case Precision::bf16:
      return "bf16";
    case Precision::fp8:
      return "fp8";
  }
  return "";
}

// Recomputation first: offload moves what recomputation keeps, and lowering fuses what both leave.
ExpandedModel as_trained(ExpandedModel model, const Workload& workload) {
  if (workload.recompute) model = with_recomputed_blocks(model);
  if (workload.offload_activations != ActivationOffload::none)
    model = with_offloaded_activations(model, workload.offload_activations);
  return is_lowered(workload.framework) ? lower(model, workload.framework) : model;
}

bool has_half_weights(const Workload& workload) {
  if (!is_half(workload.precision)) return false;
  const bool recorded_so =
      workload.model && workload.model->recording != nullptr && workload.model->recording->is_half;
  return workload.half_weights || recorded_so || (workload.model && workload.model->has_half_weights);
}

double updated_width(const Workload& workload) {
  const auto elements = static_cast<double>(workload.model->parameter_elements());
  // The optimizer steps on fp32 masters beside weights that half_weights makes narrow.
  if (workload.half_weights || elements == 0) return 1;
  constexpr double kFullBytes = 4;
  return static_cast<double>(workload.model->gradient_bytes().count) / (kFullBytes * elements);
}

bool runs_as_recorded(const Workload& workload) {
  const ExpandedModel* model = workload.model.get();
  if (model == nullptr || !model->as_recorded || !model->recording || workload.half_weights) return false;
  const Execution execution = workload.framework.execution;
  const bool is_eager = execution == Execution::eager || execution == Execution::cuda_graphs;
  const bool is_autocast = workload.precision == Precision::amp_fp16 || workload.precision == Precision::bf16;
  return is_eager && is_autocast && profile_of(workload.framework).autocasts;
}

}  // namespace foretrain

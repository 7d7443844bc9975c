// Sparse gradients from the operators of a network. A lookup's forward operator makes as many elements as it
// copies, and reads an index of 8 bytes per row (workload/layers/embedding.cpp). Its FLOPs count the
// elements; its bytes less those of the elements are the indices.
#include "sim/strategy/horovod/horovod_sparse.hpp"

#include <algorithm>

#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/horovod/horovod_options.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

constexpr double kCopied = 8;  ///< bytes of an element of the result: read and written in fp32

/// Returns the lookup of a layer that grows with the batch; nullptr when it has none.
const Operator* look_up_of(const ExpandedModel& model, std::uint32_t layer) {
  const auto found = std::find_if(model.forward.begin(), model.forward.end(), [&](const Operator& op) {
    return op.layer == layer && op.cls == OperatorClass::embedding && op.flops.per_sample > 0;
  });
  return found == model.forward.end() ? nullptr : &*found;
}

}  // namespace

// A gradient is sparse where the backward step that completes it is a lookup's.
std::vector<std::optional<SparseGradient>> sparse_gradients(const PlanRequest& request) {
  const Workload& workload = request.workload;
  const ExpandedModel& model = *workload.model;
  std::vector<std::optional<SparseGradient>> gradients(model.parameters.size());
  if (!profile_of(workload.framework).sparse_gradients || request.options<HorovodOptions>().sparse_as_dense)
    return gradients;
  for (const BackwardStep& step : model.backward) {
    if (step.op.cls != OperatorClass::embedding)
      continue;  // the last part of a shared table's gradient is a sum
    const Operator* look_up = look_up_of(model, step.op.layer);
    if (look_up == nullptr) continue;
    const double elements = look_up->flops.per_sample,
                 indices = look_up->bytes.per_sample - kCopied * elements;
    const auto of_batch = [&](double per_sample) {
      return static_cast<std::int64_t>(per_sample) * workload.batch_per_gpu;
    };
    for (const std::uint32_t parameter : step.ready)
      gradients[parameter] = {{of_batch(elements) * gradient_element_bytes(workload)}, {of_batch(indices)}};
  }
  return gradients;
}

}  // namespace foretrain

// Profiles of the frameworks, one row each. "Recalled" in a row means unverified: from reading sources and
// release notes, not looked up again.
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

const FrameworkProfile& pytorch_profile() {
  static const FrameworkProfile profile{
      .name = "pytorch",
      .title = "PyTorch",
      .usual_version = {2, 3},
      // eager; torch.compile; torch.cuda.graph around the step.
      .executions = {Execution::eager, Execution::compiled, Execution::cuda_graphs},
      // torch.backends.cuda.matmul.allow_tf32: true from 1.7, false since 1.12 (its documentation).
      .tf32_products = {{1, 7}, FrameworkVersion{1, 11}},
      .autocasts = true,  // torch.amp.autocast: lists of operators (docs/models/kernels.md)
      // cuDNN's plans belong to a thread (pytorch/pytorch #103939).
      .plans_by_thread = VersionRange{{2, 1}},
      .eager_scale = 1,  // the table is PyTorch's (docs/models/host.md)
      .has_graph_executor = false,
      .compiles_whole_steps = false,  // TorchInductor cuts where DDP's buckets end
      .owns_every_kernel = false,
      .has_autograd_engine = true,
      .keeps_gradients = true,  // parameter.grad
      .sparse_gradients = false,
      .has_optimizer_forms = true,                 // for_loop, foreach, fused of torch.optim
      .drops_gradients = VersionRange{{2, 0}},     // set_to_none: release notes of 2.0
      .foreach_by_default = VersionRange{{2, 0}},  // release notes of 2.0
      .unscales_packed = true,  // _amp_foreach_non_finite_check_and_unscale_, by type and device
      .usual_hooks = LoopHooks::none,
      .has_noise_trainer = true,     // AdaptDL, torch/gradient_noise_scale.py
      .horovod_is_operator = false,  // horovod/torch/optimizer.py: hooks on gradients
      .has_parameter_servers = false,
      .import_s = 1.6,
      .first_step_s = 0.5,
      .traced_operator_s = 0,
  };
  return profile;
}

const FrameworkProfile& tensorflow_profile() {
  static const FrameworkProfile profile{
      .name = "tensorflow",
      .title = "TensorFlow",
      .usual_version = {2, 15},
      // tf.function; tf.config.run_functions_eagerly; jit_compile.
      .executions = {Execution::graph, Execution::eager, Execution::compiled},
      .tf32_products = {{2, 4}},  // release notes of 2.4
      .autocasts = false,         // a rewrite of the graph, whose variables are cast where they are read
      .eager_scale = 2.5,         // assumed: about this much slower per operator than PyTorch's
      .has_graph_executor = true,
      .compiles_whole_steps = true,  // XLA: forward and backward in one cluster, run by the executable
      .owns_every_kernel = true,     // recalled; prices in docs/models/host.md
      .has_autograd_engine = false,  // gradients are nodes of the same graph, or what the tape calls
      .keeps_gradients = false,      // tape.gradient() returns tensors
      .sparse_gradients = true,      // tf.IndexedSlices
      .has_optimizer_forms = false,  // Apply operators, one for each variable
      .unscales_packed = false,      // LossScaleOptimizer: gradient by gradient; recalled
      .usual_hooks = LoopHooks::keras,
      .has_noise_trainer = false,
      .horovod_is_operator = true,    // horovod/tensorflow/mpi_ops.cc
      .has_parameter_servers = true,  // tf.distribute and tf.train.Server
      .import_s = 2.4,
      .first_step_s = 1.5,
      .traced_operator_s = 10e-3,  // tf.function
      // Residuals on several GPUs, over PyTorch's (docs/accuracy_scaling.md, ninth row of ten by strategy).
  };
  return profile;
}

}  // namespace

// Every kind has a profile, so the lookup never fails.
const FrameworkProfile& profile_of(FrameworkKind kind) {
  return kind == FrameworkKind::tensorflow ? tensorflow_profile() : pytorch_profile();
}

bool is_graph(const Framework& framework) {
  return profile_of(framework).has_graph_executor && framework.execution != Execution::eager;
}

bool packs_by_default(const Framework& framework) {
  const auto& packs = profile_of(framework).foreach_by_default;
  return packs && packs->holds(framework.version);
}

bool gradients_come_together(const Framework& framework) {
  return profile_of(framework).compiles_whole_steps && framework.execution == Execution::compiled;
}

bool products_default_to_tf32(const Framework& framework) {
  return profile_of(framework).tf32_products.holds(framework.version);
}

}  // namespace foretrain

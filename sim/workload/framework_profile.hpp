// Differences between frameworks, as one table of named facts. Code asks for a fact, not for a framework.
#pragma once

#include <optional>
#include <vector>

#include "sim/workload/framework.hpp"
#include "sim/workload/training_loop.hpp"

namespace foretrain {

/// The versions from `first` to `last`, both included; without `last` all later ones.
struct VersionRange {
  FrameworkVersion first;
  std::optional<FrameworkVersion> last{};

  bool holds(FrameworkVersion version) const { return version >= first && (!last || version <= *last); }
};

/// The facts about one framework. Their sources stand in framework_profile.cpp, beside the values.
struct FrameworkProfile {
  const char* name;   ///< name in scenario files
  const char* title;  ///< name for people
  FrameworkVersion usual_version;
  std::vector<Execution> executions;  ///< the usual one first

  // Arithmetic and kernels.
  VersionRange tf32_products;  ///< multiplies fp32 matrices in TF32 by default on GPUs that have it
  /// Mixed precision casts around each operator, and some operators stay in 32 bit. Otherwise it is a pass
  /// over the graph, after which all of it is in 16 bits.
  bool autocasts;
  std::optional<VersionRange> plans_by_thread{};  ///< a new thread plans its convolutions anew

  // The host.
  double eager_scale;  ///< time of an eager operator outside the library, over that of the measured table
  /// An executor issues the operators unless the framework runs eagerly: the step is one call, each operator
  /// a node.
  bool has_graph_executor;
  /// Compilation gives one program of forward and backward with a loop of its own. Otherwise Python runs
  /// around each compiled pass.
  bool compiles_whole_steps;
  bool owns_every_kernel;    ///< casts, scaling, clipping are operators like any other, at their price
  bool has_autograd_engine;  ///< backward is a call of its own, to an engine that runs what was recorded

  // Gradients and update.
  /// A gradient stays with its parameter until it is dropped or zeroed, and the next one is added to it.
  /// Otherwise each backward pass returns new ones.
  bool keeps_gradients;
  bool sparse_gradients;     ///< a looked-up table's gradient is handed over as rows and indices
  bool has_optimizer_forms;  ///< several ways to walk over the parameters; otherwise one kernel per variable
  std::optional<VersionRange> drops_gradients{};  ///< zero_grad does so by default, instead of zeroing them
  std::optional<VersionRange> foreach_by_default{};  ///< one launch for many tensors
  bool unscales_packed;  ///< the loss scaler checks gradients in launches for many tensors

  // Around the step.
  LoopHooks usual_hooks;       ///< hooks of the usual loop
  bool has_noise_trainer;      ///< AdaptDL's, which measures the gradients' noise
  bool horovod_is_operator;    ///< Horovod hands over gradients in operators; otherwise in hooks and Python
  bool has_parameter_servers;  ///< it has its own, over gRPC; otherwise those of ps-lite

  // Around the run, in seconds on the reference CPU (docs/models/step.md).
  double import_s;           ///< import by one Python process
  double first_step_s;       ///< additional time of the first step, besides what follows
  double traced_operator_s;  ///< the first step traces each operator into a graph
};

/// Returns the profile of a framework; the reference stays valid for the program's life.
const FrameworkProfile& profile_of(FrameworkKind kind);
inline const FrameworkProfile& profile_of(const Framework& framework) { return profile_of(framework.kind); }

/// True where an executor issues the operators of this step.
bool is_graph(const Framework& framework);
/// True where one launch takes several tensors unless the script says otherwise.
bool packs_by_default(const Framework& framework);

}  // namespace foretrain

// The optimizer step as the framework runs it: the kernels over tensors, with their bytes and host cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/framework.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// The optimizers whose kernels and states are modelled. Each has a row with its states, kernels and bytes.
enum class OptimizerKind : std::uint8_t {
  sgd,
  momentum,
  nesterov,
  adam,
  adamw,
  adadelta,
  adagrad,
  rmsprop,
  lamb,
  adamw_8bit,
  adamw_4bit,
  adafactor,
  lion,
  muon,
  galore_adamw,
  galore_adamw_8bit,
  shampoo,
  apollo_adamw
};
/// The way an optimizer walks over the parameters. for_loop: some kernels per tensor (PyTorch < 2.0).
/// foreach: multi-tensor launches (default since 2.0). fused: one pass, in multi-tensor launches too
/// (PyTorch's or Apex's; LAMB needs two stages). variable: one kernel per variable (TensorFlow's Apply
/// operators).
enum class OptimizerForm : std::uint8_t { for_loop, foreach, fused, variable };

/// The optimizer of a training and the options that change its kernels or its memory.
struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  OptimizerForm form = OptimizerForm::foreach;
  bool weight_decay = false;
  /// Every parameter is stepped when its gradient is whole, and the gradient is freed (torchtune's
  /// optimizer_in_bwd, LOMO).
  bool in_backward = false;
  /// GaLore and APOLLO: rows or columns that a matrix's gradient is projected to (128 is galore_torch's
  /// default).
  std::int64_t rank = 128;
  /// Steps between decompositions of the matrices: GaLore's projectors (update_proj_gap), Shampoo's roots.
  int update_gap = 200;
};

/// True for optimizers that treat matrices differently from other parameters (matrix_optimizer.hpp).
constexpr bool works_on_matrices(OptimizerKind kind) { return kind >= OptimizerKind::muon; }

/// A launch over one tensor or a packed list of tensors.
struct OptimizerLaunch {
  Bytes bytes{};  ///< read + written
  Flops flops{};
  Time host{};    ///< framework cost on the reference CPU, without the launch itself
  int count = 1;  ///< number of such launches, one behind the other
};

/// Returns the name as scenario files write it: "sgd", "momentum", …; "for_loop", ….
std::string_view name_of(OptimizerKind kind);
std::string_view name_of(OptimizerForm form);
/// Returns the names of all optimizers, in the order of the enumeration.
std::vector<std::string> optimizer_names();

/// Returns the forms that a framework has of an optimizer, its default first. The default is for_loop before
/// PyTorch 2.0 and foreach since, but fused for LAMB (Apex). Adadelta, Adagrad and RMSprop have no fused
/// form, LAMB has no foreach form, and TensorFlow knows only `variable`.
std::vector<OptimizerForm> forms_of(OptimizerKind kind, const Framework& framework);

/// Returns the bytes of optimizer state per fp32 parameter element.
/// - SGD and Adafactor: 0 (a row and a column of each matrix are not counted).
/// - Momentum, Nesterov, Adagrad, RMSprop and Lion: 4.
/// - AdamW of 8 and 4 bits: 2 and 1 (the scales of their blocks, 1.5 and 6 % more, are not counted).
/// - GaLore of 8 bits: 2. The others: 8.
std::int64_t state_bytes_per_element(const Optimizer& optimizer);
/// Returns the bytes of state of `elements` parameters that have `bytes` altogether. States are as wide as
/// the parameters, but have a fixed width for AdamW of 8 and 4 bits.
double state_bytes(const Optimizer& optimizer, double elements, double bytes);

/// Returns the bytes that one fused pass reads and writes for each fp32 element: gradient, weight and state.
/// Returns 0 for an optimizer without a fused form.
std::int64_t fused_bytes_per_element(OptimizerKind kind);

/// Returns the launches of one step over tensors of the given sizes, in order. `width` is the bytes of an
/// element over those of fp32. Kernels and bytes per element: docs/models/memory.md. foreach packs tensors
/// until {110, 64, 48, 36, 30}[lists - 1] tensors or 320 chunks of 65,536 elements.
std::vector<OptimizerLaunch> optimizer_launches(const Optimizer& optimizer,
                                                const std::vector<std::int64_t>& tensor_elements,
                                                double width = 1);

/// Number of launches beyond which equal neighbours are simulated as one task. No list of a network below
/// 10^10 parameters is as long (GPT-2 XL looping over its tensors: 5,220).
inline constexpr std::size_t kMostLaunchTasks = 8192;

/// Returns the same launches with equal neighbours counted in one entry, so that a long list becomes one of
/// about `most`. A list of at most `most` is returned unchanged.
std::vector<OptimizerLaunch> counted_launches(std::vector<OptimizerLaunch> launches,
                                              std::size_t most = kMostLaunchTasks);

/// Returns the host time of a step over lists of tensors on the reference CPU, without its launches. It
/// consists of the call of step(), grouping the lists, and a call from Python for each operation on lists.
Time packed_step_host(std::size_t tensors, std::size_t operations);

/// Returns the elements of each launch of one operation over `lists` packed lists of tensors (1 to 5), as
/// foreach and the GradScaler pack them.
std::vector<std::int64_t> packed_elements(const std::vector<std::int64_t>& tensor_elements, int lists);

}  // namespace foretrain

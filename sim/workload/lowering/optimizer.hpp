// The optimizer step as the framework runs it: which kernels over which tensors, with their bytes and host
// cost.
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
/// for_loop: some kernels per tensor (PyTorch < 2.0). foreach: multi-tensor launches (default since 2.0).
/// fused: one pass, in multi-tensor launches too (PyTorch's or Apex's; LAMB needs two stages). variable: one
/// kernel per variable (TensorFlow's Apply operators).
enum class OptimizerForm : std::uint8_t { for_loop, foreach, fused, variable };

/// The optimizer of a training and the options that change its kernels or its memory.
struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  OptimizerForm form = OptimizerForm::foreach;
  bool weight_decay = false;
  /// Each parameter is stepped when its gradient is whole, which then goes (torchtune's optimizer_in_bwd,
  /// LOMO).
  bool in_backward = false;
  /// Of GaLore and APOLLO: rows or columns that a matrix's gradient is projected to (galore_torch's usual
  /// 128).
  std::int64_t rank = 128;
  /// Steps between decompositions of the matrices: GaLore's projectors (update_proj_gap), Shampoo's roots.
  int update_gap = 200;
};

/// Whether it treats matrices apart from all other parameters (matrix_optimizer.hpp).
constexpr bool works_on_matrices(OptimizerKind kind) { return kind >= OptimizerKind::muon; }

/// One launch over one tensor or a packed list of tensors.
struct OptimizerLaunch {
  Bytes bytes{};  ///< read + written
  Flops flops{};
  Time host{};    ///< framework cost on the reference CPU, without the launch itself
  int count = 1;  ///< so many such launches, one behind the other
};

/// "sgd", "momentum", …; "for_loop", … as scenario files write them.
std::string_view name_of(OptimizerKind kind);
std::string_view name_of(OptimizerForm form);
/// All of them, in the order of the enumeration.
std::vector<std::string> optimizer_names();

/// The forms a framework has of an optimizer, its default first: for_loop before PyTorch 2.0, foreach since,
/// fused LAMB (Apex); Adadelta, Adagrad and RMSprop have no fused form, LAMB has no foreach form, and
/// TensorFlow knows only `variable`.
std::vector<OptimizerForm> forms_of(OptimizerKind kind, const Framework& framework);

/// Bytes of optimizer state per parameter element of fp32: SGD and Adafactor 0 (a row and a column of each
/// matrix are not counted); momentum, Nesterov, Adagrad, RMSprop and Lion 4; AdamW of 8 and 4 bits 2 and 1
/// (their blocks' scales, 1.5 and 6 % more, are not counted); the others 8.
std::int64_t state_bytes_per_element(const Optimizer& optimizer);
/// The state of `elements` parameters that have `bytes` altogether: as wide as they are, but of a fixed width
/// for AdamW of 8 and 4 bits.
double state_bytes(const Optimizer& optimizer, double elements, double bytes);

/// Bytes that one fused pass reads and writes for each fp32 element: gradient, weight and state. 0: the
/// optimizer has no fused form.
std::int64_t fused_bytes_per_element(OptimizerKind kind);

/// The launches of one step over tensors of the given sizes, in order, whose elements have `width` of the
/// bytes of fp32. Kernels and bytes per element:
/// docs/models/optimizer.md; foreach packs tensors until {110, 64, 48, 36, 30}[lists - 1] tensors or 320
/// chunks of 65,536 elements.
std::vector<OptimizerLaunch> optimizer_launches(const Optimizer& optimizer,
                                                const std::vector<std::int64_t>& tensor_elements,
                                                double width = 1);

/// Launches beyond which neighbours that are alike are simulated as one task.
/// No list of a network below 10^10 parameters is as long (GPT-2 XL looping over its tensors: 5,220).
inline constexpr std::size_t kMostLaunchTasks = 8192;

/// The same launches with neighbours that are alike counted in one entry, so that a list of many becomes one
/// of about `most`. A list of at most `most` stays as it is.
std::vector<OptimizerLaunch> counted_launches(std::vector<OptimizerLaunch> launches,
                                              std::size_t most = kMostLaunchTasks);

/// What a step over lists of tensors costs the reference CPU beside its launches: the call of step(), putting
/// the lists together, and a call from Python for each operation on lists.
Time packed_step_host(std::size_t tensors, std::size_t operations);

/// Elements of each launch of one operation over `lists` packed lists of tensors (1 to 5), as foreach and the
/// GradScaler pack them.
std::vector<std::int64_t> packed_elements(const std::vector<std::int64_t>& tensor_elements, int lists);

}  // namespace foretrain

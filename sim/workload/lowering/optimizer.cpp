// The optimizer step: a table of its list operations, and the launches that they become.
//
// Every optimizer is a short list of element-wise operations. As a for-loop each runs once per tensor; as
// foreach each runs over packed lists of tensors; fused, the whole list collapses into one pass. Bytes are
// those that each operation reads and writes.
//
// Bytes decide the time of an update, because each operation reads and writes its states once. A fused
// optimizer moves the fewest bytes; a loop over tensors adds a launch for each of them.
#include "sim/workload/lowering/optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/workload/framework_profile.hpp"

namespace foretrain {
namespace {

/// An element-wise operation over all tensors. A packed launch carries `lists` lists of tensors.
struct ListOperation {
  int lists = 1;
  int bytes = 8;  // per element
  int flops = 1;  // per element
};
using Operations = std::vector<ListOperation>;

// The operations, named after torch._foreach functions: lists, bytes and FLOPs per element. A scalar
// operation has a host cost alone.
constexpr ListOperation kScale{1, 8, 1}, kAddScaled{2, 12, 2}, kAddConstant{1, 8, 1}, kRoot{1, 8, 1},
    kRootCopy{2, 8, 1}, kAddCopy{2, 8, 1}, kScaleCopy{2, 8, 1}, kDivideBy{1, 8, 1}, kDivideLists{2, 12, 1},
    kTimes{2, 12, 1}, kAddProduct{3, 16, 3}, kAddQuotient{3, 16, 3}, kSquares{1, 4, 2}, kMoments{4, 28, 14},
    kScalar{1, 0, 0};

/// An optimizer: its state and its operations in each form, whichever framework runs them.
struct Recipe {
  OptimizerKind kind;
  std::string_view name;
  std::int64_t state_bytes;        // per element
  double loop_cost;                // us per tensor and operation when looping, on the reference CPU
  Operations loop, packed, fused;  // empty: not offered
};

// Loop costs: measured per tensor (SGD 1.07, momentum with decay 4.6, Adam 14.8, AdamW with decay 17.0,
// Adadelta 14.0) over the number of operations; the others take Adam's. Sources: docs/models/memory.md.
const std::vector<Recipe>& recipes() {
  static const Operations momentum{kScale, kAddScaled, kAddScaled};
  static const Operations nesterov{kScale, kAddScaled, kAddScaled, kAddScaled};
  static const Operations adam{kScale,    kAddScaled, kScale,       kAddProduct,
                               kRootCopy, kDivideBy,  kAddConstant, kAddQuotient};
  static const Operations adadelta{kScale, kAddProduct, kAddCopy, kRoot,       kAddCopy,  kRoot,
                                   kTimes, kTimes,      kScale,   kAddProduct, kAddScaled};
  static const Operations adagrad{kAddProduct, kRootCopy, kAddConstant, kAddQuotient};
  static const Operations adagrad_packed{kAddProduct, kRootCopy,    kAddConstant,
                                         kScaleCopy,  kDivideLists, kAddScaled};
  static const Operations rmsprop{kScale, kAddProduct, kRootCopy, kAddConstant, kAddQuotient};
  // Moments, step and its two norms looping; Apex: norm of all gradients, moments, norms of both, scaled
  // step.
  static const Operations lamb{kScale,   kAddScaled, kScale,    kAddProduct,  kScaleCopy,   kSquares,
                               kScalar,  kScalar,    kRootCopy, kAddConstant, kDivideLists, kScaleCopy,
                               kSquares, kScalar,    kScalar,   kAddScaled};
  static const Operations lamb_fused{kSquares, kMoments, kSquares, kSquares, kAddScaled};
  // bitsandbytes: a call and a kernel for each tensor. Adafactor (transformers): the square, its means over
  // rows and columns, their product and its root, the update's norm, the step.
  static const Operations packed_adam{{3, 16, 30}};
  static const Operations adafactor{kSquares, kSquares, kSquares, kScaleCopy, kTimes,
                                    kTimes,   kSquares, kScale,   kAddScaled};
  static const Operations lion{kScaleCopy, kAddScaled, kScale, kAddScaled, kScale, kAddScaled};
  static const std::vector<Recipe> table{
      {OptimizerKind::sgd, "sgd", 0, 1.07, {kAddScaled}, {kAddScaled}, {{2, 12, 2}}},
      {OptimizerKind::momentum, "momentum", 4, 4.6 / 4, momentum, momentum, {{3, 20, 5}}},
      {OptimizerKind::nesterov, "nesterov", 4, 4.6 / 4, nesterov, nesterov, {{3, 20, 7}}},
      {OptimizerKind::adam, "adam", 8, 14.8 / 8, adam, adam, {kMoments}},
      {OptimizerKind::adamw, "adamw", 8, 17.0 / 9, adam, adam, {kMoments}},
      {OptimizerKind::adadelta, "adadelta", 8, 14.0 / 11, adadelta, adadelta, {}},
      {OptimizerKind::adagrad, "adagrad", 4, 14.8 / 8, adagrad, adagrad_packed, {}},
      {OptimizerKind::rmsprop, "rmsprop", 4, 14.8 / 8, rmsprop, rmsprop, {}},
      {OptimizerKind::lamb, "lamb", 8, 14.8 / 8, lamb, {}, lamb_fused},
      {OptimizerKind::adamw_8bit, "adamw_8bit", 2, 14.8, packed_adam, {}, {}},
      {OptimizerKind::adamw_4bit, "adamw_4bit", 1, 14.8, packed_adam, {}, {}},
      {OptimizerKind::adafactor, "adafactor", 0, 14.8 / 8, adafactor, {}, {}},
      {OptimizerKind::lion, "lion", 4, 14.8 / 8, lion, {}, {}},
      // The optimizers for matrices step all other parameters with Adam.
      {OptimizerKind::muon, "muon", 8, 14.8 / 8, adam, {}, {}},
      {OptimizerKind::galore_adamw, "galore_adamw", 8, 14.8 / 8, adam, {}, {}},
      {OptimizerKind::galore_adamw_8bit, "galore_adamw_8bit", 2, 14.8, packed_adam, {}, {}},
      {OptimizerKind::shampoo, "shampoo", 8, 14.8 / 8, adam, {}, {}},
      {OptimizerKind::apollo_adamw, "apollo_adamw", 8, 14.8 / 8, adam, {}, {}},
  };
  return table;
}

const Recipe& recipe_of(OptimizerKind kind) { return recipes()[static_cast<std::size_t>(kind)]; }

/// Returns TensorFlow's one kernel over a variable: it reads the gradient, and reads and writes the weight
/// and the state.
ListOperation apply_operation(const Recipe& recipe) {
  const int tensors = 1 + static_cast<int>(recipe.state_bytes / 4);
  return {tensors + 1, 4 + 8 * tensors, 2 + 3 * static_cast<int>(recipe.state_bytes)};
}

OptimizerLaunch launch_of(const ListOperation& operation, std::int64_t elements, Time host) {
  return {Bytes{operation.bytes * elements},
          Flops{static_cast<double>(operation.flops) * static_cast<double>(elements)}, host};
}

/// Returns one launch for each tensor and operation, tensor by tensor.
std::vector<OptimizerLaunch> loop_launches(const Operations& operations, double cost,
                                           const std::vector<std::int64_t>& tensors) {
  std::vector<OptimizerLaunch> launches;
  launches.reserve(operations.size() * tensors.size());
  for (const std::int64_t elements : tensors) {
    for (const ListOperation& operation : operations)
      launches.push_back(launch_of(operation, elements, microseconds(cost)));
  }
  return launches;
}

/// Returns the launches of packed lists. The host time of the step is spread evenly over them.
std::vector<OptimizerLaunch> packed_launches(const Operations& operations,
                                             const std::vector<std::int64_t>& tensors) {
  std::vector<OptimizerLaunch> launches;
  for (const ListOperation& operation : operations) {
    for (const std::int64_t elements : packed_elements(tensors, operation.lists))
      launches.push_back(launch_of(operation, elements, Time{}));
  }
  if (launches.empty()) return launches;
  const Time host = packed_step_host(tensors.size(), operations.size());
  for (OptimizerLaunch& launch : launches) launch.host = host / static_cast<std::int64_t>(launches.size());
  return launches;
}

/// Prepends the operation that adds the decayed weight to the gradient, where there is weight decay.
Operations with_decay(Operations operations, bool weight_decay) {
  if (weight_decay && !operations.empty()) operations.insert(operations.begin(), kAddScaled);
  return operations;
}

}  // namespace

// 40 us for the call of step(), 2 us for each tensor, 7 us for each operation on lists.
Time packed_step_host(std::size_t tensors, std::size_t operations) {
  return microseconds(40) + microseconds(2) * static_cast<std::int64_t>(tensors) +
         microseconds(7) * static_cast<std::int64_t>(operations);
}

std::string_view name_of(OptimizerKind kind) { return recipe_of(kind).name; }

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(OptimizerKind::apollo_adamw); ++kind)
    names.emplace_back(name_of(static_cast<OptimizerKind>(kind)));
  return names;
}

std::string_view name_of(OptimizerForm form) {
  constexpr std::array<std::string_view, 4> names{"for_loop", "foreach", "fused", "variable"};
  return names[static_cast<std::size_t>(form)];
}

std::vector<OptimizerForm> forms_of(OptimizerKind kind, const Framework& framework) {
  if (!profile_of(framework).has_optimizer_forms) return {OptimizerForm::variable};
  const Recipe& recipe = recipe_of(kind);
  std::vector<OptimizerForm> forms{OptimizerForm::for_loop};
  if (!recipe.packed.empty()) forms.push_back(OptimizerForm::foreach);
  if (!recipe.fused.empty()) forms.push_back(OptimizerForm::fused);
  const OptimizerForm usual = forms.size() == 1             ? OptimizerForm::for_loop
                              : recipe.packed.empty()       ? OptimizerForm::fused
                              : packs_by_default(framework) ? OptimizerForm::foreach
                                                            : OptimizerForm::for_loop;
  std::rotate(forms.begin(), std::find(forms.begin(), forms.end(), usual), forms.end());
  return forms;
}

std::int64_t state_bytes_per_element(const Optimizer& optimizer) {
  return recipe_of(optimizer.kind).state_bytes;
}

double state_bytes(const Optimizer& optimizer, double elements, double bytes) {
  constexpr double kFullBytes = 4;
  const auto each = static_cast<double>(state_bytes_per_element(optimizer));
  const bool is_packed =
      optimizer.kind == OptimizerKind::adamw_8bit || optimizer.kind == OptimizerKind::adamw_4bit;
  return is_packed ? each * elements : each / kFullBytes * bytes;
}

std::int64_t fused_bytes_per_element(OptimizerKind kind) {
  std::int64_t bytes = 0;
  for (const ListOperation& operation : recipe_of(kind).fused) bytes += operation.bytes;
  return bytes;
}

namespace {

/// Returns the launches for fp32 elements. An optimizer without the requested form takes the packed form or,
/// for foreach without packed operations, its fused one.
std::vector<OptimizerLaunch> launches_in_fp32(const Optimizer& optimizer,
                                              const std::vector<std::int64_t>& tensor_elements) {
  const Recipe& recipe = recipe_of(optimizer.kind);
  switch (optimizer.form) {
    case OptimizerForm::variable:
      return loop_launches({apply_operation(recipe)}, 0, tensor_elements);
    case OptimizerForm::for_loop:
      return loop_launches(with_decay(recipe.loop, optimizer.weight_decay), recipe.loop_cost,
                           tensor_elements);
    case OptimizerForm::fused:
      if (!recipe.fused.empty()) return packed_launches(recipe.fused, tensor_elements);
      break;
    case OptimizerForm::foreach:
      if (recipe.packed.empty()) return packed_launches(recipe.fused, tensor_elements);
      break;
  }
  return packed_launches(with_decay(recipe.packed, optimizer.weight_decay), tensor_elements);
}

}  // namespace

std::vector<OptimizerLaunch> optimizer_launches(const Optimizer& optimizer,
                                                const std::vector<std::int64_t>& tensor_elements,
                                                double width) {
  std::vector<OptimizerLaunch> launches = launches_in_fp32(optimizer, tensor_elements);
  if (width == 1) return launches;
  for (OptimizerLaunch& launch : launches)
    launch.bytes = {std::llround(width * static_cast<double>(launch.bytes.count))};
  return launches;
}

}  // namespace foretrain

// Rules of calls on lists of tensors: torch's _foreach and _fused calls, and the copies in and out of FSDP's
// messages.
#include <algorithm>
#include <cmath>

#include "sim/workload/lowering/optimizer.hpp"
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Largest number of lists that a call takes: parameters, gradients and three of state.
constexpr std::size_t kMostLists = 5;

/// The tensors of a call without its numbers (learning rates, counters of steps), and the number of lists of
/// equal sizes that they form.
struct TensorLists {
  /// Elements of the tensors of the first list.
  std::vector<std::int64_t> elements;
  double first_bytes = 0, all_bytes = 0;
  int lists = 1;
};

/// Divides the tensors of a call into the largest number of lists that have the same sizes.
TensorLists lists_of(const RecordedCall& call) {
  std::vector<TensorAt> tensors;
  TensorLists out;
  for (std::size_t i = 0; i < call.in_count(); ++i) {
    if (call.in(i).rank() > 0) tensors.push_back(call.in(i));
  }
  // The largest number of lists wins, since any multiple of equal lists could also be taken for fewer.
  for (std::size_t lists = kMostLists; lists > 1; --lists) {
    const std::size_t each = tensors.size() / lists;
    if (each == 0 || each * lists != tensors.size()) continue;
    bool alike = true;
    for (std::size_t i = each; i < tensors.size() && alike; ++i)
      alike = tensors[i].elements() == tensors[i % each].elements();
    if (!alike) continue;
    out.lists = static_cast<int>(lists);
    break;
  }
  const std::size_t each = tensors.size() / static_cast<std::size_t>(out.lists);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    out.all_bytes += tensors[i].bytes();
    if (i >= each) continue;
    out.first_bytes += tensors[i].bytes();
    out.elements.push_back(std::llround(tensors[i].elements()));
  }
  return out;
}

/// Returns the launches as lowering/optimizer packs them. More elements than any list has count as the most
/// launches that a rule may have.
int launches_of(const TensorLists& lists, double elements) {
  constexpr double kMostElements = 1e12;
  constexpr int kMostLaunches = 65'535;
  if (elements > kMostElements) return kMostLaunches;
  const std::size_t launches = packed_elements(lists.elements, lists.lists).size();
  return static_cast<int>(std::clamp<std::size_t>(launches, 1, kMostLaunches));
}

/// Counts all lists as read and, where a call has no results, the first `written` lists as written.
std::vector<RecordedWork> work_of_lists(const RecordedCall& call, const OperatorRule& rule, int written) {
  const TensorLists lists = lists_of(call);
  double elements = 0;
  for (const std::int64_t tensor : lists.elements) elements += static_cast<double>(tensor);
  // Calls with results write these; calls in place write their first lists.
  const double out = call.out_count() > 0 ? call.out_bytes() : written * lists.first_bytes;
  return {{rule.each * elements, lists.all_bytes + out, launches_of(lists, elements), {}}};
}

std::vector<RecordedWork> work_in_place(const RecordedCall& call, const OperatorRule& rule) {
  return work_of_lists(call, rule, 1);
}

/// Counts weights and two moments as written.
std::vector<RecordedWork> work_of_adam(const RecordedCall& call, const OperatorRule& rule) {
  return work_of_lists(call, rule, 3);
}

/// Counts weights as written, and the momentum where there is one.
std::vector<RecordedWork> work_of_sgd(const RecordedCall& call, const OperatorRule& rule) {
  return work_of_lists(call, rule, lists_of(call).lists > 2 ? 2 : 1);
}

/// Counts the operands, which are both what the call reads and what it writes.
std::vector<RecordedWork> work_of_copy(const RecordedCall& call, const OperatorRule&) {
  return {{0, call.in_bytes(), 1, {}}};
}

/// Counts the copy of shards to their place in the message, which is the last operand. The copy is as large
/// as the shards.
std::vector<RecordedWork> work_of_copy_in(const RecordedCall& call, const OperatorRule&) {
  double bytes = 0;
  for (std::size_t i = 0; i + 1 < call.in_count(); ++i) bytes += 2 * call.in(i).bytes();
  return {{0, bytes, 1, {}}};
}

/// Returns a row for element-wise work on lists, which stays in 32 bits under autocast.
OperatorRule list_row(std::string_view name, double each,
                      std::vector<RecordedWork> (*work)(const RecordedCall&,
                                                        const OperatorRule&) = work_in_place) {
  OperatorRule row{name, OperatorClass::elementwise, HostCall::add, "n", "lists + the first, written", work,
                   each};
  row.half_capable = false;
  return row;
}

/// Returns a row for a copy of lists.
OperatorRule copy_row(std::string_view name,
                      std::vector<RecordedWork> (*work)(const RecordedCall&,
                                                        const OperatorRule&) = work_of_copy) {
  return {name, OperatorClass::copy, HostCall::copy, "0", "what is copied, read and written", work, 0};
}

}  // namespace

// FLOPs an element: 1 for simple operations, 2 for those with a product, 12 for Adam, 4 for SGD and Adagrad.
std::vector<OperatorRule> list_rules() {
  std::vector<OperatorRule> rows;
  for (const char* name :
       {"_foreach_add", "_foreach_sub", "_foreach_mul", "_foreach_div", "_foreach_neg", "_foreach_sqrt",
        "_foreach_pow", "_foreach_sign", "_foreach_zero", "_foreach_norm", "_foreach_abs", "_foreach_maximum",
        "_foreach_clamp_max", "_foreach_clamp_min", "_foreach_reciprocal", "_foreach_exp"})
    rows.push_back(list_row(name, 1));
  for (const char* name : {"_foreach_lerp", "_foreach_addcmul", "_foreach_addcdiv"})
    rows.push_back(list_row(name, 2));
  for (const char* name : {"_fused_adam", "_fused_adamw"}) rows.push_back(list_row(name, 12, work_of_adam));
  for (const char* name : {"_fused_sgd", "_fused_adagrad"}) rows.push_back(list_row(name, 4, work_of_sgd));
  for (const char* name : {"_foreach_copy", "fsdp::split_with_sizes_copy", "fsdp::chunk_cat", "_chunk_cat",
                           "split_with_sizes_copy"})
    rows.push_back(copy_row(name));
  rows.push_back(copy_row("fsdp::all_gather_copy_in", work_of_copy_in));
  return rows;
}

}  // namespace foretrain

// The table of all families with its lookup by name, and the work that most rows share.
#include "sim/workload/recorded/operator_rules.hpp"

#include <algorithm>
#include <unordered_map>

namespace foretrain {
namespace {

/// The namespace that recorded names of the framework's own operators begin with.
constexpr std::string_view kAten = "aten::";

/// Returns the size of a tensor that is not there: one dimension of 0 elements.
const TensorSize& no_tensor() {
  static const TensorSize none{ElementType::f32, {Extent{}}};
  return none;
}

/// Returns the bytes that one element counts.
double counted_width(ElementType type, ByteCount count) {
  if (count == ByteCount::twice) return 2.0 * bytes_of(type);
  return count == ByteCount::half_as_full && is_16_bit(type) ? 4 : bytes_of(type);
}

/// Returns the index of the table. Its keys and values refer to the rows, which live as long as the program.
/// Of rows with the same name the first one counts.
std::unordered_map<std::string_view, const OperatorRule*> rules_by_name() {
  std::unordered_map<std::string_view, const OperatorRule*> rows;
  for (const OperatorRule& rule : operator_rules()) rows.emplace(rule.name, &rule);
  return rows;
}

}  // namespace

double TensorAt::dim(int i) const {
  const auto rank = static_cast<int>(size_->dimensions.size());
  const int at = i < 0 ? rank + i : i;
  return at < 0 || at >= rank ? 1 : size_->dimensions[static_cast<std::size_t>(at)].at(batch_);
}

TensorAt RecordedCall::tensor(const std::vector<SizeId>& ids, std::size_t i) const {
  const TensorSize& size = i < ids.size() ? network_->sizes[ids[i]] : no_tensor();
  return {size, batch_, counted_width(size.type, count_)};
}

double RecordedCall::in_bytes() const {
  double sum = 0;
  for (std::size_t i = 0; i < in_count(); ++i) sum += in(i).bytes();
  return sum;
}

double RecordedCall::out_bytes() const {
  double sum = 0;
  for (std::size_t i = 0; i < out_count(); ++i) sum += out(i).bytes();
  return sum;
}

// Calls have few arguments, so a linear search is enough.
const RecordedArgument* RecordedCall::argument(std::string_view name) const {
  const auto found = std::find_if(op_->with.begin(), op_->with.end(),
                                  [name](const RecordedArgument& given) { return given.name == name; });
  return found == op_->with.end() ? nullptr : &*found;
}

double RecordedCall::number(std::string_view name, double fallback) const {
  const RecordedArgument* given = argument(name);
  return given == nullptr || given->numbers.empty() ? fallback : given->numbers.front();
}

std::vector<RecordedWork> work_by_result(const RecordedCall& call, const OperatorRule& rule) {
  return {{rule.each * call.out(0).elements(), call.in_bytes() + call.out_bytes(), rule.kernels}};
}

std::vector<RecordedWork> work_by_operand(const RecordedCall& call, const OperatorRule& rule) {
  return {{rule.each * call.in(0).elements(), call.in_bytes() + call.out_bytes(), rule.kernels}};
}

// The table is built once, from the lists of all families.
const std::vector<OperatorRule>& operator_rules() {
  static const std::vector<OperatorRule> all = [] {
    std::vector<OperatorRule> rows;
    for (const auto family :
         {convolution_rules, product_rules, attention_rules, normalization_rules, activation_rules,
          pointwise_rules, pooling_rules, loss_rules, embedding_rules, recurrent_rules, copy_rules,
          reduction_rules, dropout_rules, resize_rules, list_rules}) {
      for (OperatorRule& rule : family()) rows.push_back(std::move(rule));
    }
    return rows;
  }();
  return all;
}

const OperatorRule* find_operator_rule(std::string_view name) {
  static const auto rows = rules_by_name();
  if (name.starts_with(kAten)) name.remove_prefix(kAten.size());
  const auto found = rows.find(name);
  if (found != rows.end()) return found->second;
  // Variants in place have the name of their row and "_" behind it; names like __and__ do not.
  if (!name.ends_with('_') || name.ends_with("__")) return nullptr;
  name.remove_suffix(1);
  const auto in_place = rows.find(name);
  return in_place == rows.end() ? nullptr : in_place->second;
}

}  // namespace foretrain

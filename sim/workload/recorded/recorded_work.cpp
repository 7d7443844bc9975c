// Work of one recorded operator, computed without samples, with the recorded number, and with twice as many.
// The first two give the fixed part and the part of each sample; the third shows whether the growth is
// linear.
#include "sim/workload/recorded/recorded_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace foretrain {
namespace {

/// Largest number of operators that a rule may make of one; a library call of many layers has fewer.
constexpr std::size_t kMostPieces = 4000;

/// Returns the rule for unknown operators: only their bytes are known.
const OperatorRule& unknown_rule() {
  static const OperatorRule rule{
      .name = "", .flops = "0", .bytes = "operands + results", .work = work_by_result};
  return rule;
}

/// True for a view, by the recording's mark or by its name, unless a trace has seen it run.
bool runs_nothing(const RecordedOperator& op, const OperatorRule& rule) {
  return (op.view || rule.role == OperatorRole::silent) && !op.time && op.kernels == 0;
}

/// Returns an amount, or 0 where a rule made no finite positive number of odd sizes.
double sound(double amount) { return std::isfinite(amount) && amount > 0 ? amount : 0; }

/// Returns a product with the one size that the batch multiplies, per sample. The first of count, rows and
/// depth that grows stands for all that do.
Product grown_between(const Product& none, Product now, double batch) {
  const auto grows = [](double without, double with) { return with > without; };
  // The model grows rows, not columns; a product that grows in columns is transposed.
  const bool columns = grows(none.n, now.n) && !grows(none.m, now.m);
  Product before = none;
  if (columns && now.window == 1) std::swap(now.m, now.n), std::swap(before.m, before.n);
  now.bytes = {none.bytes.fixed, (now.bytes.fixed - none.bytes.fixed) / batch};
  if (grows(before.count, now.count))
    now.grows = Product::Grows::count, now.count /= batch;
  else if (grows(before.m, now.m))
    now.grows = Product::Grows::rows, now.m /= batch;
  else if (grows(before.k, now.k))
    now.grows = Product::Grows::depth, now.k /= batch;
  else
    now.grows = Product::Grows::nothing;
  return now;
}

/// True where all sizes of a product are finite and positive.
bool is_sound(const Product& p) {
  return sound(p.m) > 0 && sound(p.n) > 0 && sound(p.k) > 0 && sound(p.count) > 0 && sound(p.serial) > 0;
}

/// True where the third value continues the line through the first two.
bool is_line(double none, double once, double twice) {
  constexpr double kRounding = 1e-9;
  return std::abs(twice - (2 * once - none)) <= kRounding * std::max(std::abs(twice), 1.0);
}

/// The work of one piece at three batches: without samples, at the recorded batch, and at twice that batch.
/// The third only shows whether the work grows linearly.
struct WorkAtBatches {
  RecordedWork none, once, twice;
};

/// Returns the operator whose work passes through both batches.
Operator operator_between(const WorkAtBatches& work, const OperatorRule& rule, double batch) {
  Operator op;
  op.cls = rule.cls, op.call = rule.call, op.half_capable = rule.half_capable;
  op.kernels = static_cast<std::uint16_t>(std::clamp(work.once.kernels, 1, 65'535));
  const double flops = sound(work.none.flops), bytes = sound(work.none.bytes);
  op.flops = {flops, sound(work.once.flops - flops) / batch};
  op.bytes = {bytes, sound(work.once.bytes - bytes) / batch};
  const double visits = sound(work.none.visits);
  op.visits = {visits, sound(work.once.visits - visits) / batch};
  for (std::size_t i = 0; i < std::min<std::size_t>(work.once.products.size(), 2); ++i) {
    const Product product = grown_between(work.none.products[i], work.once.products[i], batch);
    if (is_sound(product)) op.with(product);
  }
  return op;
}

/// Adds the channels of a normalization, and the class of depthwise convolutions, which have other kernels.
void add_details(const RecordedNetwork& network, const RecordedOperator& recorded, Operator& op) {
  const double batch = static_cast<double>(network.batch);
  const std::size_t weight = recorded.backward ? 2 : 1;  // behind the gradient, in backward
  if (op.cls == OperatorClass::normalization && recorded.in.size() > weight)
    op.channels = static_cast<std::int64_t>(network.sizes[recorded.in[weight]].elements(batch));
  if (op.call == HostCall::batch_norm && !recorded.backward) op.keeps_averages = recorded.in.size() > 4;
  if (op.cls == OperatorClass::conv && op.product_count > 0) {
    const Product& forward = op.products[0];
    const std::size_t input = recorded.backward && recorded.in.size() > 2 ? 1 : 0;
    const RecordedCall call(network, recorded, batch, ByteCount::as_recorded);
    if (forward.count > 1 && forward.count == call.in(input).dim(1)) op.cls = OperatorClass::depthwise_conv;
  }
}

/// Operators that autocast runs in fp32 (torch.amp's list). Softmax, normalizations and losses are not in it,
/// because their rows say so.
constexpr std::array<std::string_view, 24> kAutocastInFull{
    "acos", "asin",     "cosh",  "cumprod",    "cumsum",
    "dist", "erfinv",   "exp",   "expm1",      "linalg_vector_norm",
    "log",  "log10",    "log1p", "log2",       "logsumexp",
    "norm", "pow",      "prod",  "reciprocal", "rsqrt",
    "sinh", "softplus", "sum",   "tan"};

/// True in forward alone: backward runs outside of autocast.
bool runs_in_full_under_autocast(const RecordedNetwork& network, const RecordedOperator& op) {
  constexpr std::string_view kPrefix = "aten::";
  std::string_view name = network.operator_names.at(op.name);
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return !op.backward &&
         std::find(kAutocastInFull.begin(), kAutocastInFull.end(), name) != kAutocastInFull.end();
}

/// Sets the width. Where types are kept, no precision changes what counts, and nothing is cast beside it.
void settle_width(RecordedTypes types, bool own_half, Operator& op) {
  if (own_half) op.width = ElementWidth::half;
  if (types != RecordedTypes::kept) return;
  if (!own_half) op.width = ElementWidth::full;
  op.half_capable = true;
}

}  // namespace

// Results decide before operands; integers such as indices do not count.
bool is_own_half(const RecordedNetwork& network, const RecordedOperator& op) {
  for (const std::vector<SizeId>* ids : {&op.out, &op.in}) {
    for (const SizeId id : *ids) {
      if (is_floating(network.sizes[id].type)) return is_16_bit(network.sizes[id].type);
    }
  }
  return false;
}

// The rule is evaluated at three batches, and the work is put on the line through the first two.
RecordedPieces pieces_of(const RecordedNetwork& network, const RecordedOperator& op, RecordedTypes types) {
  const OperatorRule* known = find_operator_rule(network.operator_names.at(op.name));
  const OperatorRule& rule = known != nullptr ? *known : unknown_rule();
  RecordedPieces out;
  if (runs_nothing(op, rule)) return out;
  out.is_known = known != nullptr;
  const bool widened = types == RecordedTypes::widened;
  const bool own_half = !widened && is_own_half(network, op);
  const ByteCount count = widened    ? ByteCount::half_as_full
                          : own_half ? ByteCount::twice
                                     : ByteCount::as_recorded;
  const bool in_full = runs_in_full_under_autocast(network, op);
  const auto batch = static_cast<double>(network.batch);
  const auto at = [&](double samples) { return rule.work(RecordedCall(network, op, samples, count), rule); };
  std::vector<RecordedWork> none = at(0), once = at(batch), twice = at(2 * batch);
  if (once.empty()) none = once = twice = {RecordedWork{}};  // a view that a trace has seen run
  for (std::size_t i = 0; i < std::min(once.size(), kMostPieces); ++i) {
    Operator made = operator_between({none[i], once[i], twice[i]}, rule, batch);
    add_details(network, op, made);
    made.backward = op.backward && !op.recomputed;
    if (in_full) made.half_capable = false;
    settle_width(types, own_half, made);
    out.beyond_linear = out.beyond_linear || !is_line(none[i].bytes, once[i].bytes, twice[i].bytes) ||
                        !is_line(none[i].flops, once[i].flops, twice[i].flops);
    out.pieces.push_back({made, rule.role});
  }
  // A recorded number of kernels replaces that of the rule.
  if (op.kernels > 0 && out.pieces.size() == 1)
    out.pieces[0].op.kernels = static_cast<std::uint16_t>(std::min(op.kernels, 65'535));
  return out;
}

}  // namespace foretrain

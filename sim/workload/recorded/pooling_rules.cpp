// Rules of pooling: k^2 FLOPs a result for windows of k^2, and one FLOP an input element for a given number
// of windows.
#include <algorithm>

#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Returns the positions of a window by the argument `kernel`, where one number stands for all sides. Without
/// the argument it is the ratio of input to output elements.
double window_positions(const RecordedCall& call) {
  const RecordedArgument* kernel = call.argument("kernel");
  if (kernel == nullptr) kernel = call.argument("kernel_size");
  if (kernel == nullptr || kernel->numbers.empty()) {
    const double out = call.out(0).elements();
    return out > 0 ? call.in(0).elements() / out : 1;
  }
  double product = 1;
  for (const double side : kernel->numbers) product *= std::max(1.0, side);
  if (kernel->numbers.size() > 1) return product;
  // A single number is the side of a square or cube, by the rank of the input.
  const auto sides = std::max<std::size_t>(call.in(0).rank(), 3) - 2;
  for (std::size_t i = 1; i < sides; ++i) product *= std::max(1.0, kernel->numbers[0]);
  return product;
}

/// Forward: every window visits each of its positions.
std::vector<RecordedWork> pool_windows(const RecordedCall& call, const OperatorRule&) {
  RecordedWork work{window_positions(call) * call.out(0).elements(), call.in_bytes() + call.out_bytes()};
  work.visits = work.flops;
  return {work};
}

/// Backward: operands begin with the gradient of the windows.
std::vector<RecordedWork> pool_windows_backward(const RecordedCall& call, const OperatorRule&) {
  RecordedWork work{call.out(0).elements(), call.in_bytes() + call.out_bytes()};
  work.visits = window_positions(call) * call.in(0).elements();
  return {work};
}

/// Returns a row of a pool; its FLOPs are stated in words and computed by `work`.
OperatorRule pool_row(std::string_view name, std::string_view flops,
                      std::vector<RecordedWork> (*work)(const RecordedCall&, const OperatorRule&)) {
  return {name, OperatorClass::pooling, HostCall::pooling, flops, "operands + results", work, 1};
}

}  // namespace

// Pools with windows count visits, which bound their time; pools to a number of windows do not.
std::vector<OperatorRule> pooling_rules() {
  std::vector<OperatorRule> rows;
  for (const char* name : {"max_pool2d_with_indices", "max_pool3d_with_indices", "max_pool1d", "max_pool2d",
                           "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d"})
    rows.push_back(pool_row(name, "k^2 out", pool_windows));
  for (const char* name : {"_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d",
                           "adaptive_max_pool2d", "adaptive_max_pool3d", "fractional_max_pool2d"})
    rows.push_back(pool_row(name, "in", work_by_operand));
  for (const char* name : {"max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward",
                           "avg_pool2d_backward", "avg_pool3d_backward"})
    rows.push_back(pool_row(name, "in", pool_windows_backward));
  for (const char* name :
       {"_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward", "adaptive_max_pool2d_backward",
        "adaptive_max_pool3d_backward", "fractional_max_pool2d_backward"})
    rows.push_back(pool_row(name, "in", work_by_result));
  return rows;
}

}  // namespace foretrain

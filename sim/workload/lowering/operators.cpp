// Names of operator classes, and sums over an expanded model.
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {
namespace {

bool is_matrix_work(OperatorClass cls) {
  return cls == OperatorClass::conv || cls == OperatorClass::depthwise_conv || cls == OperatorClass::gemm ||
         cls == OperatorClass::attention;
}

}  // namespace

std::string_view name_of(OperatorClass cls) {
  switch (cls) {
    case OperatorClass::conv:
      return "conv";
    case OperatorClass::depthwise_conv:
      return "depthwise_conv";
    case OperatorClass::gemm:
      return "gemm";
    case OperatorClass::attention:
      return "attention";
    case OperatorClass::normalization:
      return "normalization";
    case OperatorClass::elementwise:
      return "elementwise";
    case OperatorClass::pooling:
      return "pooling";
    case OperatorClass::reduction:
      return "reduction";
    case OperatorClass::embedding:
      return "embedding";
    case OperatorClass::copy:
      return "copy";
  }
  return "";
}

std::int64_t Parameter::bytes() const {
  if (!is_quantised(packed)) return elements * element_bytes;
  return static_cast<std::int64_t>(bytes_per_weight(packed) * static_cast<double>(elements));
}

std::int64_t ExpandedModel::parameter_elements() const {
  std::int64_t sum = 0;
  for (const Parameter& parameter : parameters) sum += parameter.elements;
  return sum;
}

std::int64_t ExpandedModel::frozen_bytes() const {
  std::int64_t sum = 0;
  for (const Parameter& parameter : frozen) sum += parameter.bytes();
  return sum;
}

Bytes ExpandedModel::gradient_bytes() const {
  Bytes sum{};
  for (const Parameter& parameter : parameters) sum += Bytes{parameter.bytes()};
  return sum;
}

std::int64_t ExpandedModel::frozen_elements() const {
  std::int64_t sum = 0;
  for (const Parameter& parameter : frozen) sum += parameter.elements;
  return sum;
}

Amount ExpandedModel::forward_flops() const {
  Amount sum;
  for (const Operator& op : forward) sum += op.flops;
  return sum;
}

Amount ExpandedModel::forward_gemm_flops() const {
  Amount sum;
  for (const Operator& op : forward) {
    if (is_matrix_work(op.cls)) sum += op.flops;
  }
  return sum;
}

Amount ExpandedModel::backward_flops() const {
  Amount sum;
  for (const BackwardStep& step : backward) sum += step.op.flops;
  return sum;
}

std::vector<std::uint32_t> ExpandedModel::gradient_ready_order() const {
  std::vector<std::uint32_t> order;
  order.reserve(parameters.size());
  for (const BackwardStep& step : backward) order.insert(order.end(), step.ready.begin(), step.ready.end());
  return order;
}

}  // namespace foretrain

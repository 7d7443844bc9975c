// The kernels are the same in every execution mode. Only the host cost of each differs.
#include "sim/strategy/step/step_launches.hpp"

#include "sim/strategy/process/call_costs.hpp"
#include "sim/workload/device/script_time.hpp"

namespace foretrain {

StepLaunches::StepLaunches(Process& process)
    : process_(process),
      workload_(process.request().workload),
      framework_(workload_.framework),
      inputs_label_(process.graph().label("static inputs")) {}

/// Copies the batch to the memory that the captured kernels read, then launches all kernels with one call.
/// Its host cost grows with the number of kernels in the graph.
void StepLaunches::launch_captured_graph(const HostThread& thread) {
  const HostCalibration& costs = process_.host_costs();
  const ExpandedModel& model = *workload_.model;
  std::int64_t kernels = 0;
  for (const Operator& op : model.forward) kernels += op.kernels;
  for (const BackwardStep& step : model.backward) kernels += step.op.kernels;
  const std::int64_t elements = model.input_elements * workload_.batch_per_gpu;
  process_.launch_copy(thread, {2 * kFloatBytes * elements}, costs.copy_call, Account::other, inputs_label_);
  process_.host(thread, costs.graph_launch + costs.graph_launch_node * kernels, Account::host);
}

void StepLaunches::begin_forward(const HostThread& thread) {
  const HostCalibration& costs = process_.host_costs();
  const auto calls = static_cast<std::int64_t>(workload_.model->forward.size());
  // The profiler's hooks cost host time for every eager call.
  Time python = profiler_time(workload_.loop, framework_.execution == Execution::eager ? calls : 0);
  if (is_graph()) python += costs.function_call;
  if (framework_.execution == Execution::compiled && !profile().compiles_whole_steps)
    python += costs.compiled_call;
  // One call serves all GPUs of the process, so this time is not multiplied by their number.
  if (python > Time::zero()) process_.host_for(thread, process_.on_this_host(python), Account::host);
  // A graph function passes its captured variables as arguments.
  if (is_graph()) {
    const Time variables =
        costs.captured_variable * captured_variables(*workload_.model, workload_.optimizer);
    process_.host(thread, variables, Account::host);
  }
  if (framework_.execution == Execution::cuda_graphs) launch_captured_graph(thread);
}

void StepLaunches::begin_backward(const HostThread& thread) {
  const HostCalibration& costs = process_.host_costs();
  if (!profile().has_autograd_engine || framework_.execution == Execution::cuda_graphs) return;
  const bool compiled = framework_.execution == Execution::compiled;
  process_.host(thread, costs.backward_call + (compiled ? costs.compiled_call : Time{}), Account::host);
}

/// Prices are computed when the first operator asks, and again when the batch changes.
const StepLaunches::Price& StepLaunches::price_of(const Operator& op, std::int64_t batch) {
  OperatorCosts& costs = process_.operator_costs();
  if (prices_.empty()) prices_.resize(costs.size());
  const std::size_t number = costs.number_of(op);
  Price& price = prices_[number];
  if (price.batch == batch) return price;
  const OperatorCosts::Cost& cost = costs.at(number, batch);
  price = {batch, process_.on_this_host(cost.host), seconds(cost.kernel_s * process_.kernels().time_scale)};
  return price;
}

void StepLaunches::operator_call(const HostThread& thread, const Operator& op, LabelId label,
                                 std::int64_t batch) {
  const Price& price = price_of(op, batch);
  process_.launch(thread, price.host, price.kernel, Account::compute, label);
  // A graph executor also runs nodes beside the operator, such as reads of variables.
  if (is_graph()) nodes(thread, nodes_beside(op), Account::compute, label);
}

/// The cost depends on the execution mode only, not on the kernel.
Time StepLaunches::own_cost() const {
  const HostCalibration& costs = process_.host_costs();
  switch (framework_.execution) {
    case Execution::eager:
      return process_.calls().eager_operator;
    case Execution::compiled:
      return costs.bare_node;
    default:
      return costs.node;
  }
}

TaskId StepLaunches::kernels(const HostThread& thread, const OptimizerLaunch& launch, Account account,
                             LabelId label) {
  // The captured graph pays the host cost of all its kernels in one launch, so a kernel takes no host time.
  if (framework_.execution == Execution::cuda_graphs) {
    return process_.launch(
        thread, Time{}, memory_kernel_time(launch.bytes, process_.gpu(), process_.kernels()) * launch.count,
        account, label);
  }
  OptimizerLaunch own = launch;
  if (profile().owns_every_kernel) own.host = own_cost();
  return process_.launch_copies(thread, own, account, label);
}

void StepLaunches::nodes(const HostThread& thread, const GraphNodes& nodes, Account account, LabelId label) {
  // A compiled graph has fused these nodes away.
  if (!is_graph() || framework_.execution == Execution::compiled) return;
  const HostCalibration& costs = process_.host_costs();
  if (nodes.bare > 0) process_.host(thread, costs.bare_node * nodes.bare, Account::host);
  if (nodes.kernels > 0) process_.host(thread, costs.hand_over_node * nodes.kernels, Account::host);
  for (int i = 0; i < nodes.kernels; ++i)
    process_.launch_copy(thread, nodes.bytes, costs.node, account, label);
}

}  // namespace foretrain

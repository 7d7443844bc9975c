// DDP in four places of a step: buffers are broadcast before forward; a hook copies each gradient into its bucket and launches
// the bucket's all-reduce when it is complete and its turn has come; at the end of backward the compute stream waits for the
// buckets and copies them back; accumulation skips all of it but in the last micro-step.
#include "sim/strategy/ddp.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/strategy/ddp_buckets.hpp"
#include "sim/strategy/single.hpp"
#include "sim/strategy/training_step.hpp"

namespace foretrain {

namespace {

/// The Reducer of one process.
class Reducer {
 public:
  Reducer(Process& process, std::vector<Bucket> buckets);
  void broadcast_buffers();
  void on_gradient(std::uint32_t parameter);
  void finalize_backward();
  const std::vector<Bucket>& buckets() const { return buckets_; }

 private:
  void broadcast_group(std::int64_t element_bytes);
  void launch_complete_buckets();
  Time hook_cost() const;

  Process& process_;
  const ExpandedModel& model_;
  std::vector<Bucket> buckets_;
  std::int64_t element_bytes_;            ///< of gradients
  std::vector<std::uint32_t> bucket_of_;  ///< per parameter
  std::vector<std::size_t> pending_;      ///< gradients missing per bucket
  std::vector<TaskId> reductions_;        ///< launched so far this step
  LabelId buffer_label_, copy_in_label_, copy_out_label_;
  std::vector<LabelId> bucket_labels_;
};

Reducer::Reducer(Process& process, std::vector<Bucket> buckets)
    : process_(process),
      model_(*process.request().workload.model),
      buckets_(std::move(buckets)),
      element_bytes_(gradient_element_bytes(process.request().workload)),
      bucket_of_(model_.parameters.size()),
      buffer_label_(process.graph().label("buffer broadcast")),
      copy_in_label_(process.graph().label("gradient to bucket")),
      copy_out_label_(process.graph().label("bucket to gradient")) {
  for (std::uint32_t b = 0; b < buckets_.size(); ++b) {
    for (const std::uint32_t parameter : buckets_[b].parameters) bucket_of_[parameter] = b;
    pending_.push_back(buckets_[b].parameters.size());
    bucket_labels_.push_back(process.graph().label(fmt::format("all_reduce bucket {}", b)));
  }
}

/// One dtype's buffers: flatten, broadcast from rank 0, copy back into every buffer. The copies wait for the broadcast.
void Reducer::broadcast_group(std::int64_t element_bytes) {
  Bytes total{};
  for (const Buffer& buffer : model_.buffers) {
    if (buffer.element_bytes == element_bytes) total += Bytes{buffer.elements * element_bytes};
  }
  if (total.count == 0) return;
  const QueueId thread = process_.main_thread;
  process_.launch_copy(thread, total * 2, microseconds(10), Account::other, buffer_label_);
  process_.stream_waits_for(process_.collective(thread, CollectiveOp::broadcast, total, buffer_label_));
  for (const Buffer& buffer : model_.buffers) {
    if (buffer.element_bytes != element_bytes) continue;
    process_.launch_copy(thread, {2 * buffer.elements * element_bytes}, microseconds(0.57), Account::other, buffer_label_);
  }
}

void Reducer::broadcast_buffers() {
  process_.host(process_.main_thread, process_.host_costs().ddp_forward, Account::host);
  if (!process_.request().knobs.broadcast_buffers) return;
  broadcast_group(4);
  broadcast_group(8);
}

/// Bookkeeping per gradient: measured extra of the search for unused parameters 1.1 us, of the static graph 0.3 us.
Time Reducer::hook_cost() const {
  const StrategyKnobs& knobs = process_.request().knobs;
  const double extra = knobs.static_graph ? 0.3 : knobs.find_unused_parameters ? 1.1 : 0;
  return process_.host_costs().ddp_hook + microseconds(extra);
}

void Reducer::on_gradient(std::uint32_t parameter) {
  const std::int64_t bytes =
      2 * element_bytes_ * model_.parameters[parameter].elements;  // read the gradient, write it divided by the ranks
  process_.launch_copy(process_.autograd_thread, {bytes}, hook_cost(), Account::other, copy_in_label_);
  --pending_[bucket_of_[parameter]];
  launch_complete_buckets();
}

/// Buckets go out strictly in order: all ranks must issue the same collectives.
void Reducer::launch_complete_buckets() {
  while (reductions_.size() < buckets_.size() && pending_[reductions_.size()] == 0) {
    const std::size_t b = reductions_.size();
    reductions_.push_back(process_.collective(process_.autograd_thread, CollectiveOp::all_reduce, buckets_[b].size, bucket_labels_[b]));
  }
}

void Reducer::finalize_backward() {
  const QueueId thread = process_.autograd_thread;
  const bool copies_back = !process_.request().knobs.gradient_as_bucket_view;
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    process_.host(thread, process_.host_costs().event, Account::host);
    process_.stream_waits_for(reductions_[b]);
    pending_[b] = buckets_[b].parameters.size();
    if (!copies_back) continue;
    for (const std::uint32_t parameter : buckets_[b].parameters) {
      process_.launch_copy(thread, {2 * element_bytes_ * model_.parameters[parameter].elements}, microseconds(0.57), Account::other,
                           copy_out_label_);
    }
  }
  reductions_.clear();
  process_.hand_over(thread, process_.main_thread);
}

void explain_buckets(const std::vector<Bucket>& buckets, const StrategyKnobs& knobs, Decisions& decisions) {
  std::string sizes;
  for (const Bucket& bucket : buckets) sizes += (sizes.empty() ? "" : ", ") + to_string(bucket.size);
  const bool rebuilt = !knobs.find_unused_parameters || knobs.static_graph;
  decisions.add("gradient buckets", sizes,
                fmt::format("{}, first limit {}, then {}; the last one can never overlap backward",
                            rebuilt ? "order of gradient arrival" : "reversed registration order (find_unused_parameters)",
                            to_string(knobs.first_bucket), to_string(knobs.bucket_cap)));
}

void add_step(TrainingStep& step, Reducer& reducer, const StrategyKnobs& knobs) {
  for (int micro = 0; micro < knobs.accumulation; ++micro) {
    const bool synchronises = micro + 1 == knobs.accumulation;
    step.load_batch();
    if (micro == 0) step.zero_gradients();
    if (micro == 0) reducer.broadcast_buffers();
    step.forward();
    const auto hook = [&reducer](std::uint32_t parameter) { reducer.on_gradient(parameter); };
    step.backward(micro > 0, synchronises ? TrainingStep::GradientHook(hook) : nullptr);
  }
  reducer.finalize_backward();
}

}  // namespace

Plan plan_ddp(const PlanRequest& request) {
  if (request.placement.size() == 1 && !request.knobs.wrap_one_gpu) {
    Plan plan = plan_single(request);
    plan.decisions.add("one GPU", "model not wrapped",
                       "scripts skip DistributedDataParallel for one process; strategy.wrap_one_gpu = true wraps it");
    return plan;
  }
  Plan plan;
  Process process(request, plan.graph);
  TrainingStep step(process);
  Reducer reducer(process, form_buckets(*request.workload.model, request.knobs, gradient_element_bytes(request.workload)));
  for (int i = 0; i < request.steps; ++i) {
    add_step(step, reducer, request.knobs);
    plan.step_ends.push_back(step.optimize());
    step.finish_step();
  }
  for (const Bucket& bucket : reducer.buckets()) plan.buckets.push_back(bucket.size);
  if (!request.knobs.gradient_as_bucket_view)
    plan.memory.buffers = {gradient_element_bytes(request.workload) * request.workload.model->parameter_elements()};
  explain_buckets(reducer.buckets(), request.knobs, process.decisions());
  plan.decisions = process.decisions();
  return plan;
}

StrategyEntry ddp_strategy() {
  const Knob knobs[] = {
      {"bucket_cap", &StrategyKnobs::bucket_cap, "\"25 MiB\"", "25 MiB", "limit of every gradient bucket but the first", 1},
      {"first_bucket", &StrategyKnobs::first_bucket, "\"1 MiB\"", "1 MiB", "limit of the first bucket", 1},
      {"find_unused_parameters", &StrategyKnobs::find_unused_parameters, "true", "false", "buckets then follow registration order"},
      {"static_graph", &StrategyKnobs::static_graph, "true", "false", "promises that the graph never changes"},
      {"gradient_as_bucket_view", &StrategyKnobs::gradient_as_bucket_view, "true", "false", "no copy back from the buckets, less memory"},
      {"broadcast_buffers", &StrategyKnobs::broadcast_buffers, "false", "true",
       "BatchNorm buffers are broadcast before every forward pass"},
      {"wrap_one_gpu", &StrategyKnobs::wrap_one_gpu, "true", "false", "wrap the model even when there is one process"},
  };
  return {.name = "ddp",
          .summary = "PyTorch DistributedDataParallel: buckets all-reduced during backward",
          .plan = plan_ddp,
          .framework = FrameworkKind::pytorch,
          .knobs = {std::begin(knobs), std::end(knobs)}};
}

}  // namespace foretrain

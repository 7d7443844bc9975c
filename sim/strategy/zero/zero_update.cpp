// All of it is on the compute stream; only the two questions to all ranks (overflow, norm) and the weights go
// over the network.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/zero/zero_options.hpp"
#include "sim/strategy/zero/zero_phases.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kOverflowKernels = 6;  ///< float, isnan, isinf, or, float, max
constexpr std::int64_t kOverflowBytes = 26;   ///< of them, per element, besides reading the gradient
constexpr int kNormReads = 2;  ///< by the host: is it infinite, is it no number (is_invalid_grad_norm)
constexpr std::int64_t kDoubleBytes = 8;  ///< norms are taken in double precision
/// Adam on the host: gradient and weight read, weight written; each state besides, read and written.
constexpr std::int64_t kHostUpdateBytes = 3 * kFloatBytes;
constexpr std::int64_t kMostGathers = 10'000;      ///< in one step
constexpr FrameworkVersion kGathersAtOnce{1, 10};  ///< first PyTorch with _all_gather_base

/// The parameters, or parts of them, in each piece of `own` elements; of the piece that has most of them.
std::vector<std::int64_t> most_pieces(const ExpandedModel& model, std::int64_t own) {
  std::vector<std::int64_t> most, pieces;
  std::int64_t room = own;
  for (const Parameter& parameter : model.parameters) {
    for (std::int64_t left = parameter.elements; left > 0;) {
      pieces.push_back(std::min(left, room));
      left -= pieces.back(), room -= pieces.back();
      if (room > 0) continue;
      if (pieces.size() > most.size()) most = pieces;
      pieces.clear(), room = own;
    }
  }
  return pieces.size() > most.size() ? pieces : most;
}

}  // namespace

std::vector<std::int64_t> partition_tensors(const ExpandedModel& model, const ZeroSettings& settings) {
  std::vector<std::int64_t> most;
  if (settings.stage == 3) {
    for (const Parameter& parameter : model.parameters) most.push_back(settings.own(parameter.elements));
    return most;
  }
  return most_pieces(model, settings.own(model.parameter_elements()));
}

ZeroUpdate::ZeroUpdate(Process& process, const ZeroSettings& settings, std::vector<std::int64_t> persistent)
    : process_(process),
      workload_(process.request().workload),
      settings_(settings),
      own_(settings.own(workload_.model->parameter_elements())),
      persistent_(std::move(persistent)),
      mine_(partition_tensors(*workload_.model, settings)),
      check_label_(process.graph().label("overflow check")),
      norm_label_(process.graph().label("gradient norm")),
      optimizer_label_(process.graph().label("optimizer")),
      weights_label_(process.graph().label("fp32 to weights")),
      gather_label_(process.graph().label("all_gather of weights")) {}

TaskId ZeroUpdate::kernel(std::int64_t bytes, LabelId label) {
  return process_.launch_copy(process_.main_thread(), {bytes}, process_.calls().scalar, Account::optimizer,
                              label);
}

void ZeroUpdate::sum(Bytes size, LabelId label, WireType type) {
  process_.stream_waits_for(
      process_.collective(process_.main_thread(), CollectiveOp::all_reduce, size, label, type));
}

/// Looks for infinities, asks all ranks, and the host reads the answer.
void ZeroUpdate::check_overflow() {
  for (const std::int64_t elements : mine_) {
    const std::int64_t bytes = (settings_.element_bytes + kOverflowBytes) * elements / kOverflowKernels;
    for (std::int64_t i = 0; i < kOverflowKernels; ++i) kernel(bytes, check_label_);
  }
  sum({1}, check_label_, WireType::uint8);
  kernel(1, check_label_);
  process_.synchronize(process_.main_thread());
}

/// Each gradient in double precision, its norm, and the sum over ranks, which the host reads.
void ZeroUpdate::norm() {
  for (const std::int64_t elements : mine_) {
    kernel((settings_.element_bytes + kDoubleBytes) * elements, norm_label_);
    kernel(kDoubleBytes * elements, norm_label_);
  }
  if (settings_.stage == 3)
    sum({kDoubleBytes}, norm_label_, WireType::fp64);
  else if (settings_.sums_norm)
    sum({kFloatBytes}, norm_label_, WireType::fp32);
  kernel(4, norm_label_);
  for (int read = 0; read < (settings_.stage == 3 ? 1 : kNormReads); ++read)
    process_.synchronize(process_.main_thread());
}

TaskId ZeroUpdate::update_on_gpu() {
  kernel(2 * settings_.element_bytes * own_, optimizer_label_);  // the partition's gradients in one
  if (settings_.element_bytes == 2)
    kernel((kFloatBytes + settings_.element_bytes) * own_, optimizer_label_);  // in fp32
  kernel(2 * kFloatBytes * own_, optimizer_label_);                            // scaled and clipped
  for (const OptimizerLaunch& launch : counted_launches(optimizer_launches(workload_.optimizer, {own_})))
    process_.launch_copies(process_.main_thread(), launch, Account::optimizer, optimizer_label_);
  return kernel((kFloatBytes + settings_.element_bytes) * own_, weights_label_);
}

/// The ranks of a node share its cores and its memory; then the new weights go back.
TaskId ZeroUpdate::update_on_host(TaskId gradients) {
  const Cluster& cluster = process_.request().cluster;
  const auto [node, gpu] = process_.place(0);
  const auto& ranks = process_.request().placement.ranks;
  const auto sharing = std::count_if(ranks.begin(), ranks.end(),
                                     [&](const GpuPlace& rank) { return rank.node == ranks.front().node; });
  const std::int64_t bytes = kHostUpdateBytes + 2 * state_bytes_per_element(workload_.optimizer);
  const double rate = std::min(kHostOptimizerRateOfRank, kHostOptimizerRate / static_cast<double>(sharing));
  const Time duration = seconds(static_cast<double>(bytes * own_) / rate);
  const TaskId updated =
      process_.host_for(process_.main_thread(), duration, Account::optimizer, {{gradients}});
  const Route route = cluster.route(cluster.cpu_of_gpu(node, gpu), cluster.gpu(node, gpu));
  return process_.transfer(process_.compute_stream(), route, {settings_.element_bytes * own_},
                           Account::optimizer, weights_label_, {&updated, 1});
}

/// At once, or before _all_gather_base in pieces; of stage 3 one by one what stays whole.
std::vector<std::int64_t> ZeroUpdate::gathers() const {
  if (settings_.stage == 0) return {};
  if (settings_.stage == 3) return persistent_;
  const std::int64_t all = own_ * settings_.partitions();  // padded
  const bool at_once = workload_.framework.version >= kGathersAtOnce;
  const std::int64_t limit = at_once ? all : process_.request().options<ZeroOptions>().allgather_bucket_size;
  if (limit > 0 && all / limit >= kMostGathers)
    throw InputError(
        fmt::format("strategy.allgather_bucket_size = {} cuts {} elements into more than {} gathers", limit,
                    all, kMostGathers),
        "the default is 500_000_000 elements");
  std::vector<std::int64_t> out;
  for (std::int64_t left = all; left > 0; left -= limit) out.push_back(std::min(left, limit));
  return out;
}

void ZeroUpdate::gather_weights() {
  for (const std::int64_t elements : gathers()) {
    process_.stream_waits_for(process_.collective(process_.main_thread(), CollectiveOp::all_gather,
                                                  {settings_.element_bytes * elements}, gather_label_,
                                                  settings_.element_type()));
  }
}

TaskId ZeroUpdate::apply(TaskId gradients) {
  process_.enter(StepPass::optimizer);
  process_.host(
      process_.main_thread(),
      process_.calls().zero_bookkeeping * static_cast<std::int64_t>(workload_.model->parameters.size()),
      Account::host);
  if (settings_.checks_overflow) check_overflow();
  norm();
  const TaskId last = settings_.offload ? update_on_host(gradients) : update_on_gpu();
  gather_weights();
  return last;
}

}  // namespace foretrain

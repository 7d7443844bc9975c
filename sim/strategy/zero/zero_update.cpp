// The engine's step(). All of it is on the compute stream. Only the overflow check, the norm and the weights
// are sent over the network.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/zero/zero_options.hpp"
#include "sim/strategy/zero/zero_phases.hpp"
#include "sim/workload/device/host_update.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kOverflowKernels = 6;  ///< float, isnan, isinf, or, float, max
/// Bytes per element of these kernels, besides reading the gradient.
constexpr std::int64_t kOverflowBytes = 26;
/// Reads by the host: is it infinite, is it no number (is_invalid_grad_norm).
constexpr int kNormReads = 2;
constexpr std::int64_t kDoubleBytes = 8;  ///< norms are taken in double precision
/// Bytes per element on the host besides the update: gradients are read, scaled and written
/// (unscale_and_clip_grads). Stage 3 also casts new weights of 16 bits there, which is counted separately.
constexpr double kScaledBytes = 2 * kFloatBytes;
/// Bytes per element that NVMe reads and writes besides weight and states: the gradient.
constexpr double kSwappedGradient = kFloatBytes;
constexpr std::int64_t kMostGathers = 10'000;      ///< in one step
constexpr FrameworkVersion kGathersAtOnce{1, 10};  ///< first PyTorch with _all_gather_base

/// Returns the parameters, or parts of them, in the piece of `own` elements that has most of them.
std::vector<std::int64_t> most_pieces(const ExpandedModel& model, std::int64_t own) {
  std::vector<std::int64_t> most, pieces;
  std::int64_t room = own;
  // The parameters are laid end to end and cut every `own` elements.
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

HostUpdateTime zero_host_update(const PlanRequest& request, const ZeroSettings& settings) {
  const bool casts = settings.stage == 3 && settings.element_bytes == 2;
  const double bytes = fused_host_bytes(request.workload.optimizer, kFloatBytes) + kScaledBytes;
  const auto own = static_cast<double>(settings.own(request.workload.model->parameter_elements()));
  return host_update_time({.elements = own,
                           .bytes_per_element = bytes + (casts ? kCastBytes : 0),
                           .ranks = ranks_of_own_node(request),
                           .threads = host_threads(request, 0)},
                          request.own_node().host);
}

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
      gather_label_(process.graph().label("all_gather of weights")),
      host_label_(process.graph().label("update on the host")),
      drive_label_(process.graph().label("optimizer state on NVMe")) {}

/// Launches a small kernel of the update.
TaskId ZeroUpdate::kernel(std::int64_t bytes, LabelId label) {
  return process_.launch_copy(process_.main_thread(), {bytes}, process_.calls().scalar, Account::optimizer,
                              label);
}

void ZeroUpdate::sum(Bytes size, LabelId label, WireType type) {
  process_.stream_waits_for(
      process_.collective(process_.main_thread(), CollectiveOp::all_reduce, size, label, type));
}

/// Searches for infinities and all-reduces the finding, which the host then reads.
void ZeroUpdate::check_overflow() {
  for (const std::int64_t elements : mine_) {
    const std::int64_t bytes = (settings_.element_bytes + kOverflowBytes) * elements / kOverflowKernels;
    for (std::int64_t i = 0; i < kOverflowKernels; ++i) kernel(bytes, check_label_);
  }
  sum({1}, check_label_, WireType::uint8);
  kernel(1, check_label_);
  process_.synchronize(process_.main_thread());
}

/// Takes each gradient's norm in double precision and sums it over ranks; the host reads the sum.
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
  // Every read of a result makes the host wait for the stream.
  for (int read = 0; read < (settings_.stage == 3 ? 1 : kNormReads); ++read)
    process_.synchronize(process_.main_thread());
}

/// Steps the partition on the GPU: gradients are joined, cast, scaled and clipped, then the optimizer runs.
TaskId ZeroUpdate::update_on_gpu() {
  kernel(2 * settings_.element_bytes * own_, optimizer_label_);  // the partition's gradients in one
  if (settings_.element_bytes == 2)
    kernel((kFloatBytes + settings_.element_bytes) * own_, optimizer_label_);  // in fp32
  kernel(2 * kFloatBytes * own_, optimizer_label_);                            // scaled and clipped
  for (const OptimizerLaunch& launch : counted_launches(optimizer_launches(workload_.optimizer, {own_})))
    process_.launch_copies(process_.main_thread(), launch, Account::optimizer, optimizer_label_);
  if (settings_.offload_param) return weights_to_host();
  return kernel((kFloatBytes + settings_.element_bytes) * own_, weights_label_);
}

/// Returns new weights to host memory while masters are on the GPU. fp16.data.copy_(fp32) copies fp32 and
/// casts on the host, into memory that is not page-locked (PyTorch's Copy.cu).
TaskId ZeroUpdate::weights_to_host() {
  const PlanRequest& request = process_.request();
  const TaskId last = process_.last_kernel();
  const TaskId copied = process_.host_copy({.stream = process_.compute_stream(),
                                            .bytes = {kFloatBytes * own_},
                                            .to_gpu = false,
                                            .pinned = false,
                                            .label = weights_label_,
                                            .after = {&last, 1}});
  process_.synchronize(process_.main_thread(), copied);
  const HostUpdateTime cast = host_update_time({.elements = static_cast<double>(own_),
                                                .bytes_per_element = kCastBytes,
                                                .ranks = ranks_of_own_node(request),
                                                .threads = host_threads(request, 0)},
                                               request.own_node().host);
  const double written = settings_.param_on_nvme
                             ? drive_write_s(request, static_cast<double>(settings_.element_bytes * own_))
                             : 0;
  process_.host_for(process_.main_thread().labelled(host_label_), seconds(cast.seconds + written),
                    Account::optimizer);
  return kernel(1, weights_label_);
}

/// Copies new weights to the GPU. Stages 1 and 2 copy fp32 and cast on the GPU. Stage 3 casts into a tensor
/// on the host, which is not page-locked. Parameters that are kept on the host stay there.
TaskId ZeroUpdate::weights_to_gpu(TaskId updated) {
  if (settings_.offload_param) return kernel(1, weights_label_);
  const bool casts = settings_.stage == 3 && settings_.element_bytes == 2;
  const Bytes bytes{(casts ? settings_.element_bytes : kFloatBytes) * own_};
  return process_.host_copy({.stream = process_.compute_stream(),
                             .bytes = bytes,
                             .pinned = settings_.pinned && !casts,
                             .label = weights_label_,
                             .after = {&updated, 1}});
}

/// Steps the partition on the host, where the ranks of a node share its cores, memory and drives. Then the
/// new weights go back.
TaskId ZeroUpdate::update_on_host(TaskId gradients) {
  const PlanRequest& request = process_.request();
  const auto elements = static_cast<double>(own_);
  const HostThread swaps = process_.main_thread().labelled(drive_label_);
  const double swapped = elements * (kSwappedGradient + kFloatBytes +
                                     static_cast<double>(state_bytes_per_element(workload_.optimizer)));
  // The steps follow one another on the host: read the states, update, write them.
  const auto take = [&](const HostThread& thread, double time, TaskId before) {
    if (before == kNone) return process_.host_for(thread, seconds(time), Account::optimizer);
    return process_.host_for(thread, seconds(time), Account::optimizer, {{before}});
  };
  TaskId last = gradients;
  if (settings_.on_nvme) last = take(swaps, drive_read_s(request, swapped), last);
  last =
      take(process_.main_thread().labelled(host_label_), zero_host_update(request, settings_).seconds, last);
  const double written =
      (settings_.on_nvme ? swapped : 0) +
      (settings_.param_on_nvme ? elements * static_cast<double>(settings_.element_bytes) : 0);
  if (written > 0) last = take(swaps, drive_write_s(request, written), last);
  return weights_to_gpu(last);
}

/// Returns the elements of each gather: all at once, or in pieces before _all_gather_base. Stage 3 gathers
/// persistent parameters one by one. Throws InputError where the bucket size would make more than
/// kMostGathers pieces.
std::vector<std::int64_t> ZeroUpdate::gathers() const {
  if (settings_.stage == 0) return {};
  if (settings_.stage == 3) return persistent_;
  const std::int64_t all = own_ * settings_.partitions();  // padded
  // Every gather has the size of a bucket before _all_gather_base.
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
  // The order of step(): overflow, norm, optimizer, weights.
  if (settings_.checks_overflow) check_overflow();
  norm();
  const TaskId last = settings_.offload ? update_on_host(gradients) : update_on_gpu();
  gather_weights();
  return last;
}

}  // namespace foretrain

// From one GPU to N in three steps: the batch per GPU changes (one GPU is simulated with it), then the others
// join, and last there are GPUs that do nothing, or nothing new.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/search/crossover_of_job.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/strategy/servers/server_options.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kCompute = static_cast<std::size_t>(Account::compute),
                      kCommunication = static_cast<std::size_t>(Account::exposed_communication);

class CauseParts {
 public:
  void add(std::string what, double seconds) {
    if (seconds >= kShortestTime) parts_.push_back({std::move(what), seconds, 0});
  }

  CrossoverCause summing_to(double loss, int gpus) && {
    CrossoverCause out{gpus, loss, {}};
    double sum = 0;
    for (const LossPart& part : parts_) sum += part.seconds;
    if (loss <= 0 || sum <= 0) return out;
    for (LossPart& part : parts_) part.share = part.seconds / sum, part.seconds = part.share * loss;
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const LossPart& a, const LossPart& b) { return a.seconds > b.seconds; });
    out.parts = std::move(parts_);
    return out;
  }

 private:
  std::vector<LossPart> parts_;
};

/// What does not shrink with the batch; `share`: the smaller batch over one GPU's.
void add_small_batch(CauseParts& parts, const Breakdown& one, const Breakdown& small, double share) {
  static constexpr std::array<std::string_view, kAccountCount> kWords{
      "batch too small: kernels",   "",
      "batch too small: input",     "batch too small: host",
      "batch too small: optimizer", "batch too small: copies"};
  for (std::size_t account = 0; account < kAccountCount; ++account)
    parts.add(std::string(kWords[account]), small[account] - share * one[account]);
}

/// The kernels of the slowest rank on a busy node, beside collectives.
void add_slower_kernels(CauseParts& parts, const PointPredictor& points, int gpus, double alone,
                        double many) {
  const Scenario& scenario = points.simulator().scenario();
  const Placement placement = points.simulator().placement(gpus);
  const double spread =
      scenario.knobs.get<ParameterServerOptions>().asynchronous ? 0 : points.device().rank_spread;
  const double slowest = slowest_rank_factor(spread, placement.size());
  const double busy =
      busy_node_factor(points.device().busy_node, placement, most_gpus_per_node(scenario.cluster));
  parts.add("the slowest GPU sets the pace", alone * (slowest - 1));
  parts.add("kernels on a node whose GPUs are all busy", alone * slowest * (busy - 1));
  parts.add("kernels beside collectives, which share the GPU", many - alone * slowest * busy);
}

void add_growth(CauseParts& parts, const PointPredictor& points, int gpus, const SimulatedStep& alone,
                const SimulatedStep& many) {
  static constexpr std::array<std::string_view, kAccountCount> kWords{
      "", "", "waiting for input batches", "the host", "the optimizer", "copies of gradients and buffers"};
  add_slower_kernels(parts, points, gpus, alone.breakdown[kCompute], many.breakdown[kCompute]);
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
    parts.add(name_of_wait(kind, points.simulator().scenario().cluster),
              many.waits[kind] - alone.waits[kind]);
  }
  parts.add(std::string(many.waits_for), many.waits_for_slower_s - alone.waits_for_slower_s);
  for (std::size_t account = 0; account < kAccountCount; ++account) {
    if (account == kCompute || account == kCommunication) continue;
    parts.add(std::string(kWords[account]), many.breakdown[account] - alone.breakdown[account]);
  }
}

/// `one_s`: one GPU's step with its own batch.
void add_lost_shares(CauseParts& parts, const PointPredictor& points, int gpus, double one_s, double share) {
  const StepSimulator& simulator = points.simulator();
  const double working = simulator.placement(gpus).size(),
               readers = readers_of_a_sample(simulator.scenario(), gpus);
  const double even = points.samples_per_step(gpus) / points.samples_per_step(1) * readers / working;
  parts.add("a batch that does not divide evenly", one_s * (share - even));
  parts.add("processes that train on the same samples", one_s * even * (1 - 1 / readers));
  parts.add("GPUs without a process", one_s * even / readers * (1 - working / gpus));
}

/// Of a cut network: against the same share of what the fewest GPUs do.
void add_growth_of_degrees(CauseParts& parts, const ClusterSpec& cluster, const SimulatedStep& one,
                           double share, const SimulatedStep& many) {
  static constexpr std::array<std::string_view, kAccountCount> kWords{
      "slower kernels",       "", "waiting for input batches", "the host", "the optimizer",
      "the pipeline's bubble"};
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind)
    parts.add(name_of_wait(kind, cluster), many.waits[kind] - share * one.waits[kind]);
  for (std::size_t account = 0; account < kAccountCount; ++account)
    if (account != kCommunication)
      parts.add(std::string(kWords[account]), many.breakdown[account] - share * one.breakdown[account]);
}

/// With all GPUs at the pace of one alone.
double ideal_step_s(const PointPredictor& points, const SimulatedStep& one, int gpus) {
  return one.step_s * points.samples_per_step(gpus) / points.samples_per_step(1) / gpus;
}

std::string_view largest_part(const Throughput& step) {
  static constexpr std::array<std::string_view, kAccountCount> kWords{
      "compute",       "exposed communication", "the input pipeline", "the host (Python and kernel launches)",
      "the optimizer", "bucket copies"};
  return kWords[static_cast<std::size_t>(std::max_element(step.breakdown.begin(), step.breakdown.end()) -
                                         step.breakdown.begin())];
}

/// What grew between the two steps, largest first.
std::vector<LossPart> growths(const Throughput& one, const Throughput& many) {
  static constexpr std::array<std::string_view, kAccountCount> kWords{
      "slower kernels (stragglers and NCCL sharing the GPU)",
      "waiting for communication",
      "waiting for input batches",
      "the host launching more work",
      "the optimizer",
      "copying gradients and buffers for communication"};
  std::vector<LossPart> found;
  for (std::size_t account = 0; account < kAccountCount; ++account)
    found.push_back({std::string(kWords[account]), many.breakdown[account] - one.breakdown[account], 0});
  std::sort(found.begin(), found.end(),
            [](const LossPart& a, const LossPart& b) { return a.seconds > b.seconds; });
  return found;
}

}  // namespace

CrossoverCause cause_of_loss(PointPredictor& points, int gpus) {
  return points.simulator().model().cause_of_loss(points, gpus);
}

CrossoverCause cause_of_cut_loss(PointPredictor& points, int gpus) {
  const SimulatedStep& one = points.step(1);
  const SimulatedStep& many = points.step(gpus);
  const double ideal = ideal_step_s(points, one, gpus);
  CauseParts parts;
  add_growth_of_degrees(parts, points.simulator().scenario().cluster, one, ideal / one.step_s, many);
  return std::move(parts).summing_to(many.step_s - ideal, gpus);
}

CrossoverCause cause_of_replicated_loss(PointPredictor& points, int gpus) {
  const SimulatedStep& one = points.step(1);
  const SimulatedStep& many = points.step(gpus);
  const std::int64_t batch = points.simulator().batch_per_gpu(gpus),
                     own = points.simulator().batch_per_gpu(1);
  const SimulatedStep& alone = batch == own ? one : points.one_gpu(batch);
  const double share = static_cast<double>(batch) / static_cast<double>(own);
  const double ideal = ideal_step_s(points, one, gpus);
  CauseParts parts;
  add_small_batch(parts, one.breakdown, alone.breakdown, share);
  add_growth(parts, points, gpus, alone, many);
  add_lost_shares(parts, points, gpus, one.step_s, share);
  return std::move(parts).summing_to(many.step_s - ideal, gpus);
}

std::string explain_loss(const Throughput& one, const Throughput& many, int gpus) {
  const double growth = many.step_s - one.step_s;
  if (growth <= 0.005 * one.step_s)
    return fmt::format("{} bounds the step; at {} GPUs it is hardly longer than on one", largest_part(many),
                       gpus);
  std::string parts;
  for (const LossPart& loss : growths(one, many)) {
    if (loss.seconds < 0.15 * growth) break;
    parts += fmt::format("{}{:.2f} ms {}", parts.empty() ? "" : ", ", loss.seconds * 1e3, loss.what);
  }
  return fmt::format("{} bounds the step; at {} GPUs it is {:.2f} ms longer than on one: {}",
                     largest_part(many), gpus, growth * 1e3, parts);
}

}  // namespace foretrain

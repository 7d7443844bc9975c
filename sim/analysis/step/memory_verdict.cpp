// Memory of a point and advice about it. Every piece of advice is computed before it is given: a remedy is
// named only if the memory of the changed training fits.
#include "sim/analysis/step/memory_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "sim/analysis/spreads/spread_table.hpp"
#include "sim/analysis/step/replicated_step.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/gpu_servers.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Returns the workload with the point's batch, which under strong scaling is a share of the global batch.
Workload workload_of(const PredictionPoint& point, const Scenario& scenario) {
  Workload workload = scenario.workload;
  workload.batch_per_gpu = point.batch_per_gpu;
  return workload;
}

/// Returns the circumstances that memory depends on besides the workload: strategy, ranks, GPU architecture.
MemorySite site_of(const PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy) {
  return {strategy, working_gpus(scenario, point.gpus).size(), gpu_of(point, scenario).architecture};
}

/// Returns the advice to train fewer samples at a time in more micro-steps, which leaves the result the same.
/// A batch that may already fit is lowered to the largest that surely does. Empty when no smaller batch
/// helps.
std::string smaller_batch(const PredictionPoint& point, const Scenario& scenario, const MemorySite& site) {
  std::int64_t batch = point.largest_batch;
  // The requested batch fits by prediction, but not surely: a smaller one has to fit surely.
  const bool may_fit = batch >= point.batch_per_gpu;
  if (may_fit) {
    const auto room =
        static_cast<std::int64_t>(surely_filled_share() * static_cast<double>(point.memory_capacity.count));
    batch = std::min(point.batch_per_gpu - 1, largest_batch(workload_of(point, scenario), site, {room}));
  }
  if (batch < 1) return {};
  // The number of micro-steps is rounded up so that no sample is lost.
  const std::int64_t shares = (point.batch_per_gpu + batch - 1) / batch;
  return fmt::format(
      "a batch of {} per GPU {}fits, with strategy.accumulation = {} the step keeps its samples", batch,
      may_fit ? "surely " : "", shares * scenario.knobs.accumulation);
}

/// Returns the advice to train in 16 bit; empty if the run does so already or would not fit then either.
std::string sixteen_bits(const PredictionPoint& point, const Scenario& scenario, const MemorySite& site) {
  if (is_half(scenario.workload.precision)) return {};
  Workload half = workload_of(point, scenario);
  half.precision = Precision::amp_fp16;
  if (memory_use(half, site).total() > point.memory_capacity) return {};
  return "model.precision = \"amp_fp16\" fits";
}

}  // namespace

double chance_of_fitting(const PredictionPoint& point) {
  return chance_of_host(point) * chance_of_fitting(static_cast<double>(point.memory.least().count),
                                                   static_cast<double>(point.memory_capacity.count));
}

double chance_of_fitting(double needed, double there) {
  if (needed <= 0 || there <= 0) return there > 0 ? 1 : 0;
  return chance_below(there / needed, memory_reach());
}

double surely_filled_share() {
  static_assert(kSurelyFits == 0.95);  // the upper end of a 90 % interval
  return std::exp(-memory_reach().above);
}

MemoryUse with_scratch_reserve(MemoryUse use, Bytes capacity) {
  const Bytes left{std::max<std::int64_t>(0, capacity.count - use.least().count)};
  use.workspace = std::min(use.workspace, left);
  return use;
}

namespace {

/// Returns the node whose memory decides: the point's kind, or the job's first node before a kind is chosen.
const NodeSpec& deciding_node(const PredictionPoint& point, const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  if (!is_mixed(cluster)) return cluster.node;
  const std::optional<int> decides = find_kind(cluster, point.memory_kind);
  return node_of_kind(cluster, decides.value_or(kind_of_node(cluster, nodes_of_job(scenario).front().node)));
}

}  // namespace

const Gpu& gpu_of(const PredictionPoint& point, const Scenario& scenario) {
  return deciding_node(point, scenario).gpu;
}

/// The fullest node decides, because every rank holds the same share.
void add_host_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy) {
  const Placement ranks = working_gpus(scenario, point.gpus);
  std::map<int, int> of_node;
  int fullest = 0;
  for (const GpuPlace& rank : ranks.ranks) fullest = std::max(fullest, ++of_node[rank.node]);
  point.host_memory = strategy.host.times(fullest);
  // The server that stands for `--gpu` is made up, so its host memory is unknown.
  const bool is_assumed = scenario.cluster.name.starts_with(kGpuServer);
  point.host_capacity = is_assumed ? Bytes{} : deciding_node(point, scenario).host.memory;
}

void add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy) {
  step_model_of(scenario).add_memory(point, scenario, strategy);
}

MemoryLedger ledger_of(const PredictionPoint& point, const Scenario& scenario,
                       const StrategyMemory& strategy) {
  return memory_ledger(workload_of(point, scenario), site_of(point, scenario, strategy));
}

/// Fills what is needed, what there is, and the largest batch that fits. Offloaded activations are added to
/// the host's memory.
void ReplicatedStep::add_memory(PredictionPoint& point, const Scenario& scenario,
                                const StrategyMemory& strategy) {
  const Workload workload = workload_of(point, scenario);
  const MemorySite site = site_of(point, scenario, strategy);
  const MemoryUse wanted = memory_use(workload, site);
  StrategyMemory offloaded = strategy;
  offloaded.host = with_activations(strategy.host, offloaded_bytes(workload));
  add_host_memory(point, scenario, offloaded);
  point.memory_capacity = gpu_of(point, scenario).capacity();
  point.memory = with_scratch_reserve(wanted, point.memory_capacity);
  point.scratch_wanted = wanted.workspace;
  point.largest_batch = largest_batch(workload, site, point.memory_capacity);
}

namespace {

/// Returns the point as it would be if the whole job consisted of these ranks.
PredictionPoint point_of(const PredictionPoint& point, const Scenario& scenario, const UnlikeRanks& ranks) {
  PredictionPoint own = point;
  own.batch_per_gpu = ranks.what.batch;
  own.memory_kind = name_of_kind(scenario.cluster, ranks.what.kind);
  add_memory(own, scenario, ranks.memory);
  return own;
}

/// Returns one row of the report on unlike ranks.
UnlikeShare share_of(const PredictionPoint& own, const UnlikeRanks& ranks) {
  const Representative& what = ranks.what;
  UnlikeShare share;
  share.kind = own.memory_kind, share.nodes = what.nodes, share.gpus = what.ranks;
  share.batch_per_gpu = what.batch, share.clock = what.clock, share.own_step_s = ranks.own_step_s;
  share.waits_s = std::max(0.0, own.step_s - ranks.own_step_s);
  share.memory = own.memory, share.memory_capacity = own.memory_capacity;
  share.largest_batch = own.largest_batch;
  return share;
}

/// Returns the bytes left without scratch memory; negative where the training does not fit.
std::int64_t to_spare(const PredictionPoint& point) {
  return point.memory_capacity.count - point.memory.least().count;
}

}  // namespace

void add_memory_of_ranks(PredictionPoint& point, const Scenario& scenario, const SimulatedStep& step) {
  if (step.unlike.empty()) return add_memory(point, scenario, step.memory);
  std::optional<PredictionPoint> decides;
  std::vector<UnlikeShare> shares;
  for (const UnlikeRanks& ranks : step.unlike) {
    const PredictionPoint own = point_of(point, scenario, ranks);
    shares.push_back(share_of(own, ranks));
    // The kind with the least memory to spare decides for the whole job.
    if (!decides || to_spare(own) < to_spare(*decides)) decides = own;
  }
  point.memory = decides->memory, point.memory_capacity = decides->memory_capacity;
  point.scratch_wanted = decides->scratch_wanted;
  point.largest_batch = decides->largest_batch, point.memory_kind = decides->memory_kind;
  // Ranks may all have the same batch. Its largest value is the one that fits all kinds, whichever kind
  // decides at the present batch.
  if (scenario.batch_of_kind.empty() && !scenario.balances) {
    for (const UnlikeShare& share : shares)
      point.largest_batch = std::min(point.largest_batch, share.largest_batch);
  }
  point.unlike = std::move(shares);
}

std::string listed_parts(std::initializer_list<std::pair<std::string_view, Bytes>> parts) {
  std::string text;
  for (const auto& [what, bytes] : parts) {
    if (bytes.count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, to_string(bytes));
  }
  return text;
}

std::string memory_parts(const MemoryUse& use) {
  return listed_parts({{"weights", use.parameters},
                       {"gradients", use.gradients},
                       {"optimizer", use.optimizer},
                       {"buckets", use.buckets},
                       {"activations", use.activations},
                       {"convolution workspace", use.workspace},
                       {"framework", use.framework}});
}

std::string memory_verdict(const PredictionPoint& point) {
  if (point.fits_tightly()) return "fits tightly";
  return point.fits() ? "fits" : "does not fit";
}

std::string tightness_warning(const PredictionPoint& point) {
  return fmt::format(
      "{}{}: {} of {} are used, of which {} are scratch memory of convolutions; the fastest ones want {}; {}",
      counted(point.gpus, "GPU"), point.memory_kind.empty() ? "" : " (on nodes of " + point.memory_kind + ")",
      to_string(point.memory.total()), to_string(point.memory_capacity), to_string(point.memory.workspace),
      to_string(point.scratch_wanted),
      point.largest_batch > 0 ? fmt::format("batch {} leaves enough", point.largest_batch)
                              : "no batch leaves enough");
}

std::string memory_advice(const PredictionPoint& point, const Scenario& scenario,
                          const StrategyMemory& strategy) {
  return step_model_of(scenario).memory_advice(point, scenario, strategy);
}

/// Joins the remedies that work: a smaller batch, 16 bit. With neither it says that nothing fits.
std::string ReplicatedStep::memory_advice(const PredictionPoint& point, const Scenario& scenario,
                                          const StrategyMemory& strategy) {
  const MemorySite site = site_of(point, scenario, strategy);
  std::string advice = smaller_batch(point, scenario, site);
  if (const std::string half = sixteen_bits(point, scenario, site); !half.empty())
    advice += (advice.empty() ? "" : "; ") + half;
  if (!advice.empty()) return advice;
  return point.fits() ? "no smaller batch surely fits" : "not even one sample fits";
}

namespace {

/// Returns one sentence for neighbouring numbers of GPUs that lack memory alike: "8 to 64 GPUs: about …".
std::string shortage_text(std::span<const MemoryShortage> alike) {
  const PredictionPoint &first = alike.front().point, &last = alike.back().point;
  const auto less = [](const MemoryShortage& a, const MemoryShortage& b) {
    return a.point.memory.total() < b.point.memory.total();
  };
  const auto [least, most] = std::ranges::minmax_element(alike, less);
  const std::string low = to_string(least->point.memory.total()),
                    high = to_string(most->point.memory.total());
  return fmt::format("{}{} {}: about {}{} are needed per GPU, {} {}: {}", first.gpus,
                     alike.size() > 1 ? fmt::format(" to {}", last.gpus) : "", plural(last.gpus, "GPU"), low,
                     low == high ? "" : " to " + high,
                     first.memory_kind.empty() ? "it has" : fmt::format("that of {} has", first.memory_kind),
                     to_string(first.memory_capacity), alike.front().advice);
}

}  // namespace

std::vector<std::string> memory_warnings(const std::vector<MemoryShortage>& shortages) {
  std::vector<std::string> texts;
  // Points go together if they are neighbours in the table and have the same remedy and kind of node.
  const auto go_together = [](const MemoryShortage& a, const MemoryShortage& b) {
    return a.advice == b.advice && a.place + 1 == b.place && a.point.memory_kind == b.point.memory_kind;
  };
  for (std::size_t begin = 0, end = 1; begin < shortages.size(); begin = end++) {
    while (end < shortages.size() && go_together(shortages[end - 1], shortages[end])) ++end;
    texts.push_back(shortage_text(std::span(shortages).subspan(begin, end - begin)));
  }
  return texts;
}

}  // namespace foretrain

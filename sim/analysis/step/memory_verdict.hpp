// The check that a training fits its GPUs, and advice for one that does not.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Limits the scratch memory of convolutions to what the rest leaves of `capacity`; none where the rest alone
/// does not fit. The training therefore fits exactly when the sum is at most the capacity.
MemoryUse with_scratch_reserve(MemoryUse use, Bytes capacity);

/// Returns the GPU whose memory decides: rank 0's where all nodes are alike, otherwise that of the kind of
/// node with the least memory to spare. The reference is the scenario's.
const Gpu& gpu_of(const PredictionPoint& point, const Scenario& scenario);

/// Fills memory, capacity and largest batch of the point. `strategy` states how the strategy changes what a
/// GPU holds. Requires gpus and batch_per_gpu of the point.
void add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
/// Returns the point's memory class by class and phase by phase. Requires a network that is not cut, and
/// ranks that are alike.
MemoryLedger ledger_of(const PredictionPoint& point, const Scenario& scenario,
                       const StrategyMemory& strategy);

/// Fills the host memory that the ranks of the fullest node use, and that node's capacity.
void add_host_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
/// Fills memory where ranks may be unlike: each kind is computed with its own batch and GPU, and the kind
/// with the least memory to spare is the point's.
void add_memory_of_ranks(PredictionPoint& point, const Scenario& scenario, const SimulatedStep& step);

/// Returns the probability, from 0 to 1, that the training runs in the memory of its GPUs and hosts, without
/// the scratch memory that it can do without. The predicted memory is taken to be off by as much as measured
/// peaks are (memory_reach()).
double chance_of_fitting(const PredictionPoint& point);
/// Returns that probability for bytes that are needed and bytes that a GPU has.
double chance_of_fitting(double needed, double there);

/// Returns the probability that a node's memory holds what is offloaded to it; 1 where nothing is offloaded
/// or the capacity is unknown. It is a factor of chance_of_fitting(point).
double chance_of_host(const PredictionPoint& point);

/// Returns the non-empty parts in words: "masters 26 GB, moments 52 GB, …".
std::string host_memory_parts(const HostMemoryUse& use);

/// Returns one sentence for each problem of the hosts' memory: too small, perhaps too small, or not stated.
std::vector<std::string> host_memory_warnings(const std::vector<PredictionPoint>& points);

/// Between these probabilities a training "may not fit"; below the first it "does not fit".
inline constexpr double kHardlyFits = 0.05, kSurelyFits = 0.95;
/// The answer begins below this probability with the lack of memory.
inline constexpr double kProbablyFits = 0.5;

/// Returns the share of a GPU's memory that a training may need so that it surely fits: the inverse of
/// chance_of_fitting() at kSurelyFits.
double surely_filled_share();

/// Returns "fits", "fits tightly" (without the fastest convolutions' scratch memory) or "does not fit".
std::string memory_verdict(const PredictionPoint& point);

/// Returns the parts that are not empty: "weights 16 GB, gradients 8 GB".
std::string listed_parts(std::initializer_list<std::pair<std::string_view, Bytes>> parts);

/// Returns the parts of the point's memory in words, for the list of decisions.
std::string memory_parts(const MemoryUse& use);

/// Returns a remedy for a point that does not fit: the batch or the precision that would.
std::string memory_advice(const PredictionPoint& point, const Scenario& scenario,
                          const StrategyMemory& strategy);

/// A point that does not fit, with its advice.
struct MemoryShortage {
  /// Index among the listed numbers of GPUs.
  std::size_t place = 0;
  PredictionPoint point;
  std::string advice;
};

/// Returns one warning for each run of neighbours in the list with the same advice: "1 to 4 GPUs: about 430
/// to 467 GB are needed per GPU, …".
std::vector<std::string> memory_warnings(const std::vector<MemoryShortage>& shortages);

/// Returns the warning for a point that fits tightly.
std::string tightness_warning(const PredictionPoint& point);

}  // namespace foretrain

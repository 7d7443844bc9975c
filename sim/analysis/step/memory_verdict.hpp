// Whether a training fits its GPUs, and what would help.
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

/// What a training uses on a GPU of so much memory: convolutions take the scratch memory that is left, none
/// where the rest alone does not fit. So it fits exactly when the sum is no more than the capacity.
MemoryUse with_scratch_reserve(MemoryUse use, Bytes capacity);

/// Whose memory decides; where all nodes are alike, that of rank 0.
const Gpu& gpu_of(const PredictionPoint& point, const Scenario& scenario);

/// Memory, capacity and largest batch of the point. `strategy`: how it changes what a GPU holds.
void add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
/// Its memory class by class and phase by phase. Requires a network that is not cut, and ranks that are
/// alike.
MemoryLedger ledger_of(const PredictionPoint& point, const Scenario& scenario,
                       const StrategyMemory& strategy);

/// What the ranks of the fullest node hold in its memory, and how much it has.
void add_host_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
/// The same of ranks that are not alike, each with its own; those with the least to spare are the point's.
void add_memory_of_ranks(PredictionPoint& point, const Scenario& scenario, const SimulatedStep& step);

/// The chance that the training runs in the GPU's memory, 0 to 1, without the scratch memory that it can do
/// without: what is predicted is off by as much as measured peaks are (memory_reach()).
double chance_of_fitting(const PredictionPoint& point);
/// The same of bytes that are needed and that a GPU has.
double chance_of_fitting(double needed, double there);

/// The chance that a node's memory holds what is offloaded to it; 1 where nothing is, or where nobody says
/// how much memory there is. It is part of chance_of_fitting(point).
double chance_of_host(const PredictionPoint& point);

/// "masters 26 GB, moments 52 GB, …".
std::string host_memory_parts(const HostMemoryUse& use);

/// One sentence for each thing to know about the hosts' memory: that they lack it, may lack it, or that the
/// cluster does not state it.
std::vector<std::string> host_memory_warnings(const std::vector<PredictionPoint>& points);

/// Between these chances a training "may not fit"; below the first it "does not fit".
inline constexpr double kHardlyFits = 0.05, kSurelyFits = 0.95;
/// Below this chance the first thing to say is that the memory is not enough.
inline constexpr double kProbablyFits = 0.5;

/// Of the memory that is there, what a training may need so that it surely fits: the inverse of
/// chance_of_fitting() at kSurelyFits.
double surely_filled_share();

/// "fits", "fits tightly", "does not fit".
std::string memory_verdict(const PredictionPoint& point);

/// "weights 16 GB, gradients 8 GB": those that are there.
std::string listed_parts(std::initializer_list<std::pair<std::string_view, Bytes>> parts);

/// The parts of the point's memory for Decisions.
std::string memory_parts(const MemoryUse& use);

/// For a point that does not fit: the batch or the precision that would.
std::string memory_advice(const PredictionPoint& point, const Scenario& scenario,
                          const StrategyMemory& strategy);

/// A point that does not fit, with its advice.
struct MemoryShortage {
  std::size_t place = 0;  ///< among the listed numbers of GPUs
  PredictionPoint point;
  std::string advice;
};

/// One warning for neighbours in the list with the same advice: "1 to 4 GPUs: about 430 to 467 GB are needed
/// per GPU, …".
std::vector<std::string> memory_warnings(const std::vector<MemoryShortage>& shortages);

/// The warning for a point that fits tightly.
std::string tightness_warning(const PredictionPoint& point);

}  // namespace foretrain

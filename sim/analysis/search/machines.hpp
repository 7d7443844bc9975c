// The comparison of machines: one training on several clusters, what each run takes and costs, and which
// machine to use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/analysis/predict.hpp"
#include "sim/base/decisions.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// What times, GPU-hours, costs and energy are of: the run where data set and epochs are given, else one
/// epoch's steps, else the steps of a million samples.
enum class AmountOf : std::uint8_t { run, epoch, million_samples };
/// "run", "epoch", "million_samples": the words of JSON and CSV.
std::string_view name_of(AmountOf amount);

/// What is asked of the machines besides their names.
struct MachinesRequest {
  std::optional<double> deadline_s{};          ///< of the run, without queueing
  std::optional<double> price_per_gpu_hour{};  ///< of every cluster, in any currency
  std::map<std::string, double> prices{};      ///< the same of one cluster, by its name
  bool has_prices() const { return price_per_gpu_hour || !prices.empty(); }
};

/// One cluster and number of GPUs. Where `why_not` says why it cannot run the training, all figures are
/// empty, but for the memory of a point that does not fit.
struct MachineRow {
  std::string cluster, gpu;  ///< names of the catalogs
  int gpus = 1, nodes = 0;
  std::string why_not{};  ///< a sentence without its full stop; empty: it runs
  std::optional<PredictionPoint> point{};
  double time_s = 0;  ///< of MachineComparison::amount
  Interval time{};    ///< the same, 90 %
  double gpu_hours = 0;
  double energy_kwh = 0;         ///< of the GPUs and their share of the nodes; 0: unknown
  std::optional<double> cost{};  ///< none: neither the site nor the request has a price
  std::string cost_unit{};       ///< as the site bills; empty: the currency of the request
  double speed = 0;              ///< over that of the fastest row: 1 or less
  bool runs() const { return why_not.empty(); }
};

/// One training on several clusters: time, cost and whether it meets the deadline.
struct MachineComparison {
  std::string scenario, model, strategy, precision;
  std::string training;  ///< `model`, and how it is fine-tuned (named_with)
  bool strong_scaling = false;
  std::int64_t batch = 0;    ///< of all GPUs with strong scaling, else of each GPU
  std::int64_t samples = 0;  ///< of the data set; 0: unknown
  double epochs = 1;
  AmountOf amount = AmountOf::run;
  std::optional<double> deadline_s{};
  std::vector<MachineRow> rows;  ///< the fastest first; those that cannot run last, in the order asked
  bool counts_cost = false;      ///< every row that runs is priced in one unit; else GPU-hours are compared
  // Places in `rows`; none: no row runs, or none keeps the deadline.
  std::optional<std::size_t> fastest{}, cheapest{};
  std::optional<std::size_t> best{};  ///< keeps the deadline; without one it is fastest and cheapest
  std::string verdict;                ///< sentences
  std::vector<std::string> measured;  ///< of each cluster with measured runs of this training what they are
  std::vector<std::string> assumed;   ///< of each server that is known by its GPU alone what it is
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, Decisions>> decisions;  ///< by cluster
};

/// Opens the training on a cluster with these numbers of GPUs. Throws InputError.
using OpenOnMachine = std::function<Scenario(const std::string& cluster, const std::vector<int>& gpus)>;

/// Predicts the training on each cluster and number of GPUs. A machine that cannot run it is a row with its
/// reason. Throws InputError with every unknown cluster, for a training that none of the clusters can read,
/// and for a deadline of a run whose length is unknown.
MachineComparison compare_machines(const std::vector<std::string>& clusters, const std::vector<int>& gpus,
                                   const OpenOnMachine& open, const MachinesRequest& request,
                                   const Progress& progress = nullptr, const EvidenceUse& evidence = {});

// Which machine to use, from rows with their figures (machine_verdict.cpp).

/// Orders the rows, and sets speeds, places and the verdict. Rows whose times or prices differ by less than
/// two runs of one job (kAlike) are alike: of those alike in one the other decides.
void judge_machines(MachineComparison& comparison);

/// What a row pays, in what the comparison counts: its cost, or GPU-hours.
double price_of(const MachineComparison& comparison, const MachineRow& row);

/// The least chance that a row is faster than a slower one: both are lognormal, and errors that both share,
/// as those of the network's kernels, would only raise it.
double chance_of_faster(const MachineRow& row, const MachineRow& slower);

/// "V100" of v100-pcie-16gb, "RTX 2080TI" of rtx-2080ti.
std::string short_gpu_name(std::string_view gpu);

}  // namespace foretrain

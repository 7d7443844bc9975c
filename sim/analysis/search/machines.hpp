// The comparison of machines: one training on several clusters, the time and cost of each run, and the
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

/// The amount of work that times, GPU-hours, costs and energy refer to: the run where data set and epochs are
/// stated, else the steps of one epoch, else those of a million samples.
enum class AmountOf : std::uint8_t { run, epoch, million_samples };
/// Returns the word of JSON and CSV: "run", "epoch" or "million_samples".
std::string_view name_of(AmountOf amount);

/// The request besides the names of the machines.
struct MachinesRequest {
  /// Time limit of the run in seconds, without queueing.
  std::optional<double> deadline_s{};
  /// Price on every cluster, in any currency.
  std::optional<double> price_per_gpu_hour{};
  /// Prices on single clusters, by name; they replace the common price.
  std::map<std::string, double> prices{};
  bool has_prices() const { return price_per_gpu_hour || !prices.empty(); }
};

/// A cluster with a number of GPUs. A row that cannot run has a reason and no figures, except for the memory
/// of a point that does not fit.
struct MachineRow {
  /// Names of the catalogs.
  std::string cluster, gpu;
  int gpus = 1, nodes = 0;
  /// The reason why it cannot run, without full stop; empty if it runs.
  std::string why_not{};
  std::optional<PredictionPoint> point{};
  /// Seconds for MachineComparison::amount.
  double time_s = 0;
  /// Interval of time_s at 90 %.
  Interval time{};
  double gpu_hours = 0;
  /// Energy of the GPUs and their share of the nodes; 0 if unknown.
  double energy_kwh = 0;
  /// Absent where neither the site nor the request has a price.
  std::optional<double> cost{};
  /// Unit of the site's billing; empty for the currency of the request.
  std::string cost_unit{};
  /// Speed relative to the fastest row, at most 1.
  double speed = 0;
  bool runs() const { return why_not.empty(); }
};

/// The same training on several clusters: time, cost and whether each row keeps the deadline.
struct MachineComparison {
  std::string scenario, model, strategy, precision;
  /// The model with its fine-tuning method (named_with).
  std::string training;
  bool strong_scaling = false;
  /// Samples of all GPUs under strong scaling, else of each GPU.
  std::int64_t batch = 0;
  /// Samples of the data set; 0 if unknown.
  std::int64_t samples = 0;
  double epochs = 1;
  AmountOf amount = AmountOf::run;
  std::optional<double> deadline_s{};
  /// Rows, fastest first; those that cannot run come last, in the order asked.
  std::vector<MachineRow> rows;
  /// True if every row that runs is priced in one unit; otherwise GPU-hours are compared.
  bool counts_cost = false;
  // Indices into `rows`; none where no row runs or none keeps the deadline.
  std::optional<std::size_t> fastest{}, cheapest{};
  /// The row to use: the cheapest that keeps the deadline, or without a deadline the one that is both fastest
  /// and cheapest.
  std::optional<std::size_t> best{};
  /// Verdict in one or more sentences.
  std::string verdict;
  /// Measured runs of this training, a text for each cluster that has any.
  std::vector<std::string> measured;
  /// Assumptions about servers that are known by their GPU alone, a text for each.
  std::vector<std::string> assumed;
  std::vector<std::string> warnings;
  /// Decisions by cluster.
  std::vector<std::pair<std::string, Decisions>> decisions;
};

/// Opens the training on a cluster with these numbers of GPUs. Throws InputError for mistakes.
using OpenOnMachine = std::function<Scenario(const std::string& cluster, const std::vector<int>& gpus)>;

/// Predicts the training on each cluster and number of GPUs. A machine that cannot run it becomes a row with
/// the reason. Throws InputError with all unknown clusters at once, for a training that no cluster can open,
/// and for a deadline of a run whose length is unknown.
MachineComparison compare_machines(const std::vector<std::string>& clusters, const std::vector<int>& gpus,
                                   const OpenOnMachine& open, const MachinesRequest& request,
                                   const Progress& progress = nullptr, const EvidenceUse& evidence = {});

// The choice of the machine, from rows with their figures (machine_verdict.cpp).

/// Orders the rows and sets speeds, indices and the verdict. Rows whose times or prices differ by less than
/// two runs of one job (kAlike) are alike; the other figure then decides.
void judge_machines(MachineComparison& comparison);

/// Returns the price of a row in the comparison's unit: its cost, or GPU-hours.
double price_of(const MachineComparison& comparison, const MachineRow& row);

/// Returns a lower bound of the probability that a row is faster than a slower one. Both times are taken as
/// lognormal and independent; errors that both share, such as those of the network's kernels, would only
/// raise it.
double chance_of_faster(const MachineRow& row, const MachineRow& slower);

/// Returns the short name of a GPU: "V100" of v100-pcie-16gb, "RTX 2080TI" of rtx-2080ti.
std::string short_gpu_name(std::string_view gpu);

}  // namespace foretrain

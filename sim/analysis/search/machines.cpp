// A cluster is predicted once for all numbers of GPUs. Where that fails, each number is predicted by itself,
// so that one impossible number hides no other.
#include "sim/analysis/search/machines.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/analysis/advice/job_resources.hpp"
#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/step/step_model.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/gpu_servers.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

/// Samples of AmountOf::million_samples.
constexpr double kMillionSamples = 1e6;

/// Opens every cluster and throws all mistakes at once.
std::vector<ClusterSpec> open_clusters(const std::vector<std::string>& names) {
  std::vector<ClusterSpec> clusters;
  std::vector<Diagnostic> mistakes;
  for (const std::string& name : names) {
    try {
      clusters.push_back(open_cluster(name));
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return clusters;
}

/// Returns the largest amount of work whose size is known.
AmountOf amount_of(const Scenario& scenario, const MachinesRequest& request) {
  if (scenario.workload.data.samples == 0) return AmountOf::million_samples;
  return scenario.states("run.epochs") || request.deadline_s ? AmountOf::run : AmountOf::epoch;
}

/// Returns the point with a run as long as the comparison's amount. An epoch and a million samples are steps
/// alone, without start-up.
PredictionPoint point_of_amount(PredictionPoint p, AmountOf amount) {
  if (amount == AmountOf::run) return p;
  const double steps = amount == AmountOf::epoch ? static_cast<double>(p.steps_per_epoch)
                                                 : kMillionSamples / (p.samples_per_s * p.step_s);
  p.total_s = steps * p.step_s, p.overhead = {};
  p.total_interval = {steps * p.interval.low_s, steps * p.interval.high_s, p.interval.level};
  return p;
}

/// Returns the cluster's own price of the request, else the common one.
std::optional<double> requested_price(const MachinesRequest& request, const std::string& cluster) {
  const auto own = request.prices.find(cluster);
  return own != request.prices.end() ? std::optional(own->second) : request.price_per_gpu_hour;
}

/// Sets time, GPU-hours and energy, and the cost where the request or the site has a price.
void price_row(MachineRow& row, const Scenario& scenario, AmountOf amount, const MachinesRequest& request) {
  RecommendationRequest price;
  price.price_per_gpu_hour = requested_price(request, row.cluster);
  JobOption job;
  job.point = point_of_amount(*row.point, amount);
  price_job(job, scenario, price);
  row.time_s = job.point.total_s, row.time = job.point.total_interval;
  row.gpu_hours = job.gpu_hours, row.energy_kwh = job.energy_kwh;
  if (!price.price_per_gpu_hour && !is_billed(scenario.cluster.site.billing)) return;
  row.cost = job.cost, row.cost_unit = billing_of(scenario, price).name;
}

/// Units that every centre defines in its own way: the same name on two clusters is not the same money.
constexpr std::array<std::string_view, 3> kUnitsOfOneCentre{"GPU-h", "node-h", "SU"};

/// Returns true if the costs of all rows that run are in one comparable unit.
bool has_common_unit(const std::vector<MachineRow>& rows) {
  const auto first = std::ranges::find_if(rows, &MachineRow::runs);
  if (first == rows.end()) return false;
  const bool is_of_one = std::ranges::find(kUnitsOfOneCentre, first->cost_unit) != kUnitsOfOneCentre.end();
  return std::ranges::all_of(rows, [&](const MachineRow& row) {
    if (!row.runs()) return true;
    return row.cost && row.cost_unit == first->cost_unit && (!is_of_one || row.cluster == first->cluster);
  });
}

std::string memory_shortage(const PredictionPoint& p) {
  return fmt::format("it does not fit into memory: each GPU needs {} and has {}", to_string(p.memory.total()),
                     to_string(p.memory_capacity));
}

constexpr const char* kNoCombinations = "the combinations of [study] are not compared: predict shows them";

/// Collects the rows of all clusters.
class Comparing {
 public:
  Comparing(const OpenOnMachine& open, const MachinesRequest& request, const EvidenceUse& evidence)
      : open_(open), request_(request), evidence_(evidence) {
    out_.deadline_s = request.deadline_s;
  }

  /// Adds the rows of one cluster. If the prediction for all numbers fails, each number is tried by itself; a
  /// single number that fails becomes a row with the reason.
  void add(const std::string& name, const ClusterSpec& cluster, const std::vector<int>& gpus) {
    try {
      add_predicted(name, cluster, gpus);
    } catch (const InputError& error) {
      if (!first_mistake_) first_mistake_ = error;
      // A single number that fails is a row; several are tried one by one.
      if (gpus.size() == 1) return add_impossible(name, cluster, gpus.front(), error.first_message());
      for (const int number : gpus) add(name, cluster, {number});
    }
  }

  /// Completes the comparison; an error that every cluster has is the training's own and is thrown.
  MachineComparison compared() {
    if (!has_opened_ && first_mistake_) throw *first_mistake_;
    if (request_.deadline_s && out_.samples == 0)
      throw InputError("--deadline is of a run, and the size of the data set is unknown",
                       "as in --dataset imagenet --epochs 90");
    out_.counts_cost = has_common_unit(out_.rows);
    add_shared_warnings();
    warn_of_batches();
    judge_machines(out_);
    return std::move(out_);
  }

 private:
  void add_impossible(const std::string& name, const ClusterSpec& cluster, int gpus, std::string why) {
    MachineRow row{.cluster = name, .gpu = cluster.node.gpu.name, .gpus = gpus};
    row.why_not = std::move(why);
    out_.rows.push_back(std::move(row));
  }

  /// Predicts one cluster and adds its points, measured runs, warnings and decisions.
  void add_predicted(const std::string& name, const ClusterSpec& cluster, const std::vector<int>& gpus) {
    const Scenario scenario = open_(name, gpus);
    has_opened_ = true;
    if (out_.model.empty()) take_heading(scenario);
    const Prediction prediction = predict(scenario, nullptr, {.evidence = evidence_});
    for (const PredictionPoint& point : prediction.points) add_point(name, cluster, scenario, point);
    const std::string& measured = prediction.answer.measured;
    if (!measured.empty()) out_.measured.push_back(measured.substr(0, measured.find_last_not_of(" \n") + 1));
    clusters_predicted_ += 1;
    for (const std::string& warning : prediction.warnings)
      if (!warning.starts_with(kBaselineWarning)) warnings_.emplace_back(name, warning);
    if (!scenario.study.axes.empty()) warnings_.emplace_back(name, kNoCombinations);
    if (out_.decisions.empty() || out_.decisions.back().first != name)
      out_.decisions.emplace_back(name, Decisions{});
    out_.decisions.back().second.add(prediction.decisions);
  }

  /// Takes the heading from the first scenario that opens.
  void take_heading(const Scenario& scenario) {
    out_.model = scenario.model.name;
    out_.training = named_with(out_.model, scenario.model.tuning);
    // A scenario that was made from options has a name that contains the first cluster.
    const bool is_of_options = scenario.name == fmt::format("{} on {}", out_.model, scenario.cluster.name);
    out_.scenario = is_of_options ? out_.model : scenario.name;
    out_.strategy = step_model_of(scenario).label(scenario);
    out_.precision = precision_of(scenario);
    out_.strong_scaling = scenario.global_batch.has_value();
    out_.batch = scenario.global_batch.value_or(scenario.workload.batch_per_gpu);
    out_.samples = scenario.workload.data.samples, out_.epochs = scenario.epochs;
    out_.amount = amount_of(scenario, request_);
  }

  /// Adds one row, with the reason why it cannot run, if there is one, or with its price.
  void add_point(const std::string& name, const ClusterSpec& cluster, const Scenario& scenario,
                 const PredictionPoint& point) {
    MachineRow row{.cluster = name, .gpu = cluster.node.gpu.name, .gpus = point.gpus, .nodes = point.nodes};
    row.point = point;
    if (!point.fits())
      row.why_not = memory_shortage(point);
    else if (!is_given(cluster.site, point.gpus, point.nodes))
      row.why_not = fmt::format("no partition gives a job {}", counted(point.gpus, "GPU"));
    else if (out_.amount != AmountOf::million_samples && point.steps_per_epoch == 0)
      row.why_not = "drop_last leaves no full batch in an epoch";
    if (row.runs()) price_row(row, scenario, out_.amount, request_);
    out_.rows.push_back(std::move(row));
  }

  /// Warns that rows on more GPUs train with larger global batches, which makes them other trainings.
  void warn_of_batches() {
    const MachineRow* first = nullptr;
    for (const MachineRow& row : out_.rows) {
      if (!row.runs()) continue;
      if (first == nullptr) first = &row;
      if (row.point->global_batch == first->point->global_batch) continue;
      out_.warnings.emplace_back(
          "rows on more GPUs train with larger global batches: the learning rate has to follow, and very "
          "large "
          "batches need more epochs (--set model.global_batch=N keeps one batch)");
      return;
    }
  }

  /// Adds warnings that all clusters share once, and the others with the cluster's name.
  void add_shared_warnings() {
    for (const auto& [cluster, text] : warnings_) {
      const auto same = [&text = text](const auto& warning) { return warning.second == text; };
      const bool is_shared = std::ranges::count_if(warnings_, same) >= clusters_predicted_;
      std::string line = is_shared || clusters_predicted_ == 1 ? text : fmt::format("{}: {}", cluster, text);
      if (std::ranges::find(out_.warnings, line) == out_.warnings.end())
        out_.warnings.push_back(std::move(line));
    }
  }

  const OpenOnMachine& open_;
  const MachinesRequest& request_;
  const EvidenceUse& evidence_;
  MachineComparison out_;
  bool has_opened_ = false;
  int clusters_predicted_ = 0;
  std::optional<InputError> first_mistake_;
  /// Warnings as pairs of cluster and text.
  std::vector<std::pair<std::string, std::string>> warnings_;
};

}  // namespace

std::string_view name_of(AmountOf amount) {
  static constexpr std::array<std::string_view, 3> kNames{"run", "epoch", "million_samples"};
  return kNames[static_cast<std::size_t>(amount)];
}

MachineComparison compare_machines(const std::vector<std::string>& clusters, const std::vector<int>& gpus,
                                   const OpenOnMachine& open, const MachinesRequest& request,
                                   const Progress& progress, const EvidenceUse& evidence) {
  const std::vector<ClusterSpec> specs = open_clusters(clusters);
  std::vector<std::string> assumed;
  for (const std::string& name : clusters)
    if (name.starts_with(kGpuServer)) assumed.push_back(gpu_server_words(name));
  Comparing comparing(open, request, evidence);
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    comparing.add(clusters[i], specs[i], gpus);
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(clusters.size()));
  }
  MachineComparison out = comparing.compared();
  out.assumed = std::move(assumed);
  return out;
}

}  // namespace foretrain

// Rows of one cluster share its graph and its collectives; the step comes from the same function as every
// prediction's.
#include "sim/analysis/validation/large_model_validation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "sim/analysis/step/parallel_step.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/scenario/uncut_layout.hpp"
#include "sim/strategy/parallel/large_step.hpp"

namespace foretrain {

namespace {

/// Roofline: share of the peak that compute reaches, and bus bandwidths inside nodes and between them
/// (facts of the rows' own sheet).
constexpr double kRooflineShare = 0.5, kInsideRate = 300e9, kBetweenRate = 40e9;
constexpr int kTensorExchanges = 10;

/// A cluster of the catalog with what its rows have in common.
struct RowSite {
  ClusterSpec spec;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<ClusterCollectives> collectives;
  std::string why_not;
};

class RowSites {
 public:
  /// `gpus`: most that any row of it has.
  RowSite& of(const std::string& name, int gpus) {
    const auto [known, is_new] = known_.try_emplace(name);
    RowSite& site = known->second;
    if (!is_new) return site;
    const auto text = open_named(CatalogKind::clusters, name);
    if (!text) {
      site.why_not = fmt::format("the catalog has no cluster {}", name);
      return site;
    }
    site.spec = read_or_throw(*text, read_cluster);
    const int nodes = (gpus + site.spec.node.gpus - 1) / site.spec.node.gpus;
    site.spec.nodes = std::max(site.spec.nodes, nodes);
    if (!check(site.spec).empty()) {
      site.why_not = fmt::format("cluster {} has no network for {} nodes", name, nodes);
      return site;
    }
    site.cluster = std::make_unique<Cluster>(Cluster::build(site.spec, nodes));
    site.collectives = std::make_unique<ClusterCollectives>(*site.cluster);
    return site;
  }

 private:
  std::map<std::string, RowSite> known_;
};

double model_flops(const LargeModelRun& job) {
  return 3 * forward_flops_per_token(job.shape, job.sequence, true) *
         static_cast<double>(job.tokens_per_step());
}

/// Compute at half the peak in slots with a bubble, exchanges of layers and gradients exposed.
double roofline_s(const LargeModelRun& job, const Gpu& gpu) {
  const Degrees& d = job.degrees;
  const auto m = static_cast<double>(job.micro_batches());
  const double compute =
      model_flops(job) / (job.gpus() * kRooflineShare * product_peak(gpu, job.precision).per_second);
  const double width =
      2.0 * static_cast<double>(job.micro_batch * job.sequence / d.context * job.shape.hidden);
  const double rate = d.tensor <= 8 ? kInsideRate : kBetweenRate;
  const double layers = static_cast<double>(job.shape.layers) / d.pipeline;
  const double tensor =
      d.tensor > 1 ? kTensorExchanges * layers * width * (d.tensor - 1) / d.tensor / rate : 0;
  const double slots = (m + d.pipeline - 1) / m;
  const double held = static_cast<double>(parameters_of(job.shape).total) / (d.tensor * d.pipeline);
  const double gradients =
      d.data > 1 ? 2 * 4 * held * (d.data - 1) / d.data / (job.gpus() <= 8 ? kInsideRate : kBetweenRate) : 0;
  return (compute + m * tensor) * slots + gradients;
}

constexpr double kGib = 1024.0 * 1024 * 1024;

void take_step(const SimulatedStep& step, ValidatedLargeModel& out) {
  const auto of = [&](Account account) { return step.breakdown[static_cast<std::size_t>(account)]; };
  out.predicted_s = step.step_s;
  out.compute_s = of(Account::compute);
  out.host_s = of(Account::host);
  out.exchange_s = of(Account::exposed_communication);
}

/// What a layout that cuts nothing comes to as the strategy that it is; false where it is none.
bool predict_uncut(const LargeModelRun& job, const RowSite& site, const DeviceModel& device,
                   ValidatedLargeModel& out) {
  if (!runs_as_strategy(job)) return false;
  const std::optional<Scenario> layout = scenario_of(job, site.spec);
  const std::optional<Scenario> scenario = layout ? as_strategy(*layout, job.gpus()) : std::nullopt;
  if (!scenario) return false;
  const StepSimulator simulator(*scenario, job.gpus());
  const SimulatedStep step = simulator.simulate(job.gpus(), job.micro_batch, device, Reading::accounts);
  take_step(step, out);
  const MemoryUse use =
      memory_use(scenario->workload, {step.memory, job.gpus(), site.spec.node.gpu.architecture});
  out.peak_bytes = static_cast<double>(use.total().count);
  out.predicted_gb = static_cast<double>((use.total() - use.framework).count) / kGib;
  return true;
}

void predict_cut(const LargeModelRun& job, RowSite& site, const DeviceModel& device,
                 ValidatedLargeModel& out) {
  const Placement ranks = place_packed(job.gpus(), site.spec.node.gpus);
  const LargeStep step = simulate_large_step({job, *site.cluster, ranks, device, {}, *site.collectives});
  out.predicted_s = step.step_s;
  out.peak_bytes = step.stages[static_cast<std::size_t>(step.fullest_stage)].memory.total();
  const StageMemory& first = step.stages.front().memory;
  const double room = std::max(0.0, out.capacity_bytes - first.total());
  out.predicted_gb = (first.allocated() + std::min(first.held, room)) / kGib;
  out.compute_s = step.compute_s, out.host_s = step.host_s, out.bubble_s = step.bubble_s;
  out.exchange_s = step.tensor_s + step.context_s + step.expert_s + step.data_s + step.pipeline_s;
}

/// What a job on a site comes to, of whatever row; the row's own columns are left out.
ValidatedLargeModel predicted(const LargeModelRun& job, RowSite& site, const FrameworkVersion& cuda) {
  ValidatedLargeModel out;
  const DeviceModel device = default_device_model(site.spec, cuda);
  out.degrees = job.degrees;
  out.roofline_s = roofline_s(job, site.spec.node.gpu);
  out.mfu_s = model_flops(job) / (job.gpus() * product_peak(site.spec.node.gpu, job.precision).per_second);
  out.capacity_bytes = static_cast<double>(site.spec.node.gpu.capacity().count);
  if (!predict_uncut(job, site, device, out)) predict_cut(job, site, device, out);
  out.spread_case =
      layout_case(site.spec, place_packed(job.gpus(), site.spec.node.gpus), job.precision,
                  StepShares{(out.compute_s + out.bubble_s) / out.predicted_s, out.host_s / out.predicted_s,
                             0, out.exchange_s / out.predicted_s});
  const Reach reach = reach_of(out.spread_case);
  out.low_s = out.predicted_s * std::exp(-reach.below), out.high_s = out.predicted_s * std::exp(reach.above);
  return out;
}

/// All that a row's job and cluster are made of: every column but what was measured, the source and the
/// notes.
std::string question_of(const LargeModelCase& of) {
  const LargeModelMeasurement& r = *of.row;
  std::string text = fmt::format("{} {}", r.nodes, r.gpus);
  for (const auto& number : {r.params, r.layers, r.hidden, r.heads, r.kv_heads, r.ffn, r.vocab, r.seq_len,
                             r.micro_batch, r.global_batch, r.tp, r.pp, r.vpp, r.cp, r.ep, r.dp})
    text += number ? fmt::format(" {}", *number) : " -";
  for (const std::string& word :
       {of.cluster, r.model, r.sharding, r.recompute, r.precision, r.gpu, r.framework})
    text += '\n' + word;
  for (const auto& [key, value] : of.told) text += fmt::format("\n{}={}", key, value);
  return text;
}

/// Predictions by row: copies of a row, and repeated runs, ask for one job.
class PredictedJobs {
 public:
  ValidatedLargeModel of(const LargeModelCase& of, RowSite& site) {
    const auto [known, is_new] = known_.try_emplace(question_of(of));
    if (is_new) known->second = predicted(of.job, site, of.cuda);
    ValidatedLargeModel out = known->second;
    out.row = of.row, out.cluster = of.cluster;
    out.source = of.row->source.substr(0, of.row->source.find('@'));
    const std::string tag = of.row->noted("q");
    out.tag = tag.empty() ? out.source : tag;
    return out;
  }

 private:
  std::map<std::string, ValidatedLargeModel> known_;
};

/// All rows of a model and GPU at the best measured share of the peak among them.
void settle_constant_mfu(std::vector<ValidatedLargeModel>& points) {
  const auto key = [](const ValidatedLargeModel& p) { return p.row->model + p.row->gpu + p.row->precision; };
  std::map<std::string, double> best;
  for (const ValidatedLargeModel& p : points)
    if (p.row->step_s > 0) best[key(p)] = std::max(best[key(p)], p.mfu_s / p.row->step_s);
  for (ValidatedLargeModel& p : points)
    if (const double share = best[key(p)]; share > 0) p.mfu_s /= share;
}

/// Rows that differ in GPUs, nodes and data-parallel ranks alone, and in the batch with them.
std::string series_of(const ValidatedLargeModel& p) {
  const Degrees& d = p.degrees;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", p.source, p.row->model, p.row->precision, p.row->gpu,
                     p.row->sharding, d.tensor, d.pipeline, d.context, d.expert, d.virtual_stages,
                     p.row->micro_batch.value_or(0));
}

/// The row on fewest GPUs of each series scales the others.
void anchor_series(std::vector<ValidatedLargeModel>& points) {
  std::map<std::string, std::vector<ValidatedLargeModel*>> series;
  for (ValidatedLargeModel& p : points)
    if (p.row->step_s > 0) series[series_of(p)].push_back(&p);
  for (auto& [name, rows] : series) {
    const ValidatedLargeModel* anchor =
        *std::ranges::min_element(rows, {}, [](const ValidatedLargeModel* p) { return p->row->gpus; });
    const double scale = anchor->row->step_s / anchor->predicted_s;
    for (ValidatedLargeModel* p : rows) {
      p->is_anchor = p->row->gpus == anchor->row->gpus;
      p->predicted_s *= scale, p->low_s *= scale, p->high_s *= scale;
    }
  }
}

struct LargeModelKey {
  std::string_view name;
  std::string (*value)(const ValidatedLargeModel& p);
};

constexpr LargeModelKey kLargeModelKeys[] = {
    {"class", [](const ValidatedLargeModel& p) { return p.tag; }},
    {"source", [](const ValidatedLargeModel& p) { return p.source; }},
    {"model", [](const ValidatedLargeModel& p) { return p.row->model; }},
    {"gpu", [](const ValidatedLargeModel& p) { return p.row->gpu; }},
    {"gpus", [](const ValidatedLargeModel& p) { return fmt::format("{:>5}", p.row->gpus); }},
    {"tensor", [](const ValidatedLargeModel& p) { return fmt::format("TP {:>2}", p.degrees.tensor); }},
    {"pipeline", [](const ValidatedLargeModel& p) { return fmt::format("PP {:>2}", p.degrees.pipeline); }},
    {"data", [](const ValidatedLargeModel& p) { return fmt::format("DP {:>3}", p.degrees.data); }},
    {"precision",
     [](const ValidatedLargeModel& p) {
       return p.row->precision.empty() ? "precision not told" : p.row->precision;
     }},
    {"framework", [](const ValidatedLargeModel& p) { return p.row->framework; }},
    {"cluster", [](const ValidatedLargeModel& p) { return p.cluster; }},
};

/// Ranks of values, ties shared.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double below = 0, same = 0;
    for (const double other : values) below += other < values[i] ? 1 : 0, same += other == values[i] ? 1 : 0;
    ranks[i] = below + (same + 1) / 2;
  }
  return ranks;
}

double correlation_of(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n,
               mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    ab += (a[i] - mean_a) * (b[i] - mean_b), aa += (a[i] - mean_a) * (a[i] - mean_a),
        bb += (b[i] - mean_b) * (b[i] - mean_b);
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace

LargeModelValidation validate_large_models(const std::vector<LargeModelMeasurement>& rows,
                                           const LargeModelOptions& options, const Progress& progress) {
  LargeModelValidation validation;
  validation.rows = static_cast<int>(rows.size());
  validation.provenance = options.provenance.source.name, validation.anchored = options.anchor;
  const std::vector<LargeModelCase> cases = large_model_cases(rows, options, validation);
  std::map<std::string, int> most;
  for (const LargeModelCase& of : cases) most[of.cluster] = std::max(most[of.cluster], of.row->gpus);
  RowSites sites;
  PredictedJobs jobs;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const LargeModelCase& of = cases[i];
    std::string why = of.why_not;
    RowSite* site = why.empty() ? &sites.of(of.cluster, most[of.cluster]) : nullptr;
    if (site != nullptr) why = site->why_not;
    if (why.empty())
      validation.points.push_back(jobs.of(of, *site));
    else
      validation.skipped.push_back({of.row->line, why});
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(cases.size()));
  }
  settle_constant_mfu(validation.points);
  if (options.anchor) anchor_series(validation.points);
  return validation;
}

const std::vector<std::string>& large_model_keys() {
  static const std::vector<std::string> kNames = names_of_rows(kLargeModelKeys);
  return kNames;
}

std::vector<ErrorGroup> group_large_models(
    const LargeModelValidation& validation, const GroupKeys& keys,
    const std::function<double(const ValidatedLargeModel&)>& predicted) {
  std::map<std::vector<std::string>, std::vector<double>> errors;
  for (const ValidatedLargeModel& p : validation.points) {
    if (p.row->step_s <= 0 || p.is_anchor) continue;
    std::vector<std::string> values;
    for (const std::string& key : keys) values.push_back(find_row(kLargeModelKeys, key)->value(p));
    errors[values].push_back(predicted(p) / p.row->step_s - 1);
  }
  std::vector<ErrorGroup> groups;
  for (auto& [values, all] : errors) {
    ErrorGroup& group = groups.emplace_back();
    group.values = values, group.rows = static_cast<int>(all.size()), group.error = statistics_of(all);
  }
  std::ranges::stable_sort(
      groups, [](const ErrorGroup& a, const ErrorGroup& b) { return a.error.median > b.error.median; });
  return groups;
}

std::vector<LayoutOrder> layout_orders(const LargeModelValidation& validation) {
  constexpr std::size_t kFewest = 3;
  std::map<std::tuple<std::string, std::string, std::string, int>, std::vector<const ValidatedLargeModel*>>
      groups;
  for (const ValidatedLargeModel& p : validation.points)
    if (p.row->step_s > 0 && p.tag != "D")
      groups[{p.source, p.row->model, p.row->precision, p.row->gpus}].push_back(&p);
  std::vector<LayoutOrder> orders;
  for (const auto& [key, rows] : groups) {
    std::set<std::string> layouts;
    std::vector<double> measured, predicted;
    const double tokens = static_cast<double>(rows.front()->row->global_batch.value_or(1));
    for (const ValidatedLargeModel* p : rows) {
      const double per_sample = tokens / static_cast<double>(p->row->global_batch.value_or(1));
      measured.push_back(p->row->step_s * per_sample), predicted.push_back(p->predicted_s * per_sample);
      layouts.insert(
          fmt::format("{} {} {}", to_string(p->degrees), p->row->micro_batch.value_or(0), p->row->sharding));
    }
    if (layouts.size() < kFewest) continue;
    const auto first = static_cast<std::size_t>(std::ranges::min_element(predicted) - predicted.begin());
    orders.push_back({std::get<1>(key), std::get<3>(key), static_cast<int>(layouts.size()),
                      correlation_of(ranks_of(measured), ranks_of(predicted)),
                      measured[first] / std::ranges::min(measured) - 1});
  }
  return orders;
}

MemoryScore memory_score(const LargeModelValidation& validation) {
  MemoryScore score;
  std::vector<double> errors;
  for (const ValidatedLargeModel& p : validation.points) {
    const bool fits = p.peak_bytes <= p.capacity_bytes;
    if (p.row->step_s > 0 && p.row->fits.value_or(true)) ++score.ran, score.ran_refused += fits ? 0 : 1;
    if (p.row->memory_gb > 0) errors.push_back(p.predicted_gb / p.row->memory_gb - 1), ++score.rows;
    if (p.row->memory_gb > 0 && p.row->fits.value_or(true)) ++score.fits, score.fits_right += fits ? 1 : 0;
    if (p.row->fits == false && p.tag == "oom-likely") ++score.fails, score.fails_right += fits ? 0 : 1;
  }
  score.error = statistics_of(errors);
  return score;
}

}  // namespace foretrain

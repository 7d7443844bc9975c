// Rows whose clusters have a constant of one name with one value share it, as the program's own tables do. A
// held-out unit must not determine its own constants, so each constant is expected near the values that other
// machines have.
#include "sim/analysis/validation/held_out_fit.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain {

namespace {

/// Move of a constant for its slope: far enough that rounding to picoseconds does not count, near enough for
/// a straight line.
constexpr double kTrial = 0.05;
/// Factor on the spread of a constant without neighbours: rows decide it, because no other value indicates
/// it.
constexpr double kLonely = 3;

/// Returns the distance of two values in the constant's own scale: logarithm, or steps.
double distance(const TrialConstant& trial, double from, double to) {
  return trial.step > 0 ? (to - from) / trial.step : std::log(to / from);
}

}  // namespace

std::vector<double> trial_residuals(const std::vector<HeldOutRow>& rows,
                                    const std::map<int, double>& by_line) {
  std::vector<double> out;
  for (const HeldOutRow& row : rows) {
    const auto found = by_line.find(row.line);
    out.push_back(found == by_line.end() ? row.residual : found->second);
  }
  return out;
}

HeldOutFit::HeldOutFit(std::vector<HeldOutRow> rows, std::vector<TrialConstant> trials,
                       const ResidualsWith& residuals, const Progress& progress)
    : rows_(std::move(rows)), trials_(std::move(trials)) {
  for (const HeldOutRow& row : rows_) problem_.residuals.push_back(row.residual);
  for (std::size_t t = 0; t < trials_.size(); ++t) {
    if (progress) progress(static_cast<double>(t) / static_cast<double>(trials_.size()));
    add_slopes(t,
               residuals([&](ClusterSpec cluster) { return moved(std::move(cluster), trials_[t], kTrial); }));
  }
  add_priors();
}

std::size_t HeldOutFit::shared_of(std::size_t trial, const ClusterSpec& cluster) {
  const TrialConstant& constant = trials_[trial];
  const std::string name = constant.name(cluster, constant.family);
  // An index past the end stands for no constant.
  if (name.empty()) return shared_.size();
  const double value = constant.value(cluster, constant.family);
  if (constant.step == 0 && !(value > 0)) return shared_.size();
  const std::string group = constant.group(cluster);
  for (std::size_t i = 0; i < shared_.size(); ++i)
    if (shared_[i].trial == trial && shared_[i].group == group && shared_[i].value == value) return i;
  shared_.push_back({trial, group, value});
  SharedConstant& out = problem_.constants.emplace_back();
  out.name = name, out.slope.assign(rows_.size(), 0);
  out.is_stepped = constant.step > 0;
  return shared_.size() - 1;
}

void HeldOutFit::add_slopes(std::size_t trial, const std::vector<double>& up) {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const double slope = (up[row] - rows_[row].residual) / kTrial;
    // Rows that do not follow the constant create no shared value.
    if (slope == 0) continue;
    const std::size_t i = shared_of(trial, *rows_[row].cluster);
    if (i < shared_.size()) problem_.constants[i].slope[row] = slope;
  }
}

/// Values of the constant's own group, such as a technology of links, are preferred where there are some.
std::vector<double> HeldOutFit::neighbours_of(std::size_t i) const {
  const TrialConstant& trial = trials_[shared_[i].trial];
  std::vector<double> all, own;
  for (std::size_t k = 0; k < shared_.size(); ++k) {
    if (k == i || trials_[shared_[k].trial].family != trial.family) continue;
    all.push_back(distance(trial, shared_[i].value, shared_[k].value));
    if (shared_[k].group == shared_[i].group) own.push_back(all.back());
  }
  return own.empty() ? all : own;
}

/// Expects each constant at the mean of its neighbours, on which the held-out rows have no influence.
void HeldOutFit::add_priors() {
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const TrialConstant& trial = trials_[shared_[i].trial];
    SharedConstant& constant = problem_.constants[i];
    double sum = 0, squares = 0, others = 0;
    for (const double d : neighbours_of(i)) sum += d, squares += d * d, others += 1;
    const double own = trial.step > 0 ? 1 : trial.range.prior;
    const double mean = others > 0 ? sum / others : 0;
    const double spread = others > 1 ? std::sqrt(std::max(0.0, squares / others - mean * mean)) : 0;
    constant.centre = mean;
    // The spread among neighbours may exceed the table's prior; the wider one applies.
    constant.prior = others > 0 ? std::max(own, spread) : kLonely * own;
    if (trial.step > 0) {
      // A stepped constant must not become negative.
      constant.least = std::max(-5.0, -shared_[i].value / trial.step - 1e-6);
    } else {
      constant.least = std::max(-2.0, std::log(trial.range.least / shared_[i].value));
      constant.most = std::min(2.0, std::log(trial.range.most / shared_[i].value));
    }
    constant.most = std::max(constant.most, constant.least + 1e-6);
  }
}

std::vector<double> HeldOutFit::of_all() const {
  return refitted(problem_, std::vector<bool>(rows_.size(), true));
}

std::vector<double> HeldOutFit::without(const std::string& key) const {
  std::vector<bool> is_seen;
  for (const HeldOutRow& row : rows_) is_seen.push_back(row.key != key);
  return refitted(problem_, is_seen);
}

ClusterSpec HeldOutFit::with(ClusterSpec cluster, const std::vector<double>& x) const {
  const ClusterSpec own = cluster;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const TrialConstant& trial = trials_[shared_[i].trial];
    if (trial.group(own) == shared_[i].group && !trial.name(own, trial.family).empty() &&
        trial.value(own, trial.family) == shared_[i].value)
      cluster = moved(std::move(cluster), trial, x[i]);
  }
  return cluster;
}

}  // namespace foretrain

// Writes the validation of kernels as JSON, with the keys of every validation. A series is one operator on
// one GPU.
//
// Errors are shares: 0.05 is 5 %. A GPU is "seen" when its kernels identified the constants of the model.
#include <cmath>
#include <map>

#include "sim/report/json_value.hpp"
#include "sim/report/validation/validation_catalog.hpp"

namespace foretrain {

namespace {

/// Returns errors by groups, separately for GPUs whose kernels were used for the fit ("seen") and for others.
Json kernel_groups_json(const KernelValidation& validation, const std::vector<GroupKeys>& tables) {
  Json out = Json::array();
  for (const GroupKeys& keys : tables) {
    for (const bool is_seen : {false, true}) {
      for (const ErrorGroup& group : group_kernel_errors(validation, keys, is_seen)) {
        Json by = Json::object();
        for (std::size_t i = 0; i < keys.size(); ++i) by[keys[i]] = group.values[i];
        by["seen"] = is_seen ? "yes" : "no";
        out.push_back({{"by", std::move(by)}, {"rows", group.rows}, {"error", statistics_json(group.error)}});
      }
    }
  }
  return out;
}

/// Returns a series with its points; times are in microseconds.
Json kernel_series_json(const std::vector<const ValidatedKernel*>& kernels) {
  const ValidatedKernel& first = *kernels.front();
  std::vector<double> errors;
  double worst = 0;
  Json points = Json::array();
  for (const ValidatedKernel* kernel : kernels) {
    errors.push_back(kernel->error());
    worst = std::max(worst, std::abs(kernel->error()));
    points.push_back({{"shape", kernel->shape},
                      {"measured", kernel->measured},
                      {"predicted", kernel->predicted},
                      {"error", std::abs(kernel->error())},
                      {"scored", kernel->is_scored}});
  }
  const ErrorStatistics s = statistics_of(std::move(errors));
  return {{"series", std::string(first.op->name) + " on " + first.gpu},
          {"op", first.op->name},
          {"gpu", first.gpu},
          {"seen", first.is_seen},
          {"median", s.median},
          {"p90", s.p90},
          {"worst", worst},
          {"bias", s.bias},
          {"points", std::move(points)}};
}

}  // namespace

// There is no baseline for kernels; the key stays, as every validation has it.
std::string write_kernel_json(const KernelValidation& v, const std::vector<GroupKeys>& groups) {
  Json out{{"schema", "foretrain.validation/1"}, {"kind", "kernels"}, {"rows", v.rows}, {"scored", v.scored}};
  out["skipped"] = Json::array();
  for (const SkippedRow& row : v.skipped) out["skipped"].push_back({{"row", row.row}, {"why", row.why}});
  out["error"] = statistics_json(v.error), out["seen"] = statistics_json(v.seen);
  out["baseline"] = Json::object();
  if (!groups.empty()) out["groups"] = kernel_groups_json(v, groups);
  // Rows are collected by operator and GPU.
  std::map<std::pair<std::string_view, std::string>, std::vector<const ValidatedKernel*>> series;
  for (const ValidatedKernel& kernel : v.kernels) series[{kernel.op->name, kernel.gpu}].push_back(&kernel);
  out["series"] = Json::array();
  for (const auto& [key, kernels] : series) out["series"].push_back(kernel_series_json(kernels));
  return json_text(out);
}

}  // namespace foretrain

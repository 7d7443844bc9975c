// Writes the validation of kernels as tables: one block for GPUs that no kernel constant was fitted to, and
// one for others.
//
// Errors of a GPU whose kernels were used for the fit say little about unknown GPUs, so the two kinds are
// never mixed.
#include <map>

#include <fmt/format.h>

#include "sim/base/decimal.hpp"
#include "sim/report/validation/validation_catalog.hpp"

namespace foretrain {

namespace {

/// Returns a line of error statistics.
std::string kernel_statistics(std::string_view name, int rows, const ErrorStatistics& s) {
  return fmt::format("{:<28} {:>6} rows   median {:>5} %   p90 {:>5} %   bias {:>6} %\n", name, rows,
                     percent(s.median, 1), percent(s.p90, 1), signed_percent(s.bias, 1));
}

/// Returns the table of one list of keys.
std::string kernel_group_lines(const KernelValidation& validation, const GroupKeys& keys, bool is_seen) {
  std::string out =
      fmt::format("\n{:>6} {:>9} {:>9} {:>9}   {}\n", "rows", "median", "p90", "bias", fmt::join(keys, ", "));
  for (const ErrorGroup& group : group_kernel_errors(validation, keys, is_seen))
    out += fmt::format("{:>6} {:>7} % {:>7} % {:>7} %   {}\n", group.rows, percent(group.error.median, 1),
                       percent(group.error.p90, 1), signed_percent(group.error.bias, 1),
                       fmt::join(group.values, ", "));
  return out;
}

/// Returns the tables of one block.
std::string half_lines(const KernelValidation& validation, const std::vector<GroupKeys>& tables,
                       bool is_seen) {
  std::string out = is_seen ? "\nGPUs whose kernels identified the constants\n"
                            : "\nGPUs that no constant of kernels knows\n";
  for (const GroupKeys& keys : tables) out += kernel_group_lines(validation, keys, is_seen);
  return out;
}

/// Returns the skipped rows, counted by reason.
std::string skipped_kernels(const std::vector<SkippedRow>& skipped) {
  std::map<std::string, int> reasons;
  for (const SkippedRow& row : skipped) ++reasons[row.why];
  std::string out = reasons.empty() ? "" : "\nSkipped\n";
  for (const auto& [why, rows] : reasons) out += fmt::format("{:>6} rows: {}\n", rows, why);
  return out;
}

}  // namespace

std::string write_kernel_table(const KernelValidation& v, const std::vector<GroupKeys>& groups) {
  static const std::vector<GroupKeys> kUsual{{"class"}, {"class", "gpu"}, {"op"}, {"size"}};
  const std::vector<GroupKeys>& tables = groups.empty() ? kUsual : groups;
  std::string out = fmt::format("{} rows, {} scored, {} skipped\n", v.rows, v.scored, v.skipped.size());
  out += kernel_statistics("GPUs that no constant knows", v.unseen_rows, v.error);
  out += kernel_statistics("the others", v.seen_rows, v.seen);
  if (v.unseen_rows > 0) out += half_lines(v, tables, false);
  if (v.seen_rows > 0) out += half_lines(v, tables, true);
  return out + skipped_kernels(v.skipped);
}

}  // namespace foretrain

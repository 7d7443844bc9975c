// Reader of the JSON of jobstats -j, and of the same as sacct keeps it in AdminComment ("JS1:" and packed
// JSON):
// {"nodes": {"n1": {"cpus": 8, "total_time": 123.4, "used_memory": 1e9, "gpu_utilization": {"0": 68.1}}},
// "gpus": 1, "total_time": 3600}.
// It holds CPUs, CPU seconds and memory of each node, and mean utilisation and highest memory of each GPU
// (PrincetonUniversity/jobstats, docs/setup/summaries.md).
#include <algorithm>

#include "sim/base/ascii.hpp"
#include "sim/import/accounting/job_sheet.hpp"
#include "sim/import/accounting/readers.hpp"

namespace foretrain {

namespace {

/// Limit of nodes, and of GPUs.
constexpr std::size_t kMostSeenGpus = 100'000;
/// Limit of nesting in the JSON.
constexpr int kDeepestJobstats = 8;

/// Reads a percentage up to 110 as a share of 0..1.
std::optional<double> share_of_summary(const LogJson& percent) {
  const auto value = amount_of(percent);
  return value && *value <= 110 ? std::optional(std::min(*value / 100, 1.0)) : std::nullopt;
}

/// Adds the GPUs of one node. The node holds an object for each quantity, with the numbers of its GPUs as
/// keys.
void add_gpus(const std::string& name, const LogJson& node, std::vector<MeasuredGpu>& gpus) {
  // A summary may lack the utilisation, for example for slices of a GPU; the memory names the GPUs then.
  const LogJson& utilization = at(node, "gpu_utilization");
  const LogJson& any = utilization.is_object() ? utilization : at(node, "gpu_used_memory");
  if (!any.is_object()) return;
  for (const auto& [number, value] : any.items()) {
    if (gpus.size() >= kMostSeenGpus) return;
    MeasuredGpu gpu;
    gpu.node = name.substr(0, 200);
    // A slice of a GPU has a long name instead of a number, and no utilisation; it gets the next free number.
    const bool is_number = number.size() <= 4 && number.find_first_not_of("0123456789") == std::string::npos;
    gpu.index = is_number && !number.empty() ? std::stoi(number) : static_cast<int>(gpus.size());
    gpu.utilization = share_of_summary(at(utilization, number.c_str()));
    gpu.memory_used = amount_of(at(at(node, "gpu_used_memory"), number.c_str()));
    gpu.memory_total = amount_of(at(at(node, "gpu_total_memory"), number.c_str()));
    gpus.push_back(std::move(gpu));
  }
}

/// Returns the sum of a key over all nodes; no value unless each node has it, because a partial sum would
/// mislead.
std::optional<double> sum_over(const LogJson& nodes, const char* key) {
  double sum = 0;
  for (const auto& node : nodes) {
    const auto value = amount_of(at(node, key));
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

}  // namespace

// The bounds keep the conversions to int defined; a value beyond them is ignored.
void read_summary(JobSheet& sheet, FinishedJob& job, const LogJson& summary, const JobCell& cell) {
  const LogJson& nodes = at(summary, "nodes");
  const auto said = [&](std::string_view key) { return JobCell{cell.text, cell.span, key}; };
  if (const auto gpus = amount_of(at(summary, "gpus")); gpus && *gpus <= 1e6)
    sheet.put(job.gpus, static_cast<int>(*gpus), said("gpus"));
  if (const auto run = amount_of(at(summary, "total_time")); run && *run <= 1e9)
    sheet.put(job.elapsed_s, *run, said("total_time"));
  if (!nodes.is_object() || nodes.empty() || nodes.size() > kMostSeenGpus) return;
  sheet.put(job.nodes, static_cast<int>(nodes.size()), said("nodes"));
  if (const auto cpus = sum_over(nodes, "cpus"); cpus && *cpus <= 1e8)
    sheet.put(job.cpus, static_cast<int>(*cpus), said("cpus"));
  // Here total_time is the CPU seconds of a node; at the top level it is the run time.
  if (const auto time = sum_over(nodes, "total_time")) sheet.put(job.cpu_s, *time, said("nodes total_time"));
  if (const auto used = sum_over(nodes, "used_memory"))
    sheet.put(job.memory_used, *used, said("used_memory"));
  if (const auto total = sum_over(nodes, "total_memory"))
    sheet.put(job.memory_asked, *total, said("total_memory"));
  std::vector<MeasuredGpu> gpus;
  for (const auto& [name, node] : nodes.items()) add_gpus(name, node, gpus);
  if (!gpus.empty()) sheet.put(job.measured_gpus, std::move(gpus), said("gpu_utilization"));
}

bool is_jobstats_summary(std::string_view text) {
  const std::string_view body =
      trimmed(text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size())));
  if (body.starts_with("JS1:")) return true;
  return body.starts_with('{') && body.find("\"nodes\"") != std::string_view::npos &&
         body.find("\"total_time\"") != std::string_view::npos;
}

// Such a file names no job: its id stays empty until joined_jobs finds the job it belongs to.
void read_jobstats_summary(const SourceText& source, Diagnostics& diagnostics,
                           std::vector<FinishedJob>& jobs) {
  JobSheet sheet(source, diagnostics, jobs);
  FinishedJob* job = sheet.job("", 1);
  std::string_view body = source.text;
  body.remove_prefix(std::min(body.find_first_not_of(" \t\r\n"), body.size()));
  while (!body.empty() && (body.back() == '\n' || body.back() == '\r' || body.back() == ' '))
    body.remove_suffix(1);
  const JobCell cell{body, {1, 1, 1}, "jobstats"};
  if (body.starts_with("JS1:")) return sheet.admin_comment(*job, cell);
  const LogJson summary = shallow_json(body, kDeepestJobstats);
  if (!summary.is_object())
    return diagnostics.report({1, 1, 1}, "is no whole JSON object, or nested too deep");
  read_summary(sheet, *job, summary, cell);
}

}  // namespace foretrain

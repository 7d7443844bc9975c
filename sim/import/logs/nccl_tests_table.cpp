// Rows become samples once the collective, the ranks and the nodes are known; otherwise every row is skipped
// with what is missing.
#include "sim/import/logs/nccl_tests_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Reason for logs in which every process ran by itself, so that no communication was measured.
constexpr const char* kAlone =
    "a rank is listed twice, so every process ran by itself; nccl-tests needs to be built with MPI=1";

/// Returns the number of ranks by the ratio of the bandwidths: 2 (n - 1) / n for an all-reduce, solved for n.
/// Only rows that can be an all-reduce of floats are used; 0 when the ratio gives no whole number.
int ranks_by_ratio(const NcclTable& table) {
  double best = 2, ratio = 0;
  for (const NcclRow& row : table.rows) {
    if (row.redop.empty() || row.root >= 0 || row.count * 4 != row.size) continue;
    for (const NcclTime& t : row.times) {
      if (t.algbw > best) best = t.algbw, ratio = t.busbw / t.algbw;
    }
  }
  if (ratio < 1.01 || ratio > 1.9) return 0;
  const double ranks = 2 / (2 - ratio);
  return std::abs(ranks - std::round(ranks)) < 0.1 ? static_cast<int>(std::lround(ranks)) : 0;
}

/// The size of the job; 0 stands for unknown.
struct Job {
  int gpus = 0, nodes = 0;
};

/// Returns the size of the job: by the list of devices, else by comments, else by hints, else by the ratio of
/// bandwidths.
Job job_of(const NcclTable& table, const LogHints& hints) {
  if (table.devices.ranks > 0) return {table.devices.ranks, static_cast<int>(table.devices.hosts.size())};
  Job job{table.ranks_said, table.stated_nodes};
  if (job.gpus == 0) job.gpus = hints.gpus;
  if (job.nodes == 0) job.nodes = hints.nodes;
  if (job.gpus == 0) job.gpus = ranks_by_ratio(table);
  if (job.gpus == 1) job.nodes = 1;
  return job;
}

/// Returns the reason why the table cannot be used; empty when it can.
std::string why_unknown(const Job& job, const std::string& op) {
  if (job.gpus < 1) return "the log does not say on how many GPUs it ran; state them";
  if (job.nodes < 1) return "the log does not say on how many nodes it ran; state them";
  return op.empty() ? "neither the text nor the columns say which collective this is; state it" : "";
}

/// Returns the settings that hold for all rows. Processes with several GPUs become launch.processes_per_node.
Settings settings_of(const NcclTable& table, const Job& job) {
  Settings settings;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) settings.emplace_back(key, value);
  };
  set("nccl.algorithm", table.algorithm);
  set("nccl.protocol", table.protocol);
  set("nccl.version", table.version);
  const auto processes = static_cast<int>(table.devices.processes.size());
  const bool is_shared = processes > 0 && processes < job.gpus && processes % job.nodes == 0;
  // Fewer processes than ranks mean that each process drives several GPUs.
  if (is_shared) set("launch.processes_per_node", std::to_string(processes / job.nodes));
  if (is_shared && table.threads > 1) set("nccl_tests.threads", std::to_string(table.threads));
  return settings;
}

/// Returns the reason why one measurement cannot be used; empty when it can.
std::string why_excluded(const NcclRow& row, const NcclTime& time) {
  if (!time.fault.empty()) return time.fault;
  if (row.size <= 0) return "a message of 0 bytes";
  return time.wrong > 0 ? fmt::format("{:.0f} elements of its result were wrong", time.wrong) : "";
}

}  // namespace

std::string nccl_version_of_code(std::int64_t code) {
  // Version 2.9 changed the digits: 2804 is 2.8.4, and 20901 is 2.9.1.
  const std::int64_t base = code >= 10000 ? 10000 : 1000;
  if (code < 1000 || code >= 1'000'000) return "";
  return fmt::format("{}.{}.{}", code / base, code % base / 100, code % 100);
}

void add_table(const NcclTable& table, const LogHints& hints, const std::string& source, SampleSheet& sheet) {
  const Job job = job_of(table, hints);
  // The collective depends on the ranks, as its bandwidth ratio does.
  const std::string op = job.gpus > 0 ? op_of_table(table, job.gpus, hints.op) : "";
  const std::string why = table.devices.is_doubled ? kAlone : why_unknown(job, op);
  const Settings settings = why.empty() ? settings_of(table, job) : Settings{};
  for (const NcclRow& row : table.rows) {
    if (row.times.empty()) sheet.skip(row.line, "the line ends early");
    // Messages of 0 bytes are skipped one by one, whatever else is known.
    const bool is_whole = why.empty() || row.size <= 0;
    if (!is_whole) sheet.skip(row.line, why);
    for (const NcclTime& time : row.times) {
      if (!is_whole) break;
      if (const std::string fault = why_excluded(row, time); !fault.empty()) {
        sheet.skip(row.line, fault);
        if (row.size <= 0) break;
        continue;
      }
      Sample sample{SampleKind::collective,
                    op,
                    job.gpus,
                    job.nodes,
                    row.size,
                    time.time_us,
                    SampleUnit::us,
                    time.spread,
                    row.iterations > 0 ? row.iterations : table.iterations,
                    {},
                    source,
                    row.line};
      sample.settings = {{"type", row.type}};
      if (!row.redop.empty()) sample.settings.emplace_back("redop", row.redop);
      if (row.root >= 0) sample.settings.emplace_back("root", std::to_string(row.root));
      if (time.in_place) sample.settings.emplace_back("in_place", "1");
      sample.settings.insert(sample.settings.end(), settings.begin(), settings.end());
      sheet.add(std::move(sample));
    }
  }
}

}  // namespace foretrain

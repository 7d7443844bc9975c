// Reader of sacct --json: {"jobs": [{"job_id": 123, "state": {"current": ["COMPLETED"]}, "time": {"elapsed":
// 60}, "tres": {…}}]}.
// Numbers are plain or {"set", "infinite", "number"}, and states are texts or lists, by version of Slurm
// (OpenAPI plug-ins v0.0.36 to v0.0.42).
// Time limits are in minutes, requested memory in MiB, used memory in bytes. Times, allocation, use of the
// steps and the comment of jobstats are taken.
#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/job_sheet.hpp"
#include "sim/import/accounting/readers.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Limit of nesting in the JSON.
constexpr int kDeepestSacct = 24;

/// Returns a moment in seconds since 1970 as "2023-11-14T22:13:20Z".
std::string utc_text(double moment) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(moment)));
}

/// Reads one element of "jobs". Use is a property of steps, so it is gathered over them first and given at
/// the end.
class SacctJob {
 public:
  SacctJob(JobSheet& sheet, FinishedJob& job) : sheet_(sheet), job_(job) {}

  void read(const LogJson& in) {
    read_names(in);
    read_state(in);
    read_time(at(in, "time"));
    read_allocation(in);
    for (const LogJson& step : at(in, "steps")) read_step(step);
    if (memory_ > 0) sheet_.put(job_.memory_used, memory_, said("steps.tres.requested"));
    if (gpu_share_ > 0 && job_.gpus && job_.gpus->value > 0)
      sheet_.put(job_.gpu_utilization, std::min(gpu_share_ / 100 / job_.gpus->value, 1.0),
                 said("steps gpuutil"));
    if (gpu_memory_ > 0) sheet_.put(job_.gpu_memory_used, gpu_memory_, said("steps gpumem"));
    const std::string comment = string_of(at(at(in, "comment"), "administrator"));
    sheet_.admin_comment(job_, {comment, {}, "comment.administrator"});
  }

 private:
  /// Returns a cell with a key alone: JSON gives neither text nor line for messages.
  static JobCell said(std::string_view key) { return {"", {}, key}; }
  void text(Known<std::string>& field, const LogJson& value, std::string_view key) {
    const std::string word = string_of(value);
    sheet_.text(field, {word, {}, key});
  }
  /// Keeps a whole number within bounds; all else is ignored without a message.
  void count(Known<int>& field, const LogJson& value, std::string_view key) {
    const auto number = amount_of(value);
    if (number && *number <= 1e8) sheet_.put(field, static_cast<int>(*number), said(key));
  }

  void read_names(const LogJson& in) {
    text(job_.name, at(in, "name"), "name");
    text(job_.cluster, at(in, "cluster"), "cluster");
    text(job_.partition, at(in, "partition"), "partition");
    text(job_.node_list, at(in, "nodes"), "nodes");
  }

  void read_state(const LogJson& in) {
    // Newer versions list several flags; the first one is the state.
    const LogJson& current = at(at(in, "state"), "current");
    const std::string word = string_of(current.is_array() && !current.empty() ? current.front() : current);
    sheet_.state(job_, {word, {}, "state.current"});
    count(job_.exit_code, at(at(in, "exit_code"), "return_code"), "exit_code");
    const LogJson& signal = at(at(in, "exit_code"), "signal");
    // The number of the signal is in "id" or, in older versions, in "signal_id".
    count(job_.signal, at(signal, "id").is_null() ? at(signal, "signal_id") : at(signal, "id"), "exit_code");
  }

  void read_time(const LogJson& time) {
    if (const auto elapsed = amount_of(at(time, "elapsed")); elapsed && *elapsed <= 1e9)
      sheet_.put(job_.elapsed_s, *elapsed, said("time.elapsed"));
    const LogJson& limit = at(time, "limit");
    // A limit of 0 seconds stands for "unlimited" in FinishedJob.
    const LogJson& infinite = at(limit, "infinite");
    if (infinite.is_boolean() && infinite.get<bool>())
      sheet_.put(job_.limit_s, 0.0, said("time.limit"));
    else if (const auto minutes = amount_of(limit); minutes && *minutes <= 1e7)
      sheet_.put(job_.limit_s, *minutes * 60, said("time.limit"));
    // A total of 0 means that the steps were not accounted.
    const LogJson& total = at(time, "total");
    const auto whole = amount_of(at(total, "seconds")), rest = amount_of(at(total, "microseconds"));
    if (whole && *whole + rest.value_or(0) > 0)
      sheet_.put(job_.cpu_s, *whole + rest.value_or(0) * 1e-6, said("time.total"));
    for (const auto& [field, key] : {std::pair{&job_.start, "start"}, {&job_.end, "end"}}) {
      const auto moment = amount_of(at(time, key));
      if (moment && *moment > 0 && *moment < 1e11) sheet_.put(*field, utc_text(*moment), said(key));
    }
  }

  /// Reads what the job was given, as a list of {"type": "gres", "name": "gpu:a100", "count": 4}.
  /// GPUs may be listed in total and by type; either is enough. Without a list, older keys give nodes and
  /// CPUs.
  void read_allocation(const LogJson& in) {
    int typed = 0;
    for (const LogJson& part : at(at(in, "tres"), "allocated")) {
      const std::string type = string_of(at(part, "type")), name = string_of(at(part, "name"));
      const LogJson& amount = at(part, "count");
      if (type == "cpu") count(job_.cpus, amount, "tres.allocated");
      if (type == "node") count(job_.nodes, amount, "tres.allocated");
      if (type == "mem" && amount_of(amount).value_or(0) > 0)
        sheet_.put(job_.memory_asked, *amount_of(amount) * (1 << 20), said("tres.allocated"));
      if (type == "gres" && name == "gpu") count(job_.gpus, amount, "tres.allocated");
      if (type == "gres" && name.starts_with("gpu:")) {
        text(job_.gpu_type, LogJson(name.substr(4)), "tres.allocated");
        typed = std::min(typed + static_cast<int>(std::min(amount_of(amount).value_or(0), 1e6)), 100'000'000);
      }
    }
    if (typed > 0) sheet_.put(job_.gpus, typed, said("tres.allocated"));
    count(job_.nodes, at(in, "allocation_nodes"), "allocation_nodes");
    count(job_.cpus, at(at(in, "required"), "CPUs"), "required.CPUs");
  }

  /// Returns the amount of one resource in a list of resources; 0 when it is not listed.
  static double used(const LogJson& list, std::string_view type, std::string_view name) {
    for (const LogJson& part : list) {
      if (string_of(at(part, "type")) == type && string_of(at(part, "name")) == name)
        return amount_of(at(part, "count")).value_or(0);
    }
    return 0;
  }

  /// Keeps the step that used most, as seff does. Where a total is missing, it is estimated as tasks times
  /// the largest or mean task.
  void read_step(const LogJson& step) {
    const LogJson& asked = at(at(step, "tres"), "requested");
    const double tasks = std::clamp(amount_of(at(at(step, "tasks"), "count")).value_or(1), 1.0, 1e6);
    const double total = used(at(asked, "total"), "mem", "");
    memory_ = std::max(memory_, total > 0 ? total : tasks * used(at(asked, "max"), "mem", ""));
    const double share = used(at(asked, "total"), "gres", "gpuutil");
    gpu_share_ =
        std::max(gpu_share_, share > 0 ? share : tasks * used(at(asked, "average"), "gres", "gpuutil"));
    gpu_memory_ = std::max(gpu_memory_, used(at(asked, "max"), "gres", "gpumem"));
  }

  JobSheet& sheet_;
  FinishedJob& job_;
  /// Highest use of any step: host memory in bytes, sum of utilisations of its GPUs in percent, memory of one
  /// GPU in bytes.
  double memory_ = 0, gpu_share_ = 0, gpu_memory_ = 0;
};

/// Returns "123", or "123_4" for a task of an array; empty when the job has no id.
std::string id_of(const LogJson& in) {
  const auto array = amount_of(at(at(in, "array"), "job_id")),
             task = amount_of(at(at(in, "array"), "task_id"));
  if (array && *array > 0 && task) return fmt::format("{:.0f}_{:.0f}", *array, *task);
  const auto id = amount_of(at(in, "job_id"));
  return id ? fmt::format("{:.0f}", *id) : "";
}

}  // namespace

// A byte-order mark may stand before the first brace.
bool is_sacct_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && text[first] == '{' && holds(text, "\"jobs\"") &&
         holds(text, "\"job_id\"");
}

void read_sacct_json(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs) {
  const LogJson root = shallow_json(source.text, kDeepestSacct);
  if (!root.is_object() || !at(root, "jobs").is_array())
    return diagnostics.report({1, 1, 1}, "is no whole JSON of sacct, or nested too deep",
                              "as sacct --json -j JOBID prints it");
  JobSheet sheet(source, diagnostics, jobs);
  for (const LogJson& one : at(root, "jobs")) {
    if (!one.is_object()) continue;
    FinishedJob* job = sheet.job(id_of(one), 1);
    if (job == nullptr) return;
    SacctJob(sheet, *job).read(one);
  }
}

}  // namespace foretrain

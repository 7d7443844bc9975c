// sacct --json: numbers are plain or {"set", "infinite", "number"} by version of Slurm, states and
// identifiers texts or lists; limits are in minutes, memory asked for in MiB, memory used in bytes (Slurm's
// OpenAPI plug-ins v0.0.36 to v0.0.42).
#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/job_sheet.hpp"
#include "sim/import/accounting/readers.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

constexpr int kDeepestSacct = 24;

/// "2023-11-14T22:13:20Z" of seconds since 1970.
std::string utc_text(double moment) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(moment)));
}

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
  static JobCell said(std::string_view key) { return {"", {}, key}; }
  void text(Known<std::string>& field, const LogJson& value, std::string_view key) {
    const std::string word = string_of(value);
    sheet_.text(field, {word, {}, key});
  }
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
    const LogJson& current = at(at(in, "state"), "current");
    const std::string word = string_of(current.is_array() && !current.empty() ? current.front() : current);
    sheet_.state(job_, {word, {}, "state.current"});
    count(job_.exit_code, at(at(in, "exit_code"), "return_code"), "exit_code");
    const LogJson& signal = at(at(in, "exit_code"), "signal");
    count(job_.signal, at(signal, "id").is_null() ? at(signal, "signal_id") : at(signal, "id"), "exit_code");
  }

  void read_time(const LogJson& time) {
    if (const auto elapsed = amount_of(at(time, "elapsed")); elapsed && *elapsed <= 1e9)
      sheet_.put(job_.elapsed_s, *elapsed, said("time.elapsed"));
    const LogJson& limit = at(time, "limit");
    const LogJson& infinite = at(limit, "infinite");
    if (infinite.is_boolean() && infinite.get<bool>())
      sheet_.put(job_.limit_s, 0.0, said("time.limit"));
    else if (const auto minutes = amount_of(limit); minutes && *minutes <= 1e7)
      sheet_.put(job_.limit_s, *minutes * 60, said("time.limit"));
    const LogJson& total = at(time, "total");
    const auto whole = amount_of(at(total, "seconds")), rest = amount_of(at(total, "microseconds"));
    if (whole && *whole + rest.value_or(0) > 0)
      sheet_.put(job_.cpu_s, *whole + rest.value_or(0) * 1e-6, said("time.total"));
    for (const auto& [field, key] : {std::pair{&job_.start, "start"}, {&job_.end, "end"}}) {
      const auto moment = amount_of(at(time, key));
      if (moment && *moment > 0 && *moment < 1e11) sheet_.put(*field, utc_text(*moment), said(key));
    }
  }

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

  /// What a list of resources says of one; 0 where it says nothing.
  static double used(const LogJson& list, std::string_view type, std::string_view name) {
    for (const LogJson& part : list) {
      if (string_of(at(part, "type")) == type && string_of(at(part, "name")) == name)
        return amount_of(at(part, "count")).value_or(0);
    }
    return 0;
  }

  /// The step that used most counts, as in seff: the largest task, times tasks where the sum is not told.
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
  double memory_ = 0, gpu_share_ = 0, gpu_memory_ = 0;
};

/// "123", or of a job of an array "123_4".
std::string id_of(const LogJson& in) {
  const auto array = amount_of(at(at(in, "array"), "job_id")),
             task = amount_of(at(at(in, "array"), "task_id"));
  if (array && *array > 0 && task) return fmt::format("{:.0f}_{:.0f}", *array, *task);
  const auto id = amount_of(at(in, "job_id"));
  return id ? fmt::format("{:.0f}", *id) : "";
}

}  // namespace

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

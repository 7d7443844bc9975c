// Writes what was read from a job script. Table and JSON are made from the same rows.
//
// A place is a line of the script, or FILE:LINE when the launch line is in another file. "By rule" means that
// the value follows from others by a rule of the batch system.
#include "sim/report/prediction/job_listing.hpp"

#include <functional>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/prediction/settings_listing.hpp"

namespace foretrain {

namespace {

// A field of the script for both formats. A field that is not `known` is left out of the table and null in
// JSON.
struct Row {
  std::string key, label, text;
  Json value;
  int line = 0;
  bool known = false;
  // True when the line number refers to the file with the launch line.
  bool of_launch = false;
};

/// Returns memory in GiB, as users request it.
std::string memory_text(const MemoryRequest& memory) {
  return memory.whole_node ? "all of the node"
                           : fmt::format("{:.6g} GiB", static_cast<double>(memory.bytes.count) / (1 << 30));
}

/// Returns a duration as Slurm writes it; 0 means unlimited.
std::string duration_text(std::int64_t seconds) {
  return seconds == 0 ? "unlimited" : slurm_time_text(seconds);
}

// Collects rows.
class RowList {
 public:
  /// Adds a field of any type, with the functions that write it as text and as JSON.
  template <class T>
  void add(std::string key, std::string label, const Field<T>& field,
           const std::function<std::string(const T&)>& text, const std::function<Json(const T&)>& json) {
    if (!field) return rows_.push_back({std::move(key), std::move(label), "", nullptr, 0, false, of_launch_});
    rows_.push_back({std::move(key), std::move(label), text(field->value), json(field->value),
                     field->span.line, true, of_launch_});
  }
  void add(std::string key, std::string label, const Field<int>& field) {
    add<int>(
        std::move(key), std::move(label), field, [](int value) { return std::to_string(value); },
        [](int value) { return Json(value); });
  }
  void add(std::string key, std::string label, const Field<std::string>& field) {
    add<std::string>(
        std::move(key), std::move(label), field, [](const std::string& value) { return value; },
        [](const std::string& value) { return Json(value); });
  }
  /// Marks that later rows are about the launch line.
  void begin_launch() { of_launch_ = true; }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  std::vector<Row> rows_;
  bool of_launch_ = false;
};

/// Joins several values of a field. The place is that of the last one, which counts when they exclude each
/// other.
Field<std::string> joined(const std::vector<Found<std::string>>& parts) {
  Field<std::string> out;
  for (const Found<std::string>& part : parts)
    out = out ? Found<std::string>{out->value + "; " + part.value, out->span} : part;
  return out;
}

/// Returns all fields. Their keys are those of the JSON report and are never renamed.
std::vector<Row> rows_of(const JobScript& script) {
  RowList rows;
  const JobResources& have = script.resources;
  const JobRequest& asked = script.request;
  rows.add("nodes", "nodes", have.nodes);
  rows.add("gpus", "GPUs", have.gpus);
  rows.add("gpus_per_node", "GPUs per node", have.gpus_per_node);
  rows.add("gpu_type", "GPU type", asked.gpu_type);
  rows.add("tasks", "tasks", have.tasks);
  rows.add("tasks_per_node", "tasks per node", have.tasks_per_node);
  rows.add("cpus_per_task", "CPUs per task", have.cpus_per_task);
  rows.add("cpus_per_node", "CPUs per node", have.cpus_per_node);
  rows.add<MemoryRequest>(
      "memory_per_node_bytes", "memory per node", have.memory_per_node, memory_text,
      [](const MemoryRequest& memory) { return memory.whole_node ? Json("all") : Json(memory.bytes.count); });
  rows.add<MemoryRequest>(
      "shared_memory_bytes", "/dev/shm", asked.shared_memory, memory_text,
      [](const MemoryRequest& memory) { return memory.whole_node ? Json("all") : Json(memory.bytes.count); });
  rows.add<std::int64_t>("time_limit_s", "time limit", asked.seconds, duration_text,
                         [](std::int64_t value) { return Json(value); });
  rows.add("partition", "partition", asked.partition);
  rows.add("constraints", "constraints", joined(asked.constraints));
  rows.add("requirements", "requirements", joined(asked.requirements));
  rows.add("account", "account", asked.account);
  rows.add("jobs", "jobs", asked.array);
  rows.begin_launch();
  rows.add<StartedBy>(
      "launcher", "launcher", script.launch.started_by,
      [](StartedBy starter) { return std::string(name_of(starter)); },
      [](StartedBy starter) { return Json(name_of(starter)); });
  rows.add("processes_per_node", "processes per node", script.launch.processes_per_node);
  rows.add("program", "program", script.launch.program);
  return rows.take();
}

/// Returns the place of a value. A value that follows from others by a rule of the batch system stands in no
/// line.
std::string place_of_row(const JobScript& script, const Row& row) {
  if (row.line == 0) return "by rule";
  const bool elsewhere = row.of_launch && !script.launch.file.empty();
  return elsewhere ? fmt::format("{}:{}", printable(script.launch.file), row.line)
                   : fmt::format("line {}", row.line);
}

}  // namespace

// Fields, arguments of the program, settings in files, the scenario, mistakes and warnings.
std::string write_job_table(const JobListing& listing) {
  const JobScript& script = listing.script;
  std::string out = fmt::format("{}: {}\n\n", printable(script.file), job_system(script.system).kind);
  for (const Row& row : rows_of(script)) {
    if (row.known)
      out += fmt::format("  {:<19} {:<28} {}\n", row.label, printable(row.text), place_of_row(script, row));
  }
  const std::string before = script.launch.file.empty() ? "line " : printable(script.launch.file) + ":";
  for (const ProgramArgument& argument : script.launch.arguments)
    out += fmt::format("  {:<19} {:<28} {}{}\n", printable(argument.option), printable(argument.value),
                       before, argument.span.line);
  for (const TrainingSettings& settings : listing.settings)
    out +=
        fmt::format("\n{}: {}\n\n{}", printable(settings.file), settings.format, settings_effects(settings));
  if (!listing.cluster.empty())
    out += fmt::format("\nCluster: {}\n\nAs a scenario\n\n{}", listing.cluster, listing.toml);
  if (listing.cluster.empty()) out += "\n" + listing.no_cluster;
  if (!listing.findings.refused.empty()) out += "\n" + format(listing.findings.refused);
  if (!listing.findings.warnings.empty()) out += "\n";
  for (const Diagnostic& warning : listing.findings.warnings) out += "warning: " + one_line(warning) + "\n";
  return out;
}

std::string write_job_json(const JobListing& listing) {
  const JobScript& script = listing.script;
  Json fields = Json::object();
  for (const Row& row : rows_of(script))
    // Each field is null, or an object with value and line.
    fields[row.key] = row.known ? Json{{"value", row.value}, {"line", row.line}} : Json(nullptr);
  Json arguments = Json::array();
  for (const ProgramArgument& argument : script.launch.arguments)
    arguments.push_back({{"means", argument.key},
                         {"option", argument.option},
                         {"value", argument.value},
                         {"line", argument.span.line}});
  Json open = Json::array();
  for (const NotUnderstood& line : script.not_understood)
    open.push_back({{"line", line.span.line}, {"text", line.text}, {"why", line.why}});
  Json out{{"schema", "foretrain.job/1"},
           {"file", script.file},
           {"batch_system", name_of(script.system)},
           {"fields", fields}};
  out["program_arguments"] = arguments;
  Json settings = Json::array();
  for (const TrainingSettings& file : listing.settings) settings.push_back(settings_json(file));
  out["settings"] = settings;
  out["launch_file"] = script.launch.file.empty() ? Json(nullptr) : Json(script.launch.file);
  out["cluster"] = listing.cluster.empty() ? Json(nullptr) : Json(listing.cluster);
  out["scenario"] = listing.toml.empty() ? Json(nullptr) : Json(listing.toml);
  out["not_understood"] = open;
  out["mistakes"] = findings_json(listing.findings.refused, "error");
  out["warnings"] = findings_json(listing.findings.warnings, "warning");
  return json_text(out);
}

}  // namespace foretrain

// Writes explained jobs as text. The evidence comes first: what the files state about the job, with
// predictions beside it, then what follows from that, and what the next job should request.
//
// Readers are users of a cluster and its support staff. Each figure names the file and line where it was
// read, so that a reader can check it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/report/explanation/explanation_reports.hpp"
#include "sim/report/prediction/answer_reports.hpp"

namespace foretrain {

namespace {

/// Returns a value in its unit; "-" when it is unknown.
std::string figure_text(FigureUnit unit, const std::optional<double>& value) {
  if (!value) return "-";
  switch (unit) {
    case FigureUnit::seconds:
      return slurm_time_text(static_cast<std::int64_t>(std::clamp(std::round(*value), 0.0, 1e12)));
    case FigureUnit::share:
      return percent(*value, 0) + " %";
    case FigureUnit::bytes:
      return fmt::format("{:.4g} GiB", *value / (1 << 30));
    case FigureUnit::count:
      break;
  }
  return fmt::format("{:.0f}", *value);
}

/// Returns a word from the files, or another text.
std::string word_or(const Known<std::string>& word, std::string_view otherwise) {
  return word ? printable(word->value) : std::string(otherwise);
}

/// Returns what the job had, such as "4 GPUs (a100) on 1 node, 40 CPUs, partition gpu of mahti".
std::string allocation(const FinishedJob& job) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  if (const auto gpus = gpu_count(job))
    add(counted(*gpus, "GPU") + (job.gpu_type ? fmt::format(" ({})", printable(job.gpu_type->value)) : ""));
  if (job.nodes) add(counted(job.nodes->value, "node"));
  if (job.cpus) add(counted(job.cpus->value, "CPU"));
  if (job.partition) add("partition " + printable(job.partition->value));
  if (job.cluster) add("cluster " + printable(job.cluster->value));
  if (job.node_list) add(printable(shortened(job.node_list->value, 60)));
  return out;
}

/// Returns the lines with id, name, state, allocation and times of the job.
std::string heading(const FinishedJob& job) {
  std::string out = job.id.empty() ? "A job" : "Job " + printable(job.id);
  if (job.name) out += fmt::format(" \"{}\"", printable(shortened(job.name->value, 60)));
  const std::string state = !job.state || job.state->value == JobState::unknown
                                ? word_or(job.state_text, "")
                                : std::string(name_of(job.state->value));
  if (!state.empty()) out += ": " + state;
  const std::string had = allocation(job);
  out += had.empty() ? "\n" : "\n" + had + "\n";
  if (job.start || job.end)
    out += fmt::format("from {} to {}\n", word_or(job.start, "?"), word_or(job.end, "?"));
  return out;
}

/// Returns the table of figures. Columns: name, measured and predicted value, 90 % interval, place where it
/// was read.
std::string figures_table(const JobExplanation& job) {
  // Without a prediction, the second column stays empty.
  const bool predicts = !job.model.empty();
  std::string out = "\n" +
                    without_trailing_spaces(
                        fmt::format("{:<20} {:>14} {:>14}", "", "measured", predicts ? "predicted" : "")) +
                    "\n";
  for (const ComparedFigure& row : job.figures) {
    // Figures that nothing tells are left out.
    if (!row.measured && !row.predicted) continue;
    const std::string interval =
        row.low && row.high
            ? fmt::format("90 %: {} .. {}  ", figure_text(row.unit, row.low), figure_text(row.unit, row.high))
            : "";
    std::string line =
        fmt::format("{:<20} {:>14} {:>14}  {}{}", row.what, figure_text(row.unit, row.measured),
                    row.predicted ? figure_text(row.unit, row.predicted) : "", interval, row.read_at);
    out += without_trailing_spaces(std::move(line)) + "\n";
  }
  return out;
}

/// Returns the table of GPUs with utilization and used memory, for at most 64 of several GPUs.
std::string gpu_table(const FinishedJob& job) {
  constexpr std::size_t most = 64;
  if (!job.measured_gpus || job.measured_gpus->value.size() < 2) return "";
  std::string out = "\n";
  const auto& gpus = job.measured_gpus->value;
  for (std::size_t i = 0; i < std::min(gpus.size(), most); ++i) {
    const MeasuredGpu& gpu = gpus[i];
    const std::string name =
        fmt::format("{}GPU {}", gpu.node.empty() ? "" : printable(shortened(gpu.node, 40)) + " ", gpu.index);
    out += fmt::format("  {:<26} {:>6} {:>12}\n", name, figure_text(FigureUnit::share, gpu.utilization),
                       figure_text(FigureUnit::bytes, gpu.memory_used));
  }
  if (gpus.size() > most) out += fmt::format("  and {} more\n", gpus.size() - most);
  return out;
}

/// Returns the parts of the predicted run: share of the time, and whether GPUs compute during it.
std::string parts_table(const JobExplanation& job) {
  if (job.parts.empty()) return "";
  std::string out = fmt::format("\nWhere the predicted time goes ({} with {} on {}):\n", printable(job.model),
                                printable(job.strategy), printable(job.cluster));
  for (const PartOfRun& part : job.parts) {
    // Shares below 0.05 % would be printed as 0.0 %.
    if (part.share < 0.0005) continue;
    out += fmt::format("  {:<36} {:>5} %  {}\n", part.what, percent(part.share, 1),
                       part.gpu_works ? "GPUs at work" : "GPUs wait");
  }
  return job.answer ? out + labelled("Cause", job.answer->cause) : out;
}

/// Returns findings, requests for the next job, gaps and warnings as sentences.
std::string sentences(const JobExplanation& job) {
  std::string out;
  if (!job.findings.empty()) out += "\nWhat that says\n";
  for (const ExplainedFinding& finding : job.findings)
    out += fmt::format("  - {}{}\n", finding.text,
                       finding.evidence == Evidence::predicted ? " (predicted)" : "");
  if (!job.next.empty()) out += "\nThe next job\n";
  for (const NextRequest& next : job.next)
    out += fmt::format("  {:<22} {} ({})\n", next.option, next.why, name_of(next.evidence));
  if (!job.not_known.empty()) out += "\nNot known\n";
  for (const std::string& gap : job.not_known) out += fmt::format("  - {}\n", gap);
  for (const std::string& warning : job.warnings) out += fmt::format("warning: {}\n", warning);
  return out;
}

/// Returns everything about one job.
std::string one_job(const JobExplanation& job) {
  return heading(job.job) + figures_table(job) + gpu_table(job.job) + parts_table(job) + sentences(job);
}

/// Returns a table of jobs from which the user can choose one. Columns behind "limit" are shares of what was
/// requested or had.
std::string many_jobs(const std::vector<JobExplanation>& jobs) {
  std::string out = fmt::format("{:<16} {:<14} {:>5} {:>12} {:>7} {:>7} {:>7} {:>7}  {}\n", "job", "state",
                                "GPUs", "run time", "limit", "GPUs", "CPUs", "memory", "name");
  for (const JobExplanation& one : jobs) {
    const FinishedJob& job = one.job;
    const auto part = [](const Known<double>& used, const Known<double>& all) {
      return used && all && all->value > 0 ? percent(used->value / all->value, 0) + " %" : std::string("-");
    };
    std::string line = fmt::format(
        "{:<16} {:<14} {:>5} {:>12} {:>7} {:>7} {:>7} {:>7}  {}",
        job.id.empty() ? "-" : printable(shortened(job.id, 30)), job.state ? name_of(job.state->value) : "-",
        gpu_count(job) ? std::to_string(*gpu_count(job)) : "-",
        figure_text(FigureUnit::seconds, job.elapsed_s ? std::optional(job.elapsed_s->value) : std::nullopt),
        part(job.elapsed_s, job.limit_s), figure_text(FigureUnit::share, gpu_utilization(job)),
        figure_text(FigureUnit::share, cpu_efficiency(job)), part(job.memory_used, job.memory_asked),
        job.name ? printable(shortened(job.name->value, 40)) : "");
    out += without_trailing_spaces(std::move(line)) + "\n";
  }
  return out + fmt::format("\n{}; --job ID explains one of them.\n",
                           counted(static_cast<std::int64_t>(jobs.size()), "job"));
}

}  // namespace

// Several jobs are listed, so that the user can choose one with --job.
std::string write_explanation_table(const std::vector<JobExplanation>& jobs) {
  return jobs.size() == 1 ? one_job(jobs.front()) : many_jobs(jobs);
}

}  // namespace foretrain

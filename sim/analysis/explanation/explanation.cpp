// Puts the explanation together, and compares the figures.
#include "sim/analysis/explanation/explanation.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// Returns the part of a run that a removed cause stands for. GPUs count as working while they wait for
/// slower ones inside a collective.
PartOfRun part_for(Removable what) {
  switch (what) {
    case Removable::links:
      return {"exposed_communication_s", "exposed communication", 0, 0, true};
    case Removable::host:
      return {"host_s", "waiting for the host", 0, 0, false};
    case Removable::input:
      return {"input_stall_s", "waiting for input", 0, 0, false};
    case Removable::stragglers:
      return {"stragglers_s", "waiting for the slowest GPU", 0, 0, true};
    case Removable::busy_node:
      return {"busy_node_s", "GPUs of a full node", 0, 0, true};
    case Removable::sharing:
      return {"sharing_s", "kernels that share the GPU", 0, 0, true};
    case Removable::optimizer:
      return {"optimizer_s", "optimizer", 0, 0, true};
    default:
      return {"other_s", "copies", 0, 0, true};
  }
}

/// Returns the parts by removal, scaled to `seconds`, the time of all steps.
std::vector<PartOfRun> parts_by_removal(const StepCauses& causes, double seconds) {
  std::vector<PartOfRun> parts{{"compute_s", "kernels of the network", causes.kernels_s, 0, true}};
  for (const CausePart& cause : causes.in_turn) {
    parts.push_back(part_for(cause.what));
    parts.back().seconds = cause.seconds;
  }
  for (PartOfRun& part : parts) part.seconds *= causes.step_s > 0 ? seconds / causes.step_s : 0;
  return parts;
}

double part_of_step(const PredictionPoint& point, Account account) {
  return point.breakdown[static_cast<std::size_t>(account)];
}

/// Returns true for accounts in which the GPU works. "other" is copies of gradients and waiting for the
/// slowest GPU inside collectives.
bool works_in(Account account) { return account != Account::input_stall && account != Account::host; }

/// Returns the number of steps: the total without its overhead, divided by the step.
double steps_in(const PredictedRun& run) {
  const PredictionPoint& p = run.point;
  if (!run.knows_length() || p.step_s <= 0) return 1;
  return std::max(0.0, (p.total_s - p.overhead.total_s()) / p.step_s);
}

/// Returns the share of a step in which the GPU works.
double busy_step_share(const PredictionPoint& point) {
  double busy = 0;
  for (std::size_t i = 0; i < kAccountCount; ++i)
    busy += works_in(static_cast<Account>(i)) ? point.breakdown[i] : 0;
  return point.step_s > 0 ? std::min(1.0, busy / point.step_s) : 0;
}

/// Returns the place in words; empty where none is known.
std::string place_or_none(const std::optional<FigurePlace>& place) { return place ? text_of(*place) : ""; }

/// Returns the place of a figure, if the figure is known.
template <class T>
std::optional<FigurePlace> place_in(const Known<T>& figure) {
  return figure ? std::optional(figure->at) : std::nullopt;
}

/// Returns a figure as a number, if it is known.
template <class T>
std::optional<double> number_in(const Known<T>& figure) {
  return figure ? std::optional(static_cast<double>(figure->value)) : std::nullopt;
}

/// Returns the facts that the files lack, with the tools that would state them.
std::vector<std::string> gaps(const FinishedJob& job, const PredictedRun* run) {
  std::vector<std::string> out;
  if (!gpu_utilization(job))
    out.push_back(
        "how busy the GPUs were: jobstats, gpu-seff or nvidia-smi would say; sacct says it where the "
        "site counts gres/gpuutil (TRESUsageInAve)");
  if (!cpu_efficiency(job)) out.push_back("how busy the CPUs were: seff, or sacct with TotalCPU");
  if (!job.memory_used) out.push_back("how much memory was used: seff, or sacct with MaxRSS");
  if (!job.elapsed_s) out.push_back("how long it ran: sacct with Elapsed");
  if (run != nullptr && !run->knows_length())
    out.push_back("how long the run should take: the scenario does not say data.samples and run.epochs");
  return out;
}

}  // namespace

std::string_view name_of(Evidence evidence) {
  constexpr std::array<std::string_view, 3> names{"measured", "compared", "predicted"};
  return names[static_cast<std::size_t>(evidence)];
}

double predicted_busy_share(const PredictedRun& run) {
  const PredictionPoint& p = run.point;
  const double in_step = busy_step_share(p);
  if (!run.knows_length() || p.total_s <= 0) return in_step;
  // Validation trains nothing, but it is as much a loop of kernels.
  return in_step * std::min(1.0, (steps_in(run) * p.step_s + p.overhead.validation_s) / p.total_s);
}

/// Uses the causes of the answer if it is about these GPUs, otherwise the accounts of the point.
std::vector<PartOfRun> parts_of_run(const PredictedRun& run) {
  const PredictionPoint& p = run.point;
  const double steps = steps_in(run);
  // Causes are known for the answered number of GPUs only.
  const bool has_causes = run.prediction.answer.causes && run.prediction.answer.gpus == p.gpus;
  const auto of = [&](Account account) { return steps * part_of_step(p, account); };
  std::vector<PartOfRun> parts =
      has_causes ? parts_by_removal(*run.prediction.answer.causes, steps * p.step_s)
                 : std::vector<PartOfRun>{
                       {"compute_s", "kernels of the network", of(Account::compute), 0, true},
                       {"optimizer_s", "optimizer", of(Account::optimizer), 0, true},
                       {"exposed_communication_s", "exposed communication",
                        of(Account::exposed_communication), 0, true},
                       {"other_s", "copies, waiting for the slowest GPU", of(Account::other), 0, true},
                       {"input_stall_s", "waiting for input", of(Account::input_stall), 0, false},
                       {"host_s", "waiting for the host", of(Account::host), 0, false}};
  if (run.knows_length()) {
    parts.push_back({"startup_s", "start-up", p.overhead.startup_s, 0, false});
    parts.push_back({"validation_s", "validation", p.overhead.validation_s, 0, true});
    parts.push_back({"loader_restart_s", "loader restarts", p.overhead.loader_restart_s, 0, false});
    parts.push_back({"checkpoint_s", "checkpoints", p.overhead.checkpoint_s, 0, false});
    parts.push_back({"periodic_s", "other periodic work", p.overhead.periodic_s, 0, false});
  }
  double all = 0;
  for (const PartOfRun& part : parts) all += part.seconds;
  for (PartOfRun& part : parts) part.share = all > 0 ? part.seconds / all : 0;
  return parts;
}

/// Lists every figure, also unknown ones, so that a report always has the same rows. Only run time,
/// utilization and GPU memory have a predicted value.
std::vector<ComparedFigure> compared_figures(const FinishedJob& job, const PredictedRun* run) {
  std::vector<ComparedFigure> out;
  const auto add = [&](std::string key, std::string what, FigureUnit unit, std::optional<double> measured,
                       const std::optional<FigurePlace>& place) -> ComparedFigure& {
    out.push_back({std::move(key), std::move(what), unit, measured, {}, {}, {}, place_or_none(place)});
    return out.back();
  };
  ComparedFigure& elapsed =
      add("elapsed_s", "run time", FigureUnit::seconds, number_in(job.elapsed_s), place_in(job.elapsed_s));
  if (run != nullptr && run->knows_length()) {
    elapsed.predicted = run->point.total_s;
    elapsed.low = run->point.total_interval.low_s, elapsed.high = run->point.total_interval.high_s;
  }
  add("limit_s", "time limit", FigureUnit::seconds, number_in(job.limit_s), place_in(job.limit_s));
  // Figures of single GPUs are more precise than a total of the job, so they come first.
  const auto busy_place = job.measured_gpus ? place_in(job.measured_gpus) : place_in(job.gpu_utilization);
  ComparedFigure& busy =
      add("gpu_utilization", "GPUs at work", FigureUnit::share, gpu_utilization(job), busy_place);
  if (run != nullptr) busy.predicted = predicted_busy_share(*run);
  ComparedFigure& gpu_memory =
      add("gpu_memory_bytes", "memory of a GPU", FigureUnit::bytes, gpu_memory_used(job),
          job.measured_gpus ? place_in(job.measured_gpus) : place_in(job.gpu_memory_used));
  if (run != nullptr) gpu_memory.predicted = static_cast<double>(run->point.memory.total().count);
  add("cpu_efficiency", "CPUs at work", FigureUnit::share, cpu_efficiency(job),
      job.cpu_efficiency ? place_in(job.cpu_efficiency) : place_in(job.cpu_s));
  add("memory_used_bytes", "main memory used", FigureUnit::bytes, number_in(job.memory_used),
      place_in(job.memory_used));
  add("memory_asked_bytes", "main memory it had", FigureUnit::bytes, number_in(job.memory_asked),
      place_in(job.memory_asked));
  return out;
}

/// Names of GPUs are abbreviated differently everywhere: "a100" is contained in "a100-sxm4-40gb".
bool is_other_gpu(const FinishedJob& job, const PredictedRun& run) {
  const std::string had = job.gpu_type ? lower_case(job.gpu_type->value) : "";
  return !had.empty() && lower_case(run.gpu_type).find(had) == std::string::npos;
}

/// Most parts work without a prediction; those that need one are skipped.
JobExplanation explain_job(const FinishedJob& job, const PredictedRun* run) {
  JobExplanation out;
  out.job = job;
  out.figures = compared_figures(job, run);
  out.findings = findings_of(job, run);
  out.next = next_requests(job, run);
  out.not_known = gaps(job, run);
  if (run == nullptr) return out;
  out.scenario = run->prediction.scenario, out.model = run->prediction.model;
  out.cluster = run->prediction.cluster, out.strategy = run->prediction.strategy;
  out.parts = parts_of_run(*run);
  out.answer = run->prediction.answer;
  out.warnings = run->prediction.warnings;
  // A warning about another GPU comes first, because it makes all compared figures doubtful.
  if (is_other_gpu(job, *run))
    out.warnings.insert(out.warnings.begin(),
                        fmt::format("the job ran on {}, the prediction is for {}",
                                    printable(job.gpu_type->value), printable(run->gpu_type)));
  return out;
}

}  // namespace foretrain

// The findings about a finished job. One function handles one kind of evidence and adds only sentences that
// its figures support.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/explanation/explanation.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/import/jobs/slurm_values.hpp"

namespace foretrain {

namespace {

/// Returns a duration in Slurm's notation, limited to what it can show.
std::string clock_of(double seconds) {
  return slurm_time_text(static_cast<std::int64_t>(std::clamp(std::round(seconds), 0.0, 1e12)));
}

/// Returns bytes in GiB with three digits.
std::string gib(double bytes) { return fmt::format("{:.3g} GiB", bytes / (1 << 30)); }

/// Reads one job; the order of its calls is the order of the report.
class JobReader {
 public:
  JobReader(const FinishedJob& job, const PredictedRun* run) : job_(job), run_(run) {}

  std::vector<ExplainedFinding> read() {
    read_end();
    read_idle_gpus();
    read_time();
    read_utilization();
    read_spread();
    read_cpus();
    read_gpu_memory();
    read_memory();
    return std::move(found_);
  }

 private:
  /// Adds a finding; a measurement is the usual evidence.
  void say(std::string key, std::string text, Evidence evidence = Evidence::measured) {
    found_.push_back({std::move(key), std::move(text), evidence});
  }
  /// Returns " after 1:02:03", or nothing where the run time is unknown.
  std::string after() const {
    return job_.elapsed_s ? fmt::format(" after {}", clock_of(job_.elapsed_s->value)) : "";
  }
  bool has_limit() const { return job_.limit_s && job_.limit_s->value > 0; }

  /// Adds the finding about how the job ended; the state decides which.
  void read_end() {
    const JobState state = job_.state ? job_.state->value : JobState::unknown;
    switch (state) {
      case JobState::completed:
        return read_completed();
      case JobState::timeout:
        return read_timeout();
      case JobState::out_of_memory:
        return say(
            "out_of_memory",
            fmt::format("It was ended{} because its main memory was used up. That is the node's memory: a "
                        "GPU that runs out of its own ends a job as FAILED, with \"CUDA out of memory\" in "
                        "its log.",
                        after()));
      case JobState::failed:
        return read_failed();
      case JobState::cancelled:
        return say("cancelled", fmt::format("It was cancelled{}.", after()));
      case JobState::node_failure:
        return say("node_failure",
                   fmt::format("A node failed{}: nothing about the job follows from that.", after()));
      case JobState::preempted:
        return say("preempted", fmt::format("Another job took its place{}.", after()));
      case JobState::running:
        return say("running", fmt::format("It still runs{}: all figures are so far.",
                                          job_.elapsed_s ? ", for " + clock_of(job_.elapsed_s->value) : ""));
      case JobState::pending:
        return say("pending", "It has not begun: there is nothing to explain yet.");
      case JobState::unknown:
        break;
    }
    // A state that no rule knows is quoted, so that the user can look it up.
    if (job_.state_text)
      say("unknown_state",
          fmt::format("Its state \"{}\" is none that is known.", printable(job_.state_text->value)));
  }

  /// Compares the run time with the limit where both are known.
  void read_completed() {
    const bool knows = has_limit() && job_.elapsed_s;
    say("completed", knows ? fmt::format("It ended by itself{}, {} % of its time limit of {}.", after(),
                                         percent(job_.elapsed_s->value / job_.limit_s->value, 0),
                                         clock_of(job_.limit_s->value))
                           : fmt::format("It ended by itself{}.", after()));
  }

  /// Compares the run's prediction with the time the job had: too short a limit, or a run slower than
  /// predicted.
  void read_timeout() {
    say("timeout",
        fmt::format(
            "It was stopped at its time limit{}. How far it had come stands in its own log, not in the "
            "accounting.",
            has_limit() ? " of " + clock_of(job_.limit_s->value) : ""));
    if (run_ == nullptr || !run_->knows_length() || !job_.elapsed_s) return;
    const double ran = job_.elapsed_s->value, needs = run_->point.total_s, latest = latest_end_s(run_->point);
    if (needs > ran)
      say("limit_too_short",
          fmt::format("The whole run is predicted to take {}, up to {}: the limit was too short for it.",
                      clock_of(needs), clock_of(latest)),
          Evidence::compared);
    else
      say("slower_than_predicted",
          fmt::format("The whole run is predicted to take {}, up to {}, which is less: it was slower than "
                      "predicted, or did more than the scenario says.",
                      clock_of(needs), clock_of(latest)),
          Evidence::compared);
  }

  /// Signal 9 and exit code 137 usually mean that the node ran out of memory.
  void read_failed() {
    const int signal = job_.signal ? job_.signal->value : 0,
              code = job_.exit_code ? job_.exit_code->value : 0;
    const bool was_killed = signal == 9 || code == 137;
    say("failed", fmt::format("It failed{}{}{}. Its figures are those of a job that did not do its work.",
                              code > 0 ? fmt::format(" with exit code {}", code) : "",
                              signal > 0 ? fmt::format(" by signal {}", signal) : "", after()));
    if (was_killed)
      say("killed",
          "Signal 9 is what a system sends that runs out of memory; the log of the step would say so.");
  }

  /// Tells a program that uses no GPU from one that uses some of them.
  void read_idle_gpus() {
    const std::vector<MeasuredGpu> idle = idle_gpus(job_);
    if (idle.empty()) return;
    const std::size_t all = job_.measured_gpus->value.size();
    if (idle.size() == all) {
      say("no_gpu_used",
          fmt::format("None of its {} did anything: the program did not use {}.",
                      counted(static_cast<std::int64_t>(all), "GPU"), all == 1 ? "it" : "them"));
      return;
    }
    // Eight idle GPUs at most are named; the rest is counted.
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(idle.size(), 8); ++i)
      names += fmt::format("{}{}{}", i == 0 ? "" : ", ",
                           idle[i].node.empty() ? "" : printable(idle[i].node) + " GPU ", idle[i].index);
    say("idle_gpus",
        fmt::format("{} of {} GPUs did nothing ({}{}): no process was started for them, or they were "
                    "hidden from it.",
                    idle.size(), all, names, idle.size() > 8 ? ", …" : ""));
  }

  /// Compares the run time with the interval, and divides the difference into time with GPUs at work and
  /// without.
  void read_time() {
    if (run_ == nullptr || !run_->knows_length() || !job_.elapsed_s || !did_its_work(job_)) return;
    const double ran = job_.elapsed_s->value, predicted = run_->point.total_s;
    const Interval& interval = run_->point.total_interval;
    const std::string range = fmt::format("{} (90 %: {} .. {})", clock_of(predicted),
                                          clock_of(interval.low_s), clock_of(interval.high_s));
    // A run inside the interval confirms the prediction and needs no explanation.
    if (ran >= interval.low_s && ran <= interval.high_s)
      return say(
          "as_predicted",
          fmt::format("Its {} lie within what was predicted, {}{}.", clock_of(ran), range, split_of(ran)),
          Evidence::compared);
    say(ran > predicted ? "longer_than_predicted" : "shorter_than_predicted",
        fmt::format("It took {} {} than the predicted {}{}.", clock_of(std::abs(ran - predicted)),
                    ran > predicted ? "longer" : "less", range, split_of(ran)),
        Evidence::compared);
  }

  /// Returns the clause on the two parts of the difference; empty without a measured utilization.
  std::string split_of(double ran) const {
    const auto busy = gpu_utilization(job_);
    if (!busy) return "";
    const double predicted = run_->point.total_s;
    const double more_busy = *busy * ran - predicted_busy_share(*run_) * predicted;
    const double more_idle = ran - predicted - more_busy;
    return fmt::format(": {} {} with GPUs at work, {} {} without", clock_of(std::abs(more_busy)),
                       more_busy < 0 ? "less" : "more", clock_of(std::abs(more_idle)),
                       more_idle < 0 ? "less" : "more");
  }

  /// Compares utilization with the prediction, or with kLowUtilization where nothing was predicted.
  void read_utilization() {
    const auto busy = gpu_utilization(job_);
    if (!busy || *busy < kIdleShare) return;
    // A low utilization alone is remarkable without a prediction.
    if (run_ == nullptr) {
      if (gpus_waited(job_, run_))
        say("gpus_waited",
            fmt::format("Its GPUs worked {} % of the time. A GPU that waits inside NCCL counts as working, "
                        "so it was not communication: input, host, or phases without training.",
                        percent(*busy, 0)));
      return;
    }
    const double predicted = predicted_busy_share(*run_);
    if (*busy < predicted - kClearGap)
      say("gpus_waited",
          fmt::format(
              "Its GPUs worked {} % of the time, {} % were predicted. Kernels and collectives are not what "
              "it "
              "waited for (a GPU that waits inside NCCL counts as working): input, host, start-up, "
              "or work beside the training steps.",
              percent(*busy, 0), percent(predicted, 0)),
          Evidence::compared);
    else if (*busy > predicted + kClearGap)
      say("gpus_busier",
          fmt::format(
              "Its GPUs worked {} % of the time, {} % were predicted: input and host did not hold it up as "
              "the model expects.",
              percent(*busy, 0), percent(predicted, 0)),
          Evidence::compared);
    else
      say("gpus_as_predicted",
          fmt::format("Its GPUs worked {} % of the time, as predicted ({} %).", percent(*busy, 0),
                      percent(predicted, 0)),
          Evidence::compared);
  }

  /// Reports uneven utilization among the GPUs that worked; idle ones have a finding of their own.
  void read_spread() {
    if (!job_.measured_gpus) return;
    const MeasuredGpu *least = nullptr, *most = nullptr;
    for (const MeasuredGpu& gpu : job_.measured_gpus->value) {
      if (!gpu.utilization || *gpu.utilization < kIdleShare) continue;
      if (least == nullptr || *gpu.utilization < *least->utilization) least = &gpu;
      if (most == nullptr || *gpu.utilization > *most->utilization) most = &gpu;
    }
    // The difference must exceed twice the gap that counts for a whole job, because single GPUs vary more.
    if (least == nullptr || *most->utilization - *least->utilization < 2 * kClearGap) return;
    say("uneven_gpus",
        fmt::format("Its GPUs worked unevenly, {} to {} %: one of them does what is for all (DataParallel), "
                    "or they are several unlike programs.",
                    percent(*least->utilization, 0), percent(*most->utilization, 0)));
  }

  /// Combines CPU and GPU utilization: full cores with waiting GPUs mean the loader, one core for each GPU
  /// means a loader in the training process.
  void read_cpus() {
    const auto efficiency = cpu_efficiency(job_);
    const auto cores = busy_cores(job_);
    if (!efficiency || !cores || !job_.cpus) return;
    const int gpus = std::max(1, gpu_count(job_).value_or(1));
    const std::string said =
        fmt::format("{} of its {} worked on average", decimal(*cores, 1), counted(job_.cpus->value, "CPU"));
    const bool waited = gpus_waited(job_, run_);
    // Full cores are the clearest sign, so they are checked before the other cases.
    if (*efficiency >= kBusyCpus)
      return say("cpus_full",
                 waited ? fmt::format("{}: the loader, or other work of the host, had none left.", said)
                        : fmt::format("{}: there was none to spare.", said));
    // About one busy core for each GPU, with others free, is the pattern of num_workers=0.
    if (waited && *cores <= kOneCorePerGpu * gpus && job_.cpus->value >= 2 * gpus)
      return say(
          "one_core_per_gpu",
          fmt::format("{}, about one for each GPU: samples were prepared in the training process itself "
                      "(num_workers=0), or it waited for storage or start-up.",
                      said));
    if (waited)
      say("cpus_free",
          fmt::format("{}: cores were free, so more of them alone would not help; storage, too few loader "
                      "workers or phases without training would.",
                      said));
    else if (gpu_count(job_) && *efficiency < kLowUtilization && job_.cpus->value > 2 * gpus)
      say("cpus_spare", fmt::format("{}: it could have done with fewer.", said));
  }

  /// Reports spare memory of a GPU, and memory that differs from the prediction by more than a factor of two.
  void read_gpu_memory() {
    const auto used = gpu_memory_used(job_), total = gpu_memory_total(job_);
    if (!used) return;
    const double capacity = total             ? *total
                            : run_ != nullptr ? static_cast<double>(run_->point.memory_capacity.count)
                                              : 0;
    if (capacity > 0 && *used<kSpareMemory * capacity&& * used> 0)
      say("gpu_memory_spare",
          fmt::format(
              "{} of a GPU's {} were used: a larger batch has room, which trains differently, or a smaller "
              "GPU would do.",
              gib(*used), gib(capacity)));
    // The memory has nothing to be compared with if there is no prediction.
    if (run_ == nullptr) return;
    const auto predicted = static_cast<double>(run_->point.memory.total().count);
    // A factor of two exceeds what the framework's own reserve explains.
    if (predicted > 0 && (*used > 2 * predicted || *used < predicted / 2))
      say("gpu_memory_differs",
          fmt::format(
              "A GPU held {}, predicted are {}: its batch, precision or network is not that of the scenario, "
              "or the framework reserves more than it uses.",
              gib(*used), gib(predicted)),
          Evidence::compared);
  }

  /// Reports main memory that was nearly full or mostly unused.
  void read_memory() {
    if (!job_.memory_used || !job_.memory_asked) return;
    const double used = job_.memory_used->value, asked = job_.memory_asked->value;
    if (used > kFullMemory * asked)
      say("memory_full", fmt::format("{} of its {} of main memory were used: there was hardly any left.",
                                     gib(used), gib(asked)));
    else if (used < kSpareMemory * asked)
      say("memory_spare", fmt::format("{} of its {} of main memory were used.", gib(used), gib(asked)));
  }

  const FinishedJob& job_;
  const PredictedRun* run_;
  std::vector<ExplainedFinding> found_;
};

}  // namespace

bool did_its_work(const FinishedJob& job) { return job.state && job.state->value == JobState::completed; }

std::vector<MeasuredGpu> idle_gpus(const FinishedJob& job) {
  std::vector<MeasuredGpu> idle;
  if (!job.measured_gpus) return idle;
  for (const MeasuredGpu& gpu : job.measured_gpus->value) {
    if (gpu.utilization && *gpu.utilization < kIdleShare) idle.push_back(gpu);
  }
  return idle;
}

bool gpus_waited(const FinishedJob& job, const PredictedRun* run) {
  const auto busy = gpu_utilization(job);
  if (!busy) return false;
  return run == nullptr ? *busy < kLowUtilization : *busy < predicted_busy_share(*run) - kClearGap;
}

std::optional<double> busy_cores(const FinishedJob& job) {
  const auto efficiency = cpu_efficiency(job);
  return efficiency && job.cpus ? std::optional(*efficiency * job.cpus->value) : std::nullopt;
}

std::vector<ExplainedFinding> findings_of(const FinishedJob& job, const PredictedRun* run) {
  return JobReader(job, run).read();
}

}  // namespace foretrain

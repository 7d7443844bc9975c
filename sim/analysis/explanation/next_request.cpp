// The next job's request, as Slurm's options. Measurements decide; the prediction is used where nothing was
// measured or the measurement says nothing, as for a job that was stopped.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/advice/job_resources.hpp"
#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/explanation/explanation.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/import/jobs/slurm_values.hpp"

namespace foretrain {

namespace {

/// Requested over used memory: a fifth more, as users of jobstats and seff do.
constexpr double kMemoryMargin = 1.2;
/// Factor after a job that ran out of memory, whose full need is unknown.
constexpr double kMemoryAfterEnd = 1.5;
/// Factor on the run time above which a limit keeps a job waiting in the queue for nothing.
constexpr double kLooseLimit = 1.5;

/// Most loader workers for each GPU that are suggested; more are rare, and this many show whether they help.
constexpr int kMostWorkers = 16;

/// Returns the option for a time limit in seconds.
std::string time_option(double seconds) {
  return "--time=" + slurm_time_text(static_cast<std::int64_t>(seconds));
}

/// Collects the requests of one job.
class NextJob {
 public:
  NextJob(const FinishedJob& job, const PredictedRun* run) : job_(job), run_(run) {}

  std::vector<NextRequest> ask() {
    // A job that has not begun has shown nothing about its needs.
    if (job_.state && job_.state->value == JobState::pending) return {};
    ask_gpus();
    ask_time();
    ask_memory();
    ask_cpus();
    return std::move(requests_);
  }

 private:
  void add(std::string option, std::string why, Evidence evidence = Evidence::measured) {
    requests_.push_back({std::move(option), std::move(why), evidence});
  }
  JobState state() const { return job_.state ? job_.state->value : JobState::unknown; }
  int nodes() const { return job_.nodes ? std::max(1, job_.nodes->value) : 1; }

  /// Requests the GPUs that worked; a single node also has the option to use the others.
  void ask_gpus() {
    const auto idle = idle_gpus(job_).size();
    if (idle == 0) return;
    const auto used = job_.measured_gpus->value.size() - idle;
    if (used == 0) return add("no GPU", "none was used; or have the program use them before it runs again");
    if (nodes() > 1)
      return add(fmt::format("{}", counted(static_cast<std::int64_t>(used), "GPU")),
                 "so many worked; or start a process for each of all of them, on every node");
    // A type with "+" stands for several types, which --gres cannot name.
    const std::string type = job_.gpu_type && job_.gpu_type->value.find('+') == std::string::npos
                                 ? job_.gpu_type->value + ":"
                                 : "";
    add(fmt::format("--gres=gpu:{}{}", type, used),
        fmt::format("so many worked; or start a process for each, as in torchrun --nproc_per_node={}",
                    used + idle));
  }

  /// Takes the measured run where the job did its work, else the predicted one.
  void ask_time() {
    if (did_its_work(job_) && job_.elapsed_s) {
      const double next = time_limit_s(job_.elapsed_s->value);
      // A limit that is long enough and not much too long stays.
      const bool fits =
          job_.limit_s && job_.limit_s->value >= next && job_.limit_s->value <= kLooseLimit * next;
      if (fits) return;
      return add(time_option(next),
                 fmt::format("the {} it took, and a tenth more",
                             slurm_time_text(static_cast<std::int64_t>(job_.elapsed_s->value))));
    }
    if (run_ == nullptr || !run_->knows_length()) return;
    const double next = time_limit_s(latest_end_s(run_->point));
    const double ran = job_.elapsed_s ? job_.elapsed_s->value : 0;
    // A stopped job has shown that it needs more than it had.
    if (state() == JobState::timeout && next <= ran) return;
    add(time_option(next), "the upper end of the predicted run, and a tenth more", Evidence::predicted);
  }

  /// Requests memory by node, because --mem counts so.
  void ask_memory() {
    const auto option = [&](double bytes) {
      return fmt::format("--mem={:.0f}G", std::max(1.0, std::ceil(bytes / nodes() / (1 << 30))));
    };
    const std::string each = nodes() > 1 ? " on each node" : "";
    // A job that ran out of memory has no measured need, so its request grows by half.
    if (state() == JobState::out_of_memory) {
      if (!job_.memory_asked) return;
      return add(
          option(kMemoryAfterEnd * job_.memory_asked->value),
          fmt::format("half as much again{}, as nobody saw what it would have taken; then look again", each));
    }
    if (!job_.memory_used || !job_.memory_asked || !did_its_work(job_)) return;
    const double used = job_.memory_used->value, asked = job_.memory_asked->value;
    const double next = kMemoryMargin * used;
    if (used > kFullMemory * asked || next < kSpareMemory * asked)
      add(option(next), fmt::format("what it used{}, and a fifth more", each));
  }

  /// Requests cores for each process; there is one process for each GPU unless the job states otherwise.
  void ask_cpus() {
    const auto cores = busy_cores(job_);
    const auto efficiency = cpu_efficiency(job_);
    const int gpus = gpu_count(job_).value_or(0);
    if (!cores || !efficiency || gpus < 1) return;
    const int tasks = job_.tasks ? std::max(1, job_.tasks->value) : gpus;
    const int had = std::max(1, job_.cpus->value / tasks);
    // Waiting GPUs with full cores need more cores, up to the node's share.
    if (*efficiency >= kBusyCpus && gpus_waited(job_, run_)) {
      int more = std::min(2 * had, 1'000'000);
      if (run_ != nullptr && run_->cores_per_gpu > 0)
        more = std::min(more, std::max(had, run_->cores_per_gpu * gpus / tasks));
      if (more > had)
        return add(fmt::format("--cpus-per-task={}", more),
                   "all cores worked while GPUs waited; and as many loader workers");
      return add("loader", "it has all cores of its share: cheaper preprocessing, or smaller stored samples");
    }
    // Waiting GPUs with free cores need loader workers, not cores.
    if (gpus_waited(job_, run_) && *cores <= kOneCorePerGpu * gpus && job_.cpus->value >= 2 * gpus)
      return add(fmt::format("num_workers={}", std::clamp(job_.cpus->value / gpus - 1, 1, kMostWorkers)),
                 "of the loader: cores were free while GPUs waited; then look again");
    // Cores that nobody used may be given back, with a margin and one more.
    const int enough = static_cast<int>(std::ceil(*cores * kMemoryMargin / tasks)) + 1;
    if (!gpus_waited(job_, run_) && 2 * enough <= had && did_its_work(job_))
      add(fmt::format("--cpus-per-task={}", enough),
          fmt::format("{} worked for each process", decimal(*cores / tasks, 1)));
  }

  const FinishedJob& job_;
  const PredictedRun* run_;
  std::vector<NextRequest> requests_;
};

}  // namespace

std::vector<NextRequest> next_requests(const FinishedJob& job, const PredictedRun* run) {
  return NextJob(job, run).ask();
}

}  // namespace foretrain

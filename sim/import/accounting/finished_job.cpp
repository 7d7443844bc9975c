// Joining goes figure by figure: the first file that holds a figure counts, and a later file must not
// contradict it.
// Only counts and the run time are compared. Other figures differ legitimately: tools sample and round in
// their own way.
#include "sim/import/accounting/finished_job.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// A state of Slurm in lower case, with its short form.
struct StateName {
  std::string_view name, shorthand;
  JobState state;
};

/// States and short forms of sacct(1), section JOB STATE CODES.
constexpr std::array<StateName, 18> kStateNames{{{"completed", "cd", JobState::completed},
                                                 {"failed", "f", JobState::failed},
                                                 {"boot_fail", "bf", JobState::node_failure},
                                                 {"node_fail", "nf", JobState::node_failure},
                                                 {"timeout", "to", JobState::timeout},
                                                 {"deadline", "dl", JobState::timeout},
                                                 {"out_of_memory", "oom", JobState::out_of_memory},
                                                 {"cancelled", "ca", JobState::cancelled},
                                                 {"revoked", "rv", JobState::cancelled},
                                                 {"preempted", "pr", JobState::preempted},
                                                 {"requeued", "rq", JobState::preempted},
                                                 {"running", "r", JobState::running},
                                                 {"completing", "cg", JobState::running},
                                                 {"suspended", "s", JobState::running},
                                                 {"resizing", "rs", JobState::running},
                                                 {"stopped", "st", JobState::running},
                                                 {"pending", "pd", JobState::pending},
                                                 {"configuring", "cf", JobState::pending}}};

/// Says whether a job in this state will change no more.
bool is_over(JobState state) {
  return state != JobState::running && state != JobState::pending && state != JobState::unknown;
}

/// Says whether two run times agree to within 2 s and 2 %: the clocks of the tools differ by a second or two,
/// and seff rounds.
bool is_about(double a, double b) { return std::abs(a - b) <= 2 + 0.02 * std::max(a, b); }

/// Adds the figures of further files to a job and collects contradictions.
class JobJoiner {
 public:
  JobJoiner(FinishedJob& into, std::vector<Diagnostic>& mistakes) : into_(into), mistakes_(mistakes) {}

  /// Adds the figures that are missing and compares counts.
  /// Run times are compared only when both files saw the same end; a file from a running job is merely older.
  void add(FinishedJob& other) {
    const bool ended_alike =
        into_.state && other.state && into_.state->value == other.state->value && is_over(into_.state->value);
    compare(into_.gpus, other.gpus, "GPUs");
    compare(into_.nodes, other.nodes, "nodes");
    compare(into_.cpus, other.cpus, "CPUs");
    if (ended_alike && into_.elapsed_s && other.elapsed_s &&
        !is_about(into_.elapsed_s->value, other.elapsed_s->value))
      contradict(into_.elapsed_s->at, fmt::format("{:.0f} s", into_.elapsed_s->value), other.elapsed_s->at,
                 fmt::format("{:.0f} s", other.elapsed_s->value));
    take_all(other);
  }

 private:
  /// Reports two figures that contradict each other at the place of the second, up to the limit of
  /// diagnostics.
  void contradict(const FigurePlace& first, const std::string& a, const FigurePlace& second,
                  const std::string& b) {
    if (mistakes_.size() >= Diagnostics::kMostDiagnostics) return;
    mistakes_.push_back({second.file,
                         {second.line, 0, 1},
                         "",
                         fmt::format("{} here, but {} in {}", b, a, text_of(first)),
                         "give the files of one job"});
  }
  void compare(const Known<int>& a, const Known<int>& b, std::string_view what) {
    if (a && b && a->value != b->value)
      contradict(a->at, fmt::format("{} {}", a->value, what), b->at, fmt::format("{} {}", b->value, what));
  }
  /// Moves a figure if none is there; all members of FinishedJob but the id are listed in take_all.
  template <class T>
  static void take(Known<T>& into, Known<T>& other) {
    if (!into && other) into = std::move(other);
  }
  void take_all(FinishedJob& o) {
    FinishedJob& i = into_;
    take(i.name, o.name), take(i.cluster, o.cluster), take(i.partition, o.partition);
    take(i.node_list, o.node_list), take(i.start, o.start), take(i.end, o.end);
    take(i.state_text, o.state_text), take(i.state, o.state);
    take(i.exit_code, o.exit_code), take(i.signal, o.signal);
    take(i.nodes, o.nodes), take(i.gpus, o.gpus), take(i.cpus, o.cpus), take(i.tasks, o.tasks);
    take(i.cpus_per_task, o.cpus_per_task), take(i.gpu_type, o.gpu_type);
    take(i.elapsed_s, o.elapsed_s), take(i.limit_s, o.limit_s);
    take(i.memory_asked, o.memory_asked), take(i.memory_used, o.memory_used);
    take(i.cpu_s, o.cpu_s), take(i.cpu_efficiency, o.cpu_efficiency);
    take(i.gpu_utilization, o.gpu_utilization), take(i.gpu_memory_used, o.gpu_memory_used);
    take(i.measured_gpus, o.measured_gpus);
  }

  FinishedJob& into_;
  std::vector<Diagnostic>& mistakes_;
};

/// Joins the jobs without id, once it is known how many others there are. Throws InputError when there are
/// several.
void join_nameless(std::vector<FinishedJob>& jobs, std::vector<FinishedJob>& nameless,
                   std::vector<Diagnostic>& mistakes) {
  if (nameless.empty()) return;
  if (jobs.size() > 1)
    throw InputError(fmt::format("a file names no job, and the others hold {} of them", jobs.size()),
                     "give it with the files of its own job");
  std::size_t first = 0;
  if (jobs.empty()) jobs.push_back(std::move(nameless[first++]));
  for (; first < nameless.size(); ++first) JobJoiner(jobs[0], mistakes).add(nameless[first]);
}

}  // namespace

std::string_view name_of(JobState state) {
  constexpr std::array<std::string_view, 10> names{"unknown",       "completed", "failed",       "timeout",
                                                   "out of memory", "cancelled", "node failure", "preempted",
                                                   "running",       "pending"};
  return names[static_cast<std::size_t>(state)];
}

JobState job_state(std::string_view text) {
  std::string word = lower_case(trimmed(text.substr(0, 200)));
  word = word.substr(0, word.find_first_of(" ,("));
  // Columns of sacct without -P are ten characters wide, and a cut word ends in "+".
  const bool is_cut = word.ends_with('+');
  if (is_cut) word.pop_back();
  for (const StateName& row : kStateNames) {
    if (row.name == word || row.shorthand == word ||
        (is_cut && word.size() > 4 && row.name.starts_with(word)))
      return row.state;
  }
  return JobState::unknown;
}

std::string text_of(const FigurePlace& place) {
  std::string out = printable(place.file);
  if (place.line > 0) out += fmt::format(":{}", place.line);
  return place.said.empty() ? out : out + fmt::format(" ({})", printable(place.said));
}

std::optional<double> cpu_efficiency(const FinishedJob& job) {
  if (job.cpu_efficiency) return job.cpu_efficiency->value;
  if (!job.cpu_s || !job.cpus || !job.elapsed_s || job.cpus->value < 1 || job.elapsed_s->value <= 0)
    return std::nullopt;
  return job.cpu_s->value / (job.cpus->value * job.elapsed_s->value);
}

std::optional<int> gpu_count(const FinishedJob& job) {
  if (job.gpus) return job.gpus->value;
  return job.measured_gpus ? std::optional(static_cast<int>(job.measured_gpus->value.size())) : std::nullopt;
}

std::optional<double> gpu_utilization(const FinishedJob& job) {
  double sum = 0;
  int seen = 0;
  if (job.measured_gpus) {
    for (const MeasuredGpu& gpu : job.measured_gpus->value) {
      if (gpu.utilization) sum += *gpu.utilization, ++seen;
    }
  }
  // GPUs without a measurement do not count as idle.
  if (seen > 0) return sum / seen;
  return job.gpu_utilization ? std::optional(job.gpu_utilization->value) : std::nullopt;
}

std::optional<double> gpu_memory_used(const FinishedJob& job) {
  std::optional<double> most;
  if (job.measured_gpus) {
    for (const MeasuredGpu& gpu : job.measured_gpus->value) {
      if (gpu.memory_used) most = std::max(most.value_or(0), *gpu.memory_used);
    }
  }
  if (most) return most;
  return job.gpu_memory_used ? std::optional(job.gpu_memory_used->value) : std::nullopt;
}

std::optional<double> gpu_memory_total(const FinishedJob& job) {
  if (!job.measured_gpus) return std::nullopt;
  for (const MeasuredGpu& gpu : job.measured_gpus->value) {
    if (gpu.memory_total) return gpu.memory_total;
  }
  return std::nullopt;
}

std::vector<FinishedJob> joined_jobs(std::vector<FinishedJob> jobs) {
  std::vector<FinishedJob> out, nameless;
  std::map<std::string, std::size_t, std::less<>> places;
  std::vector<Diagnostic> mistakes;
  for (FinishedJob& job : jobs) {
    if (job.id.empty()) {
      nameless.push_back(std::move(job));
      continue;
    }
    const auto [place, is_new] = places.emplace(job.id, out.size());
    // The first file of a job makes the entry, and further files are joined with it.
    if (is_new)
      out.push_back(std::move(job));
    else
      JobJoiner(out[place->second], mistakes).add(job);
  }
  join_nameless(out, nameless, mistakes);
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return out;
}

}  // namespace foretrain

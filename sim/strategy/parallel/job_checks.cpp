// Validity of a run: which numbers have to divide which others. All faults are collected, so that a user can
// correct them together.
#include <fmt/format.h>

#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

namespace {

/// Limit of stages x chunks of a pipeline that is simulated.
constexpr std::int64_t kMostPasses = 200'000;

/// Collects the faults of one run.
class Checks {
 public:
  explicit Checks(const LargeModelRun& job) : job_(job) {}
  void ranges();
  void divisions();
  void batches(int gpus);
  void schedule();
  void both_ends();
  std::vector<JobFault> faults;

 private:
  // Records a fault of a key, with the values that would be valid.
  void fault(std::string key, std::string message, std::string hint) {
    faults.push_back({std::move(key), std::move(message), std::move(hint)});
  }
  void divides(std::string_view key, std::int64_t degree, std::int64_t whole, std::string_view what);

  const LargeModelRun& job_;
};

/// Limits come first: the later checks divide by these numbers and multiply them.
void Checks::ranges() {
  const Degrees& d = job_.degrees;
  const auto within = [this](std::string_view key, std::int64_t value, std::int64_t most) {
    if (value < 1 || value > most)
      fault(std::string(key), fmt::format("{} is {}", key, value), fmt::format("1 to {}", most));
  };
  const std::pair<std::string_view, std::int64_t> degrees[] = {
      {"tensor", d.tensor},   {"pipeline", d.pipeline}, {"virtual_stages", d.virtual_stages},
      {"context", d.context}, {"expert", d.expert},     {"expert_tensor", d.expert_tensor}};
  for (const auto& [key, degree] : degrees) within(key, degree, kMostParallelDegree);
  within("data", d.data, Degrees::kMostGpus);
  within("micro_batch", job_.micro_batch, kMostMicroBatch);
  within("global_batch", job_.global_batch, kMostGlobalBatch);
  within("sequence", job_.sequence, kMostTokens);
  if (faults.empty() && job_.micro_batch * job_.sequence > kMostTokensAtOnce)
    fault("micro_batch", fmt::format("{} sequences of {} tokens at once", job_.micro_batch, job_.sequence),
          fmt::format("at most {} tokens", kMostTokensAtOnce));
}

/// Records a fault unless `degree` divides `whole`.
void Checks::divides(std::string_view key, std::int64_t degree, std::int64_t whole, std::string_view what) {
  if (degree > 0 && whole % degree == 0) return;
  fault(std::string(key), fmt::format("{} {} do not divide by {} = {}", whole, what, key, degree),
        fmt::format("a divisor of {}", whole));
}

/// Checks the degrees against the network.
void Checks::divisions() {
  const Degrees& d = job_.degrees;
  divides("tensor", d.tensor, job_.shape.heads, "heads");
  // If there are fewer key heads than tensor ranks, the ranks hold copies of them.
  if (d.tensor <= job_.shape.kv_heads) divides("tensor", d.tensor, job_.shape.kv_heads, "heads of keys");
  if (job_.shape.inner > 0)
    divides("tensor", d.tensor, job_.shape.inner, "values inside the feed-forward part");
  divides("context", d.context, job_.sequence, "tokens of a sequence");
  if (d.context > 1 && job_.attention == AttentionKernel::unfused)
    fault("attention", "context ranks exchange parts of a fused attention", "attention = \"newest\"");
  if (job_.context_exchange == ContextExchange::ulysses && d.context > 1)
    divides("context", static_cast<std::int64_t>(d.tensor) * d.context, job_.shape.heads, "heads");
  if (d.pipeline > job_.shape.layers)
    fault("pipeline", fmt::format("{} layers make no {} stages", job_.shape.layers, d.pipeline),
          fmt::format("at most {}", job_.shape.layers));
  if (!job_.shape.experts) {
    if (d.expert > 1 || d.expert_tensor > 1)
      fault("expert", "the network has no experts", "leave the key out");
    return;
  }
  divides("expert", d.expert, job_.shape.experts->experts, "experts");
  divides("expert", static_cast<std::int64_t>(d.expert) * d.expert_tensor,
          static_cast<std::int64_t>(d.data) * d.context * d.tensor, "ranks that share a stage");
}

/// Checks the degrees against the number of GPUs, and the batch against the degrees.
void Checks::batches(int gpus) {
  const Degrees& d = job_.degrees;
  if (d.gpus() != gpus)
    fault("data", fmt::format("{} takes {} GPUs, not {}", to_string(d), d.gpus(), gpus),
          gpus % d.model() == 0
              ? fmt::format("data = {}, or none: it is what the GPUs leave", gpus / d.model())
              : fmt::format("tensor x pipeline x context = {} has to divide {}", d.model(), gpus));
  divides("global_batch", job_.micro_batch * d.data, job_.global_batch, "sequences of a step");
  if (job_.shard_group > 0)
    divides("shard_group", job_.shard_group, job_.gradient_ranks(), "data-parallel ranks");
}

/// Checks the schedule against stages, chunks and micro-batches.
void Checks::schedule() {
  const Degrees& d = job_.degrees;
  const bool interleaved = job_.schedule == PipelineSchedule::interleaved;
  const bool takes_chunks = interleaved || job_.schedule == PipelineSchedule::afab;
  if (d.virtual_stages > 1 && !takes_chunks && job_.schedule != PipelineSchedule::zbv)
    fault("virtual_stages", fmt::format("schedule {} has one chunk a stage", name_of(job_.schedule)),
          "schedule = \"interleaved\"");
  if (interleaved && d.pipeline == 1)
    fault("virtual_stages", "one stage has nothing to interleave", "pipeline of at least 2");
  if (interleaved && d.pipeline > 1 && job_.micro_batches() % d.pipeline != 0)
    fault(
        "virtual_stages",
        fmt::format("{} micro-batches do not come in groups of {} stages", job_.micro_batches(), d.pipeline),
        "a number of micro-batches that divides by pipeline");
  if (static_cast<std::int64_t>(d.pipeline) * d.virtual_stages > job_.shape.layers)
    fault("virtual_stages",
          fmt::format("{} layers make no {} x {} chunks", job_.shape.layers, d.pipeline, d.virtual_stages),
          "fewer chunks");
  if (static_cast<std::int64_t>(d.pipeline) * d.pipeline * d.virtual_stages > kMostPasses)
    fault("pipeline",
          fmt::format("{} stages of {} chunks are too many to simulate", d.pipeline, d.virtual_stages),
          "fewer stages, or fewer chunks on each");
  if (job_.sharding == ModelSharding::gradients && d.pipeline > 1)
    fault("shard", "gradients that are shared out leave no accumulation over a pipeline's micro-batches",
          "shard = \"optimizer\"");
  if (job_.ways() > 1) both_ends();
}

/// Checks the assertions of dualpipe.py.
void Checks::both_ends() {
  const int stages = job_.degrees.pipeline;
  if (stages % 2 != 0)
    fault("schedule", fmt::format("dualpipe folds a pipeline in the middle, and {} stages have none", stages),
          "an even number of stages");
  const std::int64_t micro_batches = job_.micro_batches(), least = 2L * stages;
  if (micro_batches % 2 != 0 || micro_batches < least)
    fault("schedule",
          fmt::format("dualpipe deals {} micro-batches out to both ends of {} stages", micro_batches, stages),
          fmt::format("an even number of micro-batches, {} at least", least));
}

}  // namespace

std::vector<JobFault> faults_of(const LargeModelRun& job, int gpus) {
  Checks checks(job);
  checks.ranges();
  if (!checks.faults.empty()) return checks.faults;
  checks.divisions();
  checks.batches(gpus);
  if (checks.faults.empty()) checks.schedule();
  return checks.faults;
}

bool runs_on(const LargeModelRun& asked, int gpus) {
  return gpus >= asked.degrees.model() && gpus % asked.degrees.model() == 0 &&
         faults_of(job_on(asked, gpus), gpus).empty();
}

int fewest_gpus_of(const LargeModelRun& asked) {
  // Limit of the search; experts rarely need more replicas.
  constexpr int kMostReplicas = 4096;
  const int one = asked.degrees.model();
  if (asked.degrees.data > 0) return asked.degrees.gpus();
  for (int replicas = 1; replicas <= kMostReplicas && one <= Degrees::kMostGpus / replicas; ++replicas)
    if (runs_on(asked, one * replicas)) return one * replicas;
  return one;
}

std::vector<std::string> warnings_of(const LargeModelRun& job, int gpus_per_node) {
  std::vector<std::string> warnings;
  const Degrees& d = job.degrees;
  if (d.tensor > gpus_per_node)
    warnings.push_back(
        fmt::format("tensor = {} spans {} nodes of {} GPUs: every layer's exchanges cross the network",
                    d.tensor, (d.tensor + gpus_per_node - 1) / gpus_per_node, gpus_per_node));
  if (d.pipeline > 1 && job.micro_batches() < 2L * d.pipeline)
    warnings.push_back(
        fmt::format("{} micro-batches fill a pipeline of {} stages badly: stages wait {:.0f} % of "
                    "the time at best",
                    job.micro_batches(), d.pipeline,
                    // The bubble's share of a full 1F1B pipeline: (p - 1) / v idle passes of m + (p - 1) / v.
                    100.0 * (d.pipeline - 1) / static_cast<double>(d.virtual_stages) /
                        (static_cast<double>(job.micro_batches()) +
                         (d.pipeline - 1) / static_cast<double>(d.virtual_stages))));
  return warnings;
}

}  // namespace foretrain

// What follows from the figures of a finished job, with and without a prediction beside it.
#include "sim/analysis/explanation/explanation.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/example_prediction.hpp"

namespace explanation_test {

using namespace foretrain;
using Catch::Matchers::WithinAbs;

namespace {

constexpr double kGib = 1 << 30;

template <class T>
Known<T> known(T value) {
  return Figure<T>{std::move(value), {"job.txt", 3, "x"}};
}

FinishedJob job_that(JobState state, double elapsed, double limit = 86400) {
  FinishedJob job;
  job.id = "7", job.state = known(state), job.elapsed_s = known(elapsed), job.limit_s = known(limit);
  job.gpus = known(8), job.nodes = known(2), job.cpus = known(80);
  return job;
}

Known<std::vector<MeasuredGpu>> gpus_at(const std::vector<double>& shares) {
  std::vector<MeasuredGpu> gpus;
  for (std::size_t i = 0; i < shares.size(); ++i)
    gpus.push_back({"n1", static_cast<int>(i), shares[i], 10 * kGib, 40 * kGib});
  return known(gpus);
}

/// Eight GPUs, 5,000 steps of 0.125 s an epoch and 300 s of other things.
struct Eight {
  Prediction prediction = test::example_prediction();
  PredictedRun run{prediction, prediction.points[1], 10, "v100 v100-sxm2-32gb"};
};

bool finds(const JobExplanation& job, std::string_view key) {
  return std::ranges::any_of(job.findings, [&](const ExplainedFinding& f) { return f.key == key; });
}

std::string text_for(const JobExplanation& job, std::string_view key) {
  const auto found = std::ranges::find(job.findings, key, &ExplainedFinding::key);
  return found == job.findings.end() ? "" : found->text;
}

std::string options_of(const JobExplanation& job) {
  std::string out;
  for (const NextRequest& next : job.next) out += next.option + " ";
  return out;
}

}  // namespace

TEST_CASE("the parts of the predicted run sum to it, and the GPUs work in those that hold kernels") {
  Eight eight;
  eight.prediction.answer.causes.reset();  // then its accounts are the parts
  double seconds = 0, working = 0;
  for (const PartOfRun& part : parts_of_run(eight.run))
    seconds += part.seconds, working += part.gpu_works ? part.seconds : 0;
  CHECK_THAT(seconds, WithinAbs(eight.run.point.total_s, 1e-6 * seconds));
  // Of a step of 125 ms 5 ms are host; start-up 10 s, restarts 20 s and checkpoints 30 s are idle, validation
  // is not.
  const double steps = (56'250 - 300) / 0.125;
  CHECK_THAT(working, WithinAbs(steps * 0.120 + 240, 1e-3));
  CHECK_THAT(predicted_busy_share(eight.run), WithinAbs((steps * 0.125 + 240) / 56'250 * 0.96, 1e-9));
}

TEST_CASE("with causes the parts of a run are what removing them in turn saves") {
  const Eight eight;
  const StepCauses& causes = *eight.prediction.answer.causes;
  const std::vector<PartOfRun> parts = parts_of_run(eight.run);
  double seconds = 0;
  for (const PartOfRun& part : parts) seconds += part.seconds;
  CHECK_THAT(seconds, WithinAbs(eight.run.point.total_s, 1e-6 * seconds));
  CHECK(parts.front().key == "compute_s");
  // The compute part is to the first cause as the kernels are to what removing it saves.
  REQUIRE_FALSE(causes.in_turn.empty());
  CHECK_THAT(parts[1].seconds * causes.kernels_s,
             WithinAbs(parts.front().seconds * causes.in_turn.front().seconds, 1e-6));
  CHECK(explain_job(job_that(JobState::completed, 60'000), &eight.run).answer->verdict ==
        eight.prediction.answer.verdict);
}

TEST_CASE("a run within the interval is as predicted, and one beyond it says whether GPUs worked") {
  const Eight eight;
  FinishedJob job = job_that(JobState::completed, 60'000);
  CHECK(finds(explain_job(job, &eight.run), "as_predicted"));
  job.elapsed_s = known(80'000.0);
  job.measured_gpus = gpus_at({0.5, 0.5});
  const JobExplanation longer = explain_job(job, &eight.run);
  // Busy: 40,000 of 80,000 s where 0.9593 of 56,250 s were predicted.
  CHECK_THAT(text_for(longer, "longer_than_predicted"),
             ContainsSubstring("06:35:50 longer than the predicted 15:37:30"));
  CHECK_THAT(text_for(longer, "longer_than_predicted"), ContainsSubstring("less with GPUs at work"));
  CHECK(finds(longer, "gpus_waited"));
  job.elapsed_s = known(30'000.0);
  job.measured_gpus = gpus_at({0.99, 0.99});
  CHECK(finds(explain_job(job, &eight.run), "shorter_than_predicted"));
}

TEST_CASE("GPUs that did nothing are told, with what to ask for instead") {
  FinishedJob job = job_that(JobState::completed, 7200);
  job.gpus = known(4), job.nodes = known(1), job.gpu_type = known(std::string("a100"));
  job.measured_gpus = gpus_at({0.9, 0, 0, 0.002});
  const JobExplanation some = explain_job(job);
  CHECK_THAT(text_for(some, "idle_gpus"),
             ContainsSubstring("3 of 4 GPUs did nothing (n1 GPU 1, n1 GPU 2, n1 GPU 3)"));
  CHECK_THAT(options_of(some), ContainsSubstring("--gres=gpu:a100:1 "));
  job.measured_gpus = gpus_at({0, 0});
  const JobExplanation none = explain_job(job);
  CHECK(finds(none, "no_gpu_used"));
  CHECK_FALSE(finds(none, "idle_gpus"));
  CHECK_THAT(options_of(none), ContainsSubstring("no GPU "));
}

TEST_CASE("waiting GPUs beside full CPUs are the loader, beside one core a GPU the main process") {
  FinishedJob job = job_that(JobState::completed, 7200, 8100);
  job.gpus = known(2), job.nodes = known(1), job.cpus = known(4);
  job.measured_gpus = gpus_at({0.3, 0.3});
  job.cpu_efficiency = known(0.97);
  const JobExplanation full = explain_job(job);
  CHECK_THAT(text_for(full, "cpus_full"),
             ContainsSubstring("the loader, or other work of the host, had none left"));
  CHECK_THAT(options_of(full), ContainsSubstring("--cpus-per-task=4 "));
  job.cpus = known(40), job.cpu_efficiency = known(0.05);
  const JobExplanation one = explain_job(job);
  CHECK(finds(one, "one_core_per_gpu"));
  CHECK_THAT(options_of(one), ContainsSubstring("num_workers=16 "));
  job.cpu_efficiency = known(0.4);
  CHECK(finds(explain_job(job), "cpus_free"));
  job.measured_gpus = gpus_at({0.95, 0.95}), job.cpu_efficiency = known(0.1);
  const JobExplanation busy = explain_job(job);
  CHECK(finds(busy, "cpus_spare"));
  CHECK_THAT(options_of(busy),
             ContainsSubstring("--cpus-per-task=4 "));  // two cores of each, a fifth more, and one
  job.measured_gpus.reset();
  job.cpu_efficiency = known(0.97);
  CHECK_THAT(text_for(explain_job(job), "cpus_full"), ContainsSubstring("none to spare"));
}

TEST_CASE("more CPUs are asked for only as far as the node has them") {
  const Eight eight;
  FinishedJob job = job_that(JobState::completed, 90'000);
  job.measured_gpus = gpus_at({0.3, 0.3}), job.cpu_efficiency = known(0.97);
  CHECK_THAT(options_of(explain_job(job, &eight.run)), ContainsSubstring("loader "));
  job.cpus = known(48);
  CHECK_THAT(options_of(explain_job(job, &eight.run)), ContainsSubstring("--cpus-per-task=10 "));
}

TEST_CASE("a job that ended by itself gets its own time and a tenth more, unless its limit was about that") {
  CHECK_THAT(options_of(explain_job(job_that(JobState::completed, 36'000))),
             ContainsSubstring("--time=11:00:00 "));
  CHECK(explain_job(job_that(JobState::completed, 36'000, 43'200)).next.empty());
  CHECK_THAT(text_for(explain_job(job_that(JobState::completed, 36'000, 0)), "completed"),
             ContainsSubstring("by itself after 10:00:00."));
}

TEST_CASE("a job stopped at its limit gets the predicted end, and no time where nothing is predicted") {
  const Eight eight;
  const FinishedJob job = job_that(JobState::timeout, 36'000, 36'000);
  CHECK(explain_job(job).next.empty());
  const JobExplanation predicted = explain_job(job, &eight.run);
  CHECK(finds(predicted, "timeout"));
  CHECK(finds(predicted, "limit_too_short"));
  REQUIRE(predicted.next.size() == 1);
  CHECK(predicted.next[0].option == "--time=22:00:00");  // 70,000 s and a tenth, in hours
  CHECK(predicted.next[0].evidence == Evidence::predicted);
  const FinishedJob longer = job_that(JobState::timeout, 86'400, 86'400);
  CHECK(finds(explain_job(longer, &eight.run), "slower_than_predicted"));
  CHECK(explain_job(longer, &eight.run).next.empty());
}

TEST_CASE("a job out of memory gets half as much again, one that used little what it used and a fifth") {
  FinishedJob job = job_that(JobState::out_of_memory, 600);
  job.memory_asked = known(100 * kGib);
  CHECK(finds(explain_job(job), "out_of_memory"));
  CHECK(options_of(explain_job(job)) == "--mem=75G ");  // on each of two nodes
  job = job_that(JobState::completed, 36'000, 43'200);
  job.memory_asked = known(100 * kGib), job.memory_used = known(10 * kGib);
  CHECK(options_of(explain_job(job)) == "--mem=6G ");
  job.memory_used = known(95 * kGib);
  CHECK(finds(explain_job(job), "memory_full"));
  CHECK(options_of(explain_job(job)) == "--mem=57G ");
  job.memory_used = known(70 * kGib);
  CHECK(explain_job(job).next.empty());
}

TEST_CASE("other ends are told as they are, and ask for nothing") {
  const std::pair<JobState, const char*> ends[] = {
      {JobState::cancelled, "cancelled"}, {JobState::node_failure, "node_failure"},
      {JobState::preempted, "preempted"}, {JobState::running, "running"},
      {JobState::pending, "pending"},     {JobState::failed, "failed"}};
  for (const auto& [state, key] : ends) {
    const JobExplanation job = explain_job(job_that(state, 100));
    INFO(key);
    CHECK(finds(job, key));
    CHECK(job.next.empty());
  }
  FinishedJob killed = job_that(JobState::failed, 100);
  killed.exit_code = known(137);
  CHECK(finds(explain_job(killed), "killed"));
  FinishedJob odd = job_that(JobState::unknown, 100);
  odd.state_text = known(std::string("FLYING\033[31m"));
  CHECK_THAT(text_for(explain_job(odd), "unknown_state"), ContainsSubstring("\"FLYING\\u001b[31m\""));
}

TEST_CASE("what no file says is named, and a job of which nothing is known is explained as that") {
  const JobExplanation nothing = explain_job(FinishedJob{});
  CHECK(nothing.findings.empty());
  CHECK(nothing.next.empty());
  CHECK(nothing.not_known.size() == 4);
}

TEST_CASE("a prediction for another GPU is warned of") {
  const Eight eight;
  FinishedJob job = job_that(JobState::completed, 60'000);
  job.gpu_type = known(std::string("a100"));
  CHECK_THAT(explain_job(job, &eight.run).warnings.front(), ContainsSubstring("the job ran on a100"));
  job.gpu_type = known(std::string("V100"));
  CHECK_THAT(explain_job(job, &eight.run).warnings.front(), !ContainsSubstring("the job ran on"));
}

}  // namespace explanation_test

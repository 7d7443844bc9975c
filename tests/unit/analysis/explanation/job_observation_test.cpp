// What a finished job's row of evidence says, and which jobs have none.
#include "sim/analysis/explanation/job_observation.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/example_prediction.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace job_observation_test {

using namespace foretrain;

namespace {

template <class T>
Known<T> known(T value) {
  return Figure<T>{std::move(value), {"job.txt", 3, "x"}};
}

/// Eight GPUs, 5,000 steps of 0.125 s an epoch and 300 s of other things: 56,250 s.
struct Eight {
  Prediction prediction = test::example_prediction();
  PredictedRun run{prediction, prediction.points[1], 10, "v100 v100-sxm2-32gb"};
  Scenario scenario = test::resnet_scenario();
  FinishedJob job;
  Eight() {
    job.id = "7", job.state = known(JobState::completed), job.elapsed_s = known(56'250.);
    job.gpus = known(8), job.nodes = known(2);
    job.name = known(std::string("secret")), job.node_list = known(std::string("r01c02"));
  }
  JobObservation observed() const { return observation_of(job, run, scenario); }
};

}  // namespace

TEST_CASE("a job's row is its step beside the prediction, and nothing of who ran it where") {
  Eight eight;
  const JobObservation as_predicted = eight.observed();
  REQUIRE(as_predicted.row);
  CHECK(as_predicted.row->what == Observed::job);
  CHECK(as_predicted.row->run == "job 7");
  CHECK(as_predicted.row->gpus == 8);
  CHECK(as_predicted.row->predicted == 0.125);
  CHECK(as_predicted.row->measured == Approx(0.125));
  for (const auto member : kRowTextMembers) {
    CHECK((*as_predicted.row).*member != "secret");
    CHECK((*as_predicted.row).*member != "r01c02");
  }
  // 300 s beside the steps are of the prediction, whatever the job took: (2 x 56,250 - 300) / 55,950.
  eight.job.elapsed_s = known(2 * 56'250.);
  CHECK(residual_of(*eight.observed().row) == Approx(std::log(112'200 / 55'950.)));
}

TEST_CASE("jobs that measured no step have no row, and it is said why") {
  const auto why = [](auto change) {
    Eight eight;
    change(eight);
    const JobObservation observed = eight.observed();
    CHECK_FALSE(observed.row);
    return observed.why_not;
  };
  CHECK_THAT(why([](Eight& e) { e.job.elapsed_s.reset(); }), ContainsSubstring("how long it ran"));
  CHECK_THAT(why([](Eight& e) { e.job.state = known(JobState::timeout); }),
             ContainsSubstring("did its work"));
  CHECK_THAT(why([](Eight& e) { e.job.gpus = known(4); }), ContainsSubstring("4 GPUs"));
  CHECK_THAT(why([](Eight& e) { e.job.gpu_type = known(std::string("a100")); }), ContainsSubstring("a100"));
  CHECK_THAT(why([](Eight& e) { e.prediction.samples = 0; }), ContainsSubstring("data.samples"));
  CHECK_THAT(why([](Eight& e) { e.job.elapsed_s = known(1000.); }), ContainsSubstring("30 % of its time"));
  CHECK_THAT(why([](Eight& e) { e.job.elapsed_s = known(1e8); }), ContainsSubstring("times the predicted"));
  CHECK_THAT(why([](Eight& e) { e.scenario.anchor = Anchor{1, 0.1}; }), ContainsSubstring("[measured]"));
  CHECK_THAT(
      why([](Eight& e) {
        e.job.measured_gpus = known(std::vector<MeasuredGpu>{{"n", 0, 0.9, {}, {}}, {"n", 1, 0.0, {}, {}}});
      }),
      ContainsSubstring("1 of its GPUs did nothing"));
}

}  // namespace job_observation_test

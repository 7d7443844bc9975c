// Which verdict answers, and that its figures are those of its table.
#include <algorithm>

#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/predict.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace answer_test {

using namespace foretrain;

namespace {

Answer answer_to(const Scenario& scenario) { return predict(scenario).answer; }

Scenario asked(Scenario scenario) {
  scenario.stated.emplace_back("run.gpus");
  return scenario;
}

}  // namespace

TEST_CASE("what trains well is answered with its time, on the largest number that was asked for") {
  Scenario scenario = asked(test::resnet_scenario({1, 4, 8}));
  scenario.workload.data.samples = 128'000;
  const Answer answer = answer_to(scenario);
  CHECK(answer.kind == VerdictKind::time);
  CHECK(answer.gpus == 8);
  CHECK(answer.counts == std::vector{1, 4, 8});
  CHECK(answer.quantity == "epoch");
  CHECK_THAT(answer.verdict, StartsWith("On 8 GPUs, an epoch takes about "));
  CHECK(answer.value_s == answer.rows.back().total_s);
  CHECK(answer.interval.low_s < answer.value_s);
}

TEST_CASE("without a data set the answer is about a step") {
  const Answer answer = answer_to(asked(test::resnet_scenario({1, 4})));
  CHECK(answer.quantity == "step");
  CHECK_THAT(answer.verdict, StartsWith("On 4 GPUs, a step takes about "));
}

TEST_CASE("numbers that nobody asked for are those of up to two nodes") {
  const Answer answer = answer_to(test::resnet_scenario({1, 4, 8}));
  CHECK(std::ranges::all_of(answer.rows, [](const PredictionPoint& p) { return p.nodes <= 2; }));
}

TEST_CASE("a setting that decides and is not modelled comes before every figure") {
  Scenario scenario = asked(test::resnet_scenario({1, 4}));
  scenario.unmodelled.push_back(
      {"offload_param.device = nvme", "ds.json:12", "A step takes longer.", true, true});
  const Answer answer = answer_to(scenario);
  CHECK(answer.kind == VerdictKind::cannot_say);
  CHECK(
      answer.verdict ==
      "Cannot say how long: offload_param.device = nvme (ds.json:12) is not modelled. A step takes longer.");
}

TEST_CASE("an unmodelled setting that makes steps longer widens the interval on that side") {
  Scenario scenario = asked(test::resnet_scenario({1, 4}));
  const Prediction without = predict(scenario);
  UnmodelledSetting longer{"offload_param.device = nvme", "ds.json:12", "A step takes longer.", true, true};
  longer.longest = 6;
  scenario.unmodelled.push_back(longer);
  const Prediction with = predict(scenario);
  for (std::size_t i = 0; i < with.points.size(); ++i) {
    CHECK(with.points[i].step_s == without.points[i].step_s);
    CHECK(with.points[i].interval.low_s == Approx(without.points[i].interval.low_s));
    CHECK(with.points[i].interval.high_s == Approx(6 * without.points[i].interval.high_s));
  }
}

TEST_CASE("a setting between nodes decides nothing inside one") {
  Scenario scenario = asked(test::resnet_scenario({1, 4}));
  UnmodelledSetting tcp{"NCCL_IB_DISABLE = 1", "job.sh:3", "Messages take longer.", false, true, true};
  scenario.unmodelled.push_back(tcp);
  CHECK(answer_to(scenario).kind == VerdictKind::time);
  scenario.gpus = {1, 8};
  CHECK(answer_to(scenario).kind == VerdictKind::cannot_say);
}

TEST_CASE("GPUs without a process are said first, with the time after mending it") {
  Scenario scenario = asked(test::resnet_scenario({1, 4}));
  scenario.launch.with = Launcher::python;
  scenario.workload.data.samples = 128'000;
  const Answer answer = answer_to(scenario);
  CHECK(answer.kind == VerdictKind::idle_gpus);
  CHECK_THAT(answer.verdict,
             StartsWith("This job uses 1 of its 4 GPUs. With one process for each GPU, an epoch takes "));
  CHECK_THAT(answer.action, ContainsSubstring("--nproc_per_node=4"));
}

TEST_CASE("a training that needs more memory than there is does not fit") {
  Scenario scenario = asked(test::resnet_scenario({1, 4}));
  scenario.workload.batch_per_gpu = 100'000;
  const Answer answer = answer_to(scenario);
  CHECK(answer.kind == VerdictKind::does_not_fit);
  CHECK_THAT(answer.verdict, ContainsSubstring(" does not fit on 4 GPUs of "));
  CHECK_FALSE(answer.causes);
}

TEST_CASE("GPUs that wait for data are told how many workers would do") {
  Scenario scenario = asked(test::resnet_scenario({1, 4}));
  scenario.cluster.node.host.cores = 32;
  scenario.workload.data.loader = LoaderKind::torch;
  scenario.workload.data.workers_per_gpu = 1, scenario.workload.data.decode = seconds(0.01);
  const Answer answer = answer_to(scenario);
  CHECK(answer.kind == VerdictKind::waits_for_input);
  REQUIRE(answer.remedy);
  CHECK(answer.remedy->workers > 1);
  REQUIRE(answer.remedy->step_s.size() == answer.counts.size());
  CHECK(answer.remedy->step_s.back() < answer.rows.back().step_s);
  scenario.workload.data.loader = LoaderKind::tf_data;  // whose threads are not the user's to count
  CHECK_FALSE(answer_to(scenario).remedy);
}

TEST_CASE("more GPUs that are slower than one are told to stay with one, which is in the table") {
  Scenario scenario = asked(test::mnist_scenario({8}));
  scenario.cluster.fabric.link.bandwidth.per_second = 1e7;
  scenario.cluster.fabric.uplink = scenario.cluster.fabric.link;
  const Answer answer = answer_to(scenario);
  CHECK(answer.kind == VerdictKind::slower);
  CHECK_THAT(answer.verdict, StartsWith("Ask for one GPU: 8 GPUs are "));
  CHECK(answer.counts == std::vector{1, 8});
}

TEST_CASE("what nobody stated is assumed, what is stated is not") {
  Scenario scenario = test::resnet_scenario({1});
  scenario.workload.data.loader = LoaderKind::none;
  const auto assumes = [&](std::string_view option) {
    return std::ranges::any_of(assumptions_of(scenario),
                               [&](const Assumption& a) { return a.option == option; });
  };
  CHECK(assumes("--batch N"));
  CHECK(assumes("--dataset NAME"));
  CHECK(assumptions_of(scenario).size() <= 4);
  scenario.stated = {"model.batch_per_gpu", "data.name"};
  CHECK_FALSE(assumes("--batch N"));
  CHECK_FALSE(assumes("--dataset NAME"));
}

TEST_CASE("a recommended job is the first line, and its rows are the table") {
  Recommendation r;
  JobOption best, other;
  best.point.gpus = 4, best.point.nodes = 1, best.point.total_s = 43'200;
  best.point.total_interval = {32'400, 64'800, 0.9};
  best.keeps_deadline = 0.98, r.deadline_s = 86'400;
  other.point.gpus = 8, other.point.nodes = 2;
  r.best = best, r.runners_up = {other};
  Answer answer;
  answer.gpus = 4, answer.question = "a network on 4 GPUs, on 4 GPUs";
  answer = with_recommendation(std::move(answer), r, test::resnet_scenario({4}));
  CHECK(answer.kind == VerdictKind::request);
  CHECK(
      answer.verdict ==
      "Ask for 4 GPUs on one node: done in about 12 h (9 to 18 h), inside your 24 h with 98 % probability.");
  CHECK(answer.counts == std::vector{4, 8});
  r.best.reset(), r.why_none = "the budget is too small";
  CHECK(with_recommendation({}, r, test::resnet_scenario({4})).verdict ==
        "No job keeps the limits: the budget is too small.");
}

TEST_CASE("a step that is faster than the GPU's peak is not credible") {
  const Scenario scenario = test::resnet_scenario({1, 4});
  PointPredictor points(scenario, 4);
  Prediction prediction = predict(scenario);
  CHECK(not_credible(points, prediction).empty());
  prediction.points.back().step_s /= 100;
  REQUIRE(not_credible(points, prediction).size() == 1);
  CHECK(not_credible(points, prediction).front() == "On 4 GPUs a step is shorter than its kernels alone.");
  prediction.points.back().efficiency = 1.5;
  CHECK(not_credible(points, prediction).size() == 2);
}

}  // namespace answer_test

// A host that lacks the memory for what is offloaded to it, and a cluster that does not state it.
#include <algorithm>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace host_memory_verdict_test {

using namespace foretrain;

namespace {

Prediction with_host(Bytes memory, bool offloads = true) {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.model = "gpt2_medium", overrides.cluster = "dgx-a100", overrides.strategy = "zero2";
  overrides.gpus = {8}, overrides.batch = 1;
  overrides.settings = {"model.precision=\"bf16\"", "model.half_weights=true", "model.optimizer=\"adamw\""};
  if (offloads) overrides.settings.push_back("strategy.offload_optimizer=\"cpu\"");
  Scenario scenario = make_scenario(overrides);
  scenario.cluster.node.host.memory = memory;
  return predict(scenario);
}

}  // namespace

TEST_CASE("a host with too little memory is the verdict, although the GPUs have enough") {
  const Prediction p = with_host({20'000'000'000});
  CHECK(p.answer.kind == VerdictKind::does_not_fit);
  CHECK_THAT(p.answer.verdict,
             Catch::Matchers::StartsWith("The host's memory cannot hold gpt2_medium on 8 GPUs"));
  CHECK_THAT(p.answer.verdict, ContainsSubstring("and it has 20 GB."));
  CHECK_THAT(p.answer.action, ContainsSubstring("More nodes"));
  CHECK(p.cannot_run);
  CHECK(chance_of_host(p.points.front()) < 0.05);
  CHECK(p.points.front().memory.total() <= p.points.front().memory_capacity);
}

TEST_CASE("a host with enough memory changes no verdict") {
  const Prediction p = with_host({1'000'000'000'000});
  CHECK(p.answer.kind == VerdictKind::time);
  CHECK(chance_of_host(p.points.front()) > 0.99);
  CHECK(host_memory_warnings(p.points).empty());
}

TEST_CASE("a host whose memory nobody states is warned of with what is needed") {
  const Prediction p = with_host({});
  CHECK(p.answer.kind == VerdictKind::time);
  const auto said = std::ranges::find_if(
      p.warnings, [](const std::string& text) { return text.find("host.memory") != std::string::npos; });
  REQUIRE(said != p.warnings.end());
  CHECK_THAT(*said, ContainsSubstring("does not state how much its nodes have"));
}

TEST_CASE("a server that is made for a card has a host whose memory nobody states") {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.model = "gpt2_medium", overrides.cluster = "gpu:rtx-4090", overrides.strategy = "zero2";
  overrides.gpus = {2}, overrides.batch = 1;
  overrides.settings = {"strategy.offload_optimizer=\"cpu\""};
  const Prediction p = predict(make_scenario(overrides));
  CHECK(p.points.front().host_memory.is_used());
  CHECK_FALSE(p.points.front().knows_host());
  CHECK_FALSE(host_memory_warnings(p.points).empty());
}

TEST_CASE("without offload the host's memory is not looked at") {
  const Prediction p = with_host({1'000'000'000}, false);
  CHECK(p.points.front().fits());
  CHECK_FALSE(p.points.front().host_memory.is_used());
  CHECK(host_memory_warnings(p.points).empty());
}

}  // namespace host_memory_verdict_test

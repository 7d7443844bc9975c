// Searches for layouts: which are tried, which fit, and their order.
#include "sim/analysis/search/layouts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace layouts_test {

using namespace foretrain;

namespace {

Scenario scenario_of(const std::string& parallel, const std::string& model = "llama3_2_1b") {
  test::use_source_catalogs();
  return read_scenario({"s.toml", "[model]\nname = \"" + model +
                                      "\"\n[cluster]\nname = \"hgx-h100-400g\"\n[parallel]\n" + parallel},
                       {});
}

LayoutSearch search(const std::string& parallel, const LayoutRequest& request) {
  return search_layouts(scenario_of(parallel), request);
}

/// One search on a node of eight, which most tests look at.
const LayoutSearch& small_search() {
  static const LayoutSearch kSearch = search("sequence = 4096\n", {.gpus = 8, .global_batch = 32});
  return kSearch;
}

/// Issue 39's command, where memory is short.
const LayoutSearch& tight_search() {
  test::use_source_catalogs();
  static const LayoutSearch kSearch =
      search_layouts(read_scenario({"s.toml",
                                    "[model]\nname = \"llama3_8b\"\n[cluster]\nname = "
                                    "\"mahti\"\n[parallel]\nsequence_parallel = true\n"},
                                   {}),
                     {.gpus = 16, .global_batch = 64});
  return kSearch;
}

}  // namespace

TEST_CASE("all layouts that are listed divide the GPUs, the network and the batch") {
  const LayoutSearch& found = small_search();
  REQUIRE(found.layouts.size() > 10);
  CHECK(found.gpus == 8);
  CHECK(found.tokens == 32 * 4096);
  for (const ModelLayout& layout : found.layouts) {
    INFO(layout.point.layout << ", " << settings_of(layout.job));
    CHECK(faults_of(layout.job, 8).empty());
    CHECK(layout.job.global_batch == 32);
    CHECK(layout.fits >= kHardlyFits);
    CHECK((layout.memory_bytes <= found.capacity_bytes || layout.fits < kProbablyFits));
    CHECK(layout.step_s > 0);
  }
}

TEST_CASE("every layout is counted: it is listed or needs too much memory") {
  const LayoutSearch& found = small_search();
  CHECK(found.simulated == found.layouts.size());
  CHECK(found.possible == found.simulated + found.without_memory);
}

TEST_CASE("no layout is tried twice") {
  std::set<std::string> seen;
  for (const ModelLayout& layout : small_search().layouts)
    CHECK(seen.insert(to_string(layout.job.degrees) + "; " + settings_of(layout.job)).second);
}

TEST_CASE("layouts come fastest first, and those within 5 % of each other by the chance that they fit") {
  const LayoutSearch& found = tight_search();
  REQUIRE(found.best() != nullptr);
  CHECK_FALSE(found.layouts.front().is_tied);
  std::size_t by_chance = 0, unlikely = 0;
  for (std::size_t i = 0; i + 1 < found.layouts.size(); ++i) {
    const ModelLayout &layout = found.layouts[i], &next = found.layouts[i + 1];
    INFO(i << ": " << layout.step_s << " s, " << layout.fits << ", then " << next.step_s << " s, "
           << next.fits);
    CHECK(layout.fits >= 0.05);
    if (layout.fits < 0.5) ++unlikely;
    if (layout.fits < 0.5) CHECK(next.fits < 0.5);  // what probably does not fit comes last
    if ((layout.fits < 0.5) != (next.fits < 0.5) || next.step_s >= layout.step_s) continue;
    CHECK(layout.step_s < next.step_s * 1.05);
    CHECK(layout.fits > next.fits - 0.01);
    ++by_chance;
  }
  CHECK(by_chance > 0);
  CHECK(unlikely > 0);
}

TEST_CASE("recomputing never shortens compute, and never takes memory") {
  std::map<std::string, const ModelLayout*> plain;
  const auto key = [](LargeModelRun job) {
    job.recompute = Recompute::none;
    return to_string(job.degrees) + settings_of(job) + std::string(name_of(job.sharding));
  };
  for (const ModelLayout& layout : tight_search().layouts)
    if (layout.job.recompute == Recompute::none) plain[key(layout.job)] = &layout;
  int pairs = 0;
  for (const ModelLayout& layout : tight_search().layouts) {
    const auto same = plain.find(key(layout.job));
    if (layout.job.recompute == Recompute::none || same == plain.end()) continue;
    INFO(layout.point.layout << ", " << settings_of(layout.job));
    const auto compute = static_cast<std::size_t>(Account::compute);
    CHECK(layout.breakdown[compute] >= same->second->breakdown[compute]);
    CHECK(layout.memory_bytes <= same->second->memory_bytes);
    ++pairs;
  }
  CHECK(pairs > 10);
}

TEST_CASE("nothing on the front is dominated, and everything else is") {
  const LayoutSearch& found = small_search();
  CHECK(found.layouts.front().is_on_front);
  for (const ModelLayout& layout : found.layouts) {
    const bool dominated = std::ranges::any_of(found.layouts, [&](const ModelLayout& other) {
      return other.step_s < layout.step_s && other.memory_bytes <= layout.memory_bytes;
    });
    INFO(layout.point.layout << ", " << settings_of(layout.job));
    if (layout.is_on_front) CHECK_FALSE(dominated);
    const bool may_go = dominated || std::ranges::any_of(found.layouts, [&](const ModelLayout& other) {
                          return &other != &layout && other.step_s == layout.step_s &&
                                 other.memory_bytes <= layout.memory_bytes;
                        });
    if (!layout.is_on_front) CHECK((may_go || layout.fits < kProbablyFits));
  }
}

TEST_CASE("the first layout's lead has its reason") {
  const LayoutSearch& found = small_search();
  CHECK_FALSE(found.why_first.empty());
  CHECK(found.why_none.empty());
  // One billion parameters train best without cutting them.
  CHECK(found.layouts.front().job.degrees.tensor == 1);
}

TEST_CASE("keys that are fixed keep the scenario's value") {
  LayoutRequest request{.gpus = 8, .global_batch = 32, .fixed = {"tensor", "pipeline", "micro_batch"}};
  const LayoutSearch found = search("sequence = 4096\ntensor = 2\npipeline = 2\nmicro_batch = 2\n", request);
  REQUIRE_FALSE(found.layouts.empty());
  for (const ModelLayout& layout : found.layouts) {
    CHECK(layout.job.degrees.tensor == 2);
    CHECK(layout.job.degrees.pipeline == 2);
    CHECK(layout.job.micro_batch == 2);
  }
  request.fixed = {"shard", "recompute", "schedule", "virtual_stages"};
  const LayoutSearch others =
      search("pipeline = 2\nshard = \"none\"\nrecompute = \"selective\"\nschedule = \"afab\"\n", request);
  REQUIRE_FALSE(others.layouts.empty());
  for (const ModelLayout& layout : others.layouts) {
    CHECK(layout.job.sharding == ModelSharding::none);
    CHECK(layout.job.recompute == Recompute::selective);
    CHECK(layout.job.schedule == PipelineSchedule::afab);
    CHECK(layout.job.degrees.virtual_stages == 1);
  }
}

TEST_CASE("where all degrees are given the reason says so, and what comes next") {
  const LayoutRequest request{.gpus = 8,
                              .global_batch = 32,
                              .fixed = {"tensor", "pipeline", "virtual_stages", "micro_batch"},
                              .on_other_machines = false};
  const LayoutSearch found = search("sequence = 4096\ntensor = 2\npipeline = 2\nmicro_batch = 2\n", request);
  REQUIRE(found.layouts.size() == 2);  // with recomputation and without
  CHECK_THAT(found.why_first,
             ContainsSubstring("with tensor = 2, pipeline = 2, virtual_stages = 1 as given no other degrees "
                               "fit; next is micro-batch 2, 1f1b, recompute full, ") &&
                 ContainsSubstring("% longer"));
}

TEST_CASE("a micro-batch that is fixed is tried whatever its size") {
  const LayoutRequest request{.gpus = 8, .global_batch = 48, .fixed = {"micro_batch"}};
  const LayoutSearch found = search("micro_batch = 3\n", request);
  REQUIRE_FALSE(found.layouts.empty());
  CHECK(found.layouts.front().job.micro_batch == 3);
}

TEST_CASE("sequences of 8,192 tokens are cut in two, shorter ones not at all") {
  const auto most = [](const std::string& sequence) {
    const LayoutRequest request{.gpus = 8,
                                .global_batch = 32,
                                .fixed = {"tensor", "pipeline", "micro_batch"},
                                .on_other_machines = false};
    int context = 0;
    for (const ModelLayout& layout : search("sequence = " + sequence + "\n", request).layouts)
      context = std::max(context, layout.job.degrees.context);
    return context;
  };
  CHECK(most("4096") == 1);
  CHECK(most("8192") == 2);
}

TEST_CASE("61 layers make 16 chunks with embedding, head and a further token's layer") {
  const LayoutRequest request{.gpus = 64,
                              .global_batch = 64,
                              .fixed = {"tensor", "pipeline", "expert", "micro_batch", "context"},
                              .on_other_machines = false};
  const LayoutSearch found = search_layouts(
      scenario_of("pipeline = 8\nexpert = 8\nnext_tokens = 1\nsequence = 512\n", "deepseek_v3"), request);
  CHECK(found.possible >= 4);  // one chunk a stage and two, each with recomputation and without
}

TEST_CASE("context ranks that are fixed stay so, however short sequences are") {
  const LayoutSearch found =
      search("context = 2\nsequence = 4096\n", {.gpus = 8, .global_batch = 32, .fixed = {"context"}});
  REQUIRE_FALSE(found.layouts.empty());
  for (const ModelLayout& layout : found.layouts) CHECK(layout.job.degrees.context == 2);
}

TEST_CASE("without a batch a step has a million tokens") {
  const LayoutSearch found = search("sequence = 4096\n", {.gpus = 2, .fixed = {"micro_batch", "recompute"}});
  CHECK(found.global_batch == 256);  // 2^20 / 4096
  CHECK(found.tokens == 1 << 20);
}

TEST_CASE("what divides by nothing is refused with what would") {
  CHECK_THROWS_AS(search("", {.gpus = 7, .global_batch = 32, .fixed = {"tensor", "pipeline"}}), InputError);
  CHECK_THROWS_WITH(
      search("", {.gpus = 8, .global_batch = 1, .fixed = {"tensor", "pipeline"}}),
      ContainsSubstring("no layout divides 8 GPUs, 32 heads, 16 layers and a global batch of 1"));
}

TEST_CASE("a network that fits nowhere says what the smallest layout needs") {
  test::use_source_catalogs();
  const LayoutSearch found = search_layouts(scenario_of("", "llama3_405b"), {.gpus = 8, .global_batch = 8});
  CHECK(found.layouts.empty());
  CHECK(found.without_memory == found.possible);
  CHECK(found.best() == nullptr);
  CHECK_THAT(found.why_none, ContainsSubstring("more GPUs, or offload = \"optimizer\""));
}

TEST_CASE("settings of a layout are told beside its degrees") {
  LargeModelRun job;
  CHECK(settings_of(job) == "micro-batch 1");
  job.degrees.pipeline = 2, job.micro_batch = 4, job.recompute = Recompute::full;
  job.sharding = ModelSharding::parameters;
  CHECK(settings_of(job) == "micro-batch 4, 1f1b, sharded parameters, recompute full");
}

}  // namespace layouts_test

// The JSON contract: exactly these keys, in these places.
#include "sim/report/prediction/json.hpp"

#include <limits>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/example_prediction.hpp"

namespace json_test {

using namespace foretrain;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("a prediction has exactly the keys of the contract") {
  const Json j = Json::parse(write_json(test::example_prediction(), {}));
  CHECK(keys(j) == Keys{"schema", "scenario", "model", "cluster", "strategy", "precision", "scaling",
                        "headline", "points", "answer", "cannot_run", "crossover", "crossover_interval",
                        "to_narrow", "decisions", "warnings", "extrapolated"});
  CHECK(keys(j["points"][0]) == Keys{"gpus",
                                     "nodes",
                                     "batch_per_gpu",
                                     "global_batch",
                                     "steps_per_epoch",
                                     "step_s",
                                     "epoch_s",
                                     "total_s",
                                     "samples_per_s",
                                     "speedup",
                                     "efficiency",
                                     "gpu_hours",
                                     "other_s",
                                     "startup_s",
                                     "loader_restart_s",
                                     "validation_s",
                                     "checkpoint_s",
                                     "periodic_s",
                                     "interval",
                                     "epoch_interval",
                                     "total_interval",
                                     "speedup_interval",
                                     "chance_of_gain",
                                     "memory",
                                     "breakdown",
                                     "buckets_bytes"});
  CHECK(keys(j["points"][0]["total_interval"]) == Keys{"low_s", "high_s", "level"});
  CHECK(keys(j["points"][0]["speedup_interval"]) == Keys{"low", "high", "level"});
  CHECK(keys(j["crossover_interval"]) ==
        Keys{"fastest_gpus", "chance_slower_than_one_gpu", "slower_than_one_gpu_from", "level"});
  CHECK(keys(j["points"][0]["interval"]) == Keys{"low_s", "high_s", "level"});
  CHECK(keys(j["points"][0]["memory"]) ==
        Keys{"bytes", "capacity_bytes", "fits", "fits_tightly", "chance_of_fitting", "largest_batch_per_gpu",
             "parameters_bytes", "gradients_bytes", "optimizer_bytes", "buckets_bytes", "activations_bytes",
             "workspace_bytes", "framework_bytes"});
  CHECK(keys(j["points"][0]["breakdown"]) ==
        Keys{"compute_s", "exposed_communication_s", "input_stall_s", "host_s", "optimizer_s", "other_s"});
  CHECK(keys(j["crossover"]) == Keys{"fastest_gpus", "slower_than_one_gpu", "slower_than_fewer_gpus",
                                     "no_gain_from", "efficiency_below", "slower_than_one_gpu_from",
                                     "slower_than_previous_from", "cause", "worth_requesting", "causes",
                                     "search"});
  CHECK(keys(j["crossover"]["efficiency_below"]) == Keys{"0.9", "0.8", "0.5", "0.7"});
  CHECK(keys(j["crossover"]["worth_requesting"]) == Keys{"0.9", "0.8", "0.7", "0.5"});
  CHECK(keys(j["crossover"]["worth_requesting"]["0.9"]) == Keys{"every_up_to", "most"});
  CHECK(keys(j["crossover"]["causes"][0]) == Keys{"gpus", "loss_s", "parts"});
  CHECK(keys(j["crossover"]["causes"][0]["parts"][0]) == Keys{"what", "seconds", "share"});
  CHECK(keys(j["crossover"]["search"]) == Keys{"up_to", "numbers", "simulated", "certain"});
  CHECK(keys(j["decisions"][0]) == Keys{"subject", "choice", "why"});
}

TEST_CASE("a job that cannot run has no speedups, intervals and answers") {
  Prediction p = test::example_shortage();
  p.cannot_run = true;
  const Json j = Json::parse(write_json(p, {}));
  CHECK(j["cannot_run"] == true);
  CHECK(j["crossover"].is_null());
  CHECK(j["crossover_interval"].is_null());
  for (const char* key :
       {"speedup", "efficiency", "interval", "total_interval", "speedup_interval", "chance_of_gain"}) {
    INFO(key);
    CHECK(j["points"][1][key].is_null());
  }
  CHECK(j["points"][1]["memory"]["bytes"].is_number());
}

TEST_CASE("values arrive unchanged, what is missing is null") {
  const Json j = Json::parse(write_json(test::example_prediction(), {}));
  CHECK(j["schema"] == "foretrain.prediction/1");
  CHECK(j["scaling"] == "weak");
  CHECK(j["points"][1]["step_s"] == 0.125);
  CHECK(j["points"][1]["buckets_bytes"] == Json::array({8'196'000, 26'255'360}));
  CHECK(j["points"][0]["buckets_bytes"] == Json::array());
  CHECK(j["points"][0]["memory"]["bytes"] == 8'000'000'000);
  CHECK(j["points"][0]["memory"]["fits"] == true);
  CHECK(j["points"][1]["memory"]["fits"] == true);
  CHECK(j["points"][0]["memory"]["activations_bytes"] == 7'898'000'000);
  CHECK(j["points"][0]["memory"]["largest_batch_per_gpu"] == 132);
  CHECK(j["points"][1]["startup_s"] == 10);
  CHECK(j["points"][1]["validation_s"] == 240);
  CHECK(j["points"][1]["other_s"] == 300);
  CHECK(j["crossover"]["slower_than_one_gpu"].empty());
  CHECK(j["crossover"]["efficiency_below"]["0.9"] == 8);
  CHECK(j["crossover"]["efficiency_below"]["0.5"].is_null());
}

TEST_CASE("without data.samples an epoch is null, not one step") {
  const Json j = Json::parse(write_json(test::example_without_samples(), {}));
  for (const char* key :
       {"steps_per_epoch", "epoch_s", "total_s", "gpu_hours", "epoch_interval", "total_interval"}) {
    INFO(key);
    CHECK(j["points"][0][key].is_null());
  }
  CHECK(j["points"][1]["speedup"] == 6.4);
  CHECK(j["points"][1]["interval"]["low_s"] == 0.1);
}

TEST_CASE("of several numbers only that which does not fit has no speedup") {
  const Json j = Json::parse(write_json(test::example_shortage(), {}));
  CHECK(j["points"][0]["speedup"] == 1);
  CHECK(j["points"][1]["speedup"].is_null());
  CHECK(j["points"][1]["interval"].is_null());
  CHECK(j["points"][1]["memory"]["fits"] == false);
}

TEST_CASE("a sensitivity of a step has no total, and an epoch of unknown length is not now of none") {
  Prediction p = test::example_break_even();
  p.sensitivity = Sensitivity{};
  p.sensitivity->total_s = 3;
  p.break_even->epoch_samples = {.now = 0, .at = 5000, .limit = 10'000};
  const Json whole = Json::parse(write_json(p, {}));
  CHECK(whole["sensitivity"]["total_s"] == 3);
  CHECK(whole["sensitivity"]["step_s"].is_null());
  CHECK(whole["break_even"]["epoch_samples"]["now"].is_null());
  CHECK(whole["break_even"]["epoch_samples"]["beats_now"].is_null());
  CHECK(whole["break_even"]["epoch_samples"]["at"] == 5000);
  p.sensitivity->is_of_step = true;
  const Json step = Json::parse(write_json(p, {}));
  CHECK(step["sensitivity"]["total_s"].is_null());
  CHECK(step["sensitivity"]["step_s"] == 3);
}

TEST_CASE("the inverse questions are there when they were asked") {
  const Json j = Json::parse(write_json(test::example_break_even(), {}));
  CHECK(keys(j["break_even"]) == Keys{"gpus", "speedup", "batch_per_gpu", "width", "epoch_samples", "link",
                                      "link_bytes_per_s", "bandwidth", "fastest"});
  CHECK(keys(j["break_even"]["batch_per_gpu"]) ==
        Keys{"now", "beats_now", "at", "limit", "fits", "is_upper"});
  CHECK(j["break_even"]["batch_per_gpu"]["at"] == 48);
  CHECK(j["break_even"]["epoch_samples"]["at"].is_null());
  CHECK(keys(j["break_even"]["width"]) == Keys{"at", "why_not"});
  CHECK(j["break_even"]["fastest"]["gpus_then"] == 16);
}

TEST_CASE("several predictions are one document") {
  const Json j =
      Json::parse(write_predictions_json({test::example_prediction(), test::example_prediction()}));
  CHECK(keys(j) == Keys{"schema", "predictions"});
  CHECK(j["schema"] == "foretrain.predictions/1");
  REQUIRE(j["predictions"].size() == 2);
  CHECK(j["predictions"][1] == Json::parse(write_json(test::example_prediction(), {})));
}

TEST_CASE("numbers survive to the last digit") {
  Prediction p = test::example_prediction();
  p.points[0].step_s = 0.1 + 0.2;
  p.points[0].total_s = 1e-300;
  const Json j = Json::parse(write_json(p, {}));
  CHECK(j["points"][0]["step_s"].get<double>() == 0.1 + 0.2);
  CHECK(j["points"][0]["total_s"].get<double>() == 1e-300);
}

TEST_CASE("names of any bytes and numbers that are none still make valid JSON") {
  Prediction p = test::example_prediction();
  p.scenario = "a\"b\\c\n\x01\xff";
  p.points[0].step_s = std::numeric_limits<double>::quiet_NaN();
  p.points[0].epoch_s = std::numeric_limits<double>::infinity();
  const Json j = Json::parse(write_json(p, {}));
  CHECK(j["points"][0]["step_s"].is_null());
  CHECK(j["points"][0]["epoch_s"].is_null());
  CHECK(j["scenario"].get<std::string>().starts_with("a\"b\\c\n\x01"));
}

TEST_CASE("strong scaling says so") {
  Prediction p = test::example_prediction();
  p.strong_scaling = true;
  CHECK(Json::parse(write_json(p, {}))["scaling"] == "strong");
}

TEST_CASE("a prediction of no points is an empty list") {
  CHECK(Json::parse(write_json(Prediction{}, {}))["points"] == Json::array());
}

TEST_CASE("a validation has the keys of the contract") {
  Validation v;
  v.rows = 3, v.scored = 1;
  v.skipped = {{4, "unknown model"}};
  v.unreached = {{"far", 7, 1, "cannot be reached", {{2, {}}, {4, {}}}}};
  v.error = v.linear = statistics_of({0.1});
  v.series = {{"s", 0.1, 0.1, {{4, 100, 110, 0.1, 90, 130, 120}}}};
  const Json j = Json::parse(write_validation_json(v));
  CHECK(keys(j) == Keys{"schema", "kind", "rows", "scored", "skipped", "unreached_anchors", "error",
                        "coverage", "baseline", "series"});
  CHECK(j["schema"] == "foretrain.validation/1");
  CHECK(j["skipped"][0] == Json{{"row", 4}, {"why", "unknown model"}});
  CHECK(j["unreached_anchors"][0] ==
        Json{{"series", "far"}, {"row", 7}, {"gpus", 1}, {"unscored_rows", 2}, {"why", "cannot be reached"}});
  CHECK(keys(j["error"]) == Keys{"median", "p90", "mean", "bias"});
  CHECK(keys(j["baseline"]["linear"]) == Keys{"median", "p90", "mean", "bias"});
  CHECK(keys(j["series"][0]) == Keys{"series", "median", "worst", "points"});
  for (const char* key : {"gpus", "measured", "predicted", "error"})
    CHECK(j["series"][0]["points"][0].contains(key));
  v.anchored = false;
  CHECK(Json::parse(write_validation_json(v))["baseline"].empty());
  CHECK_FALSE(Json::parse(write_validation_json(v)).contains("unreached_anchors"));
}

TEST_CASE("a validation says which rules it was given, and what they told of how many rows") {
  Validation v;
  v.provenance = "p.toml";
  v.inferred_settings = {{"strategy single for x", 1}, {"framework.name = \"tensorflow\"", 2, "its log"}};
  v.unreached = {{"far", 7, 1, "cannot be reached", {{2, {"m", "c", "g", "ddp", "fp32", 1}}}}};
  const Json j = Json::parse(write_validation_json(v, {{"model"}}));
  CHECK(j["provenance"] == "p.toml");
  CHECK(j["row_facts"][0] == Json{{"what", "strategy single for x"}, {"rows", 1}});
  CHECK(j["row_facts"][1] ==
        Json{{"what", "framework.name = \"tensorflow\""}, {"rows", 2}, {"said_in", "its log"}});
  CHECK(j["groups"][0]["by"]["model"] == "m");
  CHECK(j["groups"][0]["rows"] == 0);
  CHECK(j["groups"][0]["failed"] == 1);
}

}  // namespace json_test

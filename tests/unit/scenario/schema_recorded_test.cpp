// The table [recorded]: every mistake at once with its place, limits, what scenarios say of a recording, and
// that reading a long one is a bounded number of steps.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/scenario/recording.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/variation.hpp"
#include "sim/workload/recorded/recorded_network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recorded_text.hpp"

namespace schema_recorded_test {

using namespace foretrain;
using test::expanded_text;
using test::recorded_text;

namespace {

const std::string kWeight = "{ name = \"w\", size = \"f32[8,8]\" },\n";
const std::string kRelu = "{ op = \"aten::relu\", in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n";
const std::string kGradient =
    "{ op = \"aten::mm\", pass = \"backward\", in = [\"f32[8,B]\", \"f32[B,8]\"], out = [\"f32[8,8]\"], "
    "ready = "
    "[0] },\n";

/// All mistakes of a text, formatted.
std::string mistakes_in(const std::string& text) {
  const SourceText source{"net.toml", text};
  Diagnostics diagnostics(source);
  read_model_file(source, diagnostics);
  return format(diagnostics.found());
}

void check_says(const std::string& text, const std::string& part) {
  const std::string said = mistakes_in(text);
  INFO(said);
  CHECK(said.find(part) != std::string::npos);
}

Scenario scenario_of(const std::string& text, const std::string& settings) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("foretrain_recorded_{}.toml", ::getpid());
  std::ofstream(file) << text;
  const Scenario scenario = read_scenario(
      {"s.toml",
       fmt::format("[model]\nname = \"{}\"\n{}\n[cluster]\nname = \"star-1gpu\"\n[run]\ngpus = [1]\n",
                   file.string(), settings)},
      {});
  std::filesystem::remove(file);
  return scenario;
}

bool warns(const Scenario& scenario, const std::string& part) {
  for (const std::string& warning : scenario.warnings) {
    if (warning.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a recording without mistakes is read") {
  CHECK(mistakes_in(recorded_text(kWeight, kRelu + kGradient)).empty());
  CHECK(mistakes_in(test::small_network_recorded()).empty());
}

TEST_CASE("every mistake of a recording is reported at once with its place") {
  const std::string text = recorded_text(
      "{ name = \"w\", size = \"f33[8]\" },\n",
      "{ opp = \"aten::relu\", in = [\"f32[B\"], out = 3 },\n"
      "{ op = \"aten::relu\", pass = \"sideways\", ready = [7], with = { stride = { a = 1 } } },\n",
      "{ size = \"f32[B]\", made = 9, fred = 3 },\n");
  const std::string said = mistakes_in(text);
  INFO(said);
  for (const char* part :
       {"unknown type \"f33\"", "unknown key \"opp\"", "did you mean \"op\"", "is no size", "must be a list",
        "unknown recorded.operators[1].pass", "there is no parameter 7", "there is no operator 9",
        "unknown key \"fred\"", "did you mean \"freed\"", "with.stride must hold", "op is missing"})
    CHECK(said.find(part) != std::string::npos);
  CHECK(said.find("net.toml:6:22: ") != std::string::npos);
}

TEST_CASE("a recorded network has no layers and another one needs them") {
  check_says("layers = [{ type = \"relu\" }]\n" + recorded_text(kWeight, kRelu),
             "a recorded network has no layers");
  check_says("description = \"nothing\"\n", "layers is missing");
  check_says("description = \"nothing\"\n", "input is missing");
  check_says("[recorded]\nformat = 2\nbatch = 1\nparameters = []\noperators = []\n",
             "recorded.format must be");
  check_says("[recorded]\nformat = 1\nbatch = 1\nparameters = []\noperators = []\n", "operators is empty");
}

TEST_CASE("sizes that grow need a recording that says so and parameters never grow") {
  check_says(recorded_text(kWeight, kRelu + kGradient, "", "batch = 4\n"), "recorded.grows is not true");
  check_says(recorded_text("{ name = \"w\", size = \"f32[B]\" },\n", kRelu),
             "parameters[0] grows with the batch");
}

TEST_CASE("tensors above 2^40 elements, long lists and many tensors are refused") {
  check_says(recorded_text("{ name = \"w\", size = \"f32[1048576,1048577]\" },\n", kRelu),
             "more than 2^40 elements");
  std::string many;
  for (std::size_t i = 0; i <= kMostTensorsOfOperator; ++i) many += "\"f32[8]\", ";
  check_says(recorded_text(kWeight, "{ op = \"aten::cat\", in = [" + many + "] },\n"), "at most 100000");
  check_says(recorded_text(kWeight, "{ op = \"" + std::string(301, 'x') + "\" },\n"), "longer than 300");
}

TEST_CASE("times need the GPU on which they were measured and a GPU that is known") {
  const std::string timed =
      "{ op = \"aten::relu\", in = [\"f32[B,8]\"], out = [\"f32[B,8]\"], time = \"3 us\" },\n";
  check_says(recorded_text(kWeight, timed), "times need recorded.gpu");
  check_says(recorded_text(kWeight, timed, "", "batch = 4\ngrows = true\ngpu = \"gtx-9999\"\n"),
             "unknown GPU");
  CHECK(mistakes_in(recorded_text(kWeight, timed + kGradient, "",
                                  "batch = 4\ngrows = true\ngpu = \"Tesla V100-SXM2-16GB\"\n"))
            .empty());
}

TEST_CASE("a text of too many values is refused before it is parsed") {
  std::string text = "input = [";
  text.reserve(12'000'000);
  for (int i = 0; i < 5'000'002; ++i) text += "1,";
  check_says(text + "]\n", "more than 5000000 values");
}

TEST_CASE("a scenario warns of batches that a recording of one batch does not know") {
  const std::string text =
      recorded_text(kWeight,
                    "{ op = \"aten::relu\", in = [\"f32[4,8]\"], out = [\"f32[4,8]\"] },\n" +
                        std::string("{ op = \"aten::mm\", pass = \"backward\", in = [\"f32[8,4]\", "
                                    "\"f32[4,8]\"], out = [\"f32[8,8]\"], "
                                    "ready = [0] },\n"),
                    "", "batch = 4\n");
  CHECK(warns(scenario_of(text, "batch_per_gpu = 32"), "recorded at a batch of 4 alone"));
  CHECK_FALSE(warns(scenario_of(text, "batch_per_gpu = 4"), "alone"));
}

TEST_CASE("a scenario warns when much is moved by operators without a formula") {
  const std::string magic = "{ op = \"mine::magic\", in = [\"f32[B,800]\"], out = [\"f32[B,800]\"] },\n";
  const Scenario scenario =
      scenario_of(recorded_text(kWeight, kRelu + magic + kGradient), "batch_per_gpu = 4");
  CHECK(warns(scenario, "without a formula"));
  CHECK(warns(scenario, "mine::magic"));
  const Recording& recording = *scenario.workload.model->recording;
  CHECK(recording.unknown == std::vector<std::string>{"mine::magic"});
  CHECK(recording.unknown_launches == 1);
  CHECK(share_without_formula(recording, 4) > 0.9);
  CHECK_FALSE(warns(scenario_of(recorded_text(kWeight, kRelu + kGradient), "batch_per_gpu = 4"), "formula"));
}

TEST_CASE("a scenario warns of parameters without a gradient") {
  CHECK(warns(scenario_of(recorded_text("{ name = \"w\", size = \"bf16[8,8]\" },\n", kRelu + kRelu), ""),
              "1 parameter without a gradient"));
}

TEST_CASE("a recorded network is trained as it was recorded where nobody says otherwise") {
  const std::string half = recorded_text("{ name = \"w\", size = \"bf16[8,8]\" },\n", kRelu + kGradient);
  const Scenario recorded = scenario_of(half, "");
  CHECK_FALSE(recorded.workload.half_weights);
  CHECK(has_half_weights(recorded.workload));
  CHECK(recorded.workload.precision == Precision::bf16);
  CHECK(recorded.workload.batch_per_gpu == 4);
  CHECK(scenario_of(recorded_text(kWeight, kRelu + kGradient), "batch_per_gpu = 64").workload.batch_per_gpu ==
        64);
  CHECK_THROWS_AS(scenario_of(half, "precision = \"fp32\""), InputError);
  CHECK(has_half_weights(scenario_of(half, "precision = \"bf16\"\nhalf_weights = false").workload));
}

TEST_CASE("a recorded network is not made wider and says why") {
  const Scenario scenario = scenario_of(recorded_text(kWeight, kRelu + kGradient), "");
  CHECK_THROWS_AS(with_width(scenario, 2), InputError);
  try {
    with_width(scenario, 2);
  } catch (const InputError& error) {
    CHECK(error.first_message().find("is recorded") != std::string::npos);
  }
}

TEST_CASE("a hundred thousand operators become as many with each size parsed once") {
  std::string operators;
  for (int i = 0; i < 50'000; ++i)
    operators += fmt::format(
        "{{ op = \"aten::relu\", of = \"m{}\", in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] }},\n", i % 100);
  for (int i = 0; i < 50'000; ++i)
    operators +=
        "{ op = \"aten::threshold_backward\", pass = \"backward\", in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] "
        "},\n";
  const ExpandedModel model = expanded_text(recorded_text("", operators));
  CHECK(model.forward.size() == 50'000);
  CHECK(model.backward.size() == 50'000);
  CHECK(model.layer_names.size() == 101);
  CHECK(model.recording->operators == 100'000);
}

}  // namespace schema_recorded_test

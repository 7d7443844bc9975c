// Tests that the reference of keys and the schema say the same: each listed key is accepted, and no table
// takes another.
#include "sim/scenario/sections/scenario_keys.hpp"

#include <map>
#include <set>
#include <string>

#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"

namespace scenario_keys_test {

using namespace foretrain;

namespace {

ScenarioOverrides small_question() {
  ScenarioOverrides overrides;
  overrides.model = "mnist_net";
  overrides.cluster = "puhti";
  overrides.gpus = {1};
  return overrides;
}

/// Of a network that has degrees, and experts; on as many GPUs as they take.
ScenarioOverrides large_question() {
  ScenarioOverrides overrides;
  overrides.model = "mixtral_8x7b";
  overrides.cluster = "hgx-h100-400g";
  return overrides;
}

/// Of a language model, which has projections and blocks.
ScenarioOverrides language_question() {
  ScenarioOverrides overrides = small_question();
  overrides.model = "llama3_2_1b";
  return overrides;
}

ScenarioOverrides question_about(std::string_view name) {
  const bool is_tuning = name.starts_with("model.adapters") || name == "model.trainable" ||
                         name == "model.sequence_length" || name == "model.weights" ||
                         name == "model.upcast" || name == "model.offload_activations";
  if (is_tuning) return language_question();
  return name.starts_with("parallel") ? large_question() : small_question();
}

/// Keys that make sense only beside another one.
std::vector<std::string> companions(const std::string& key) {
  if (key == "measured.gpus" || key == "measured.scales" || key == "measured.reused_batch")
    return {"measured.samples_per_s=1000"};
  if (key == "model.optimizer_in_backward") return {"strategy.name=\"single\""};
  if (key == "model.upcast") return {"model.weights=\"bf16\""};
  if (key == "model.offload_activations") return {"model.recompute=true"};
  if (key == "model.adapters.virtual_tokens") return {"model.adapters.kind=\"prefix\""};
  if (key == "model.adapters.encoder_width") return {"model.adapters.kind=\"p_tuning\""};
  if (key == "measured.epoch") return {"data.samples=60000"};
  if (key == "parallel.virtual_stages" || key == "parallel.schedule") return {"parallel.pipeline=4"};
  if (key == "run.every.validation.epochs") return {"run.every.validation.duration=\"1 s\""};
  if (key == "run.every.validation.batch_per_gpu") return {"run.every.validation.samples=10000"};
  return {};
}

/// "model.name" → {"model", "name"}: split at the last dot; a key of the document has the table "".
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::pair{std::string(), name}
                                  : std::pair{name.substr(0, dot), name.substr(dot + 1)};
}

/// The keys a table takes, from the hint for a key that is near none of them: "known: a, b, c".
std::set<std::string> keys_of_schema(const std::string& table) {
  ScenarioOverrides overrides = question_about(table);
  if (table.starts_with("run.every")) overrides.settings.push_back(table + ".duration=\"1 s\"");
  if (table == "measured") overrides.settings.emplace_back("measured.samples_per_s=1000");
  overrides.settings.push_back((table.empty() ? "" : table + ".") + "qqqqqqqqqqqqqqqq=1");
  try {
    make_scenario(overrides);
  } catch (const InputError& error) {
    std::string hint = error.diagnostics().front().hint;
    REQUIRE(hint.starts_with("known: "));
    REQUIRE(hint.find("…") == std::string::npos);
    hint.erase(0, 7);
    std::set<std::string> keys;
    for (std::size_t begin = 0; begin < hint.size();) {
      const std::size_t end = std::min(hint.find(", ", begin), hint.size());
      keys.insert(hint.substr(begin, end - begin));
      begin = end + 2;
    }
    return keys;
  }
  return {};
}

}  // namespace

TEST_CASE("the schema takes every key of the reference with its example") {
  for (const ScenarioKey& key : scenario_keys()) {
    const std::string name(key.name);
    if (name == "model.program") continue;  // it names a file; schema_program_test.cpp
    INFO(name);
    ScenarioOverrides overrides = question_about(name);
    if (name == "model.name") overrides.model.clear();
    if (name == "cluster.name") overrides.cluster.clear();
    if (name == "run.gpus") overrides.gpus.clear();
    for (const std::string& companion : companions(name)) overrides.settings.push_back(companion);
    if (!key.strategies.empty()) overrides.strategy = key.strategies.front();
    overrides.settings.push_back(name + "=" + key.example);
    if (name == "model.name") overrides.settings.emplace_back("cluster.name=\"puhti\"");
    if (overrides.model.empty() || overrides.cluster.empty()) {
      const SourceText text{"question.toml", "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n"};
      CHECK_NOTHROW(read_scenario(text, overrides));
    } else {
      CHECK_NOTHROW(make_scenario(overrides));
    }
  }
}

TEST_CASE("the reference lists every key the schema takes") {
  std::map<std::string, std::set<std::string>> listed;
  for (const ScenarioKey& key : scenario_keys()) {
    const auto [table, name] = split(key.name);
    if (std::find(key.strategies.begin(), key.strategies.end(), "ddp") == key.strategies.end() &&
        !key.strategies.empty())
      continue;
    listed[table].insert(name);
  }
  listed["run"].insert("every"), listed["model"].insert("adapters");
  for (const std::string table : {"model", "framework", "data", "strategy", "parallel", "nccl", "launch",
                                  "cluster", "run", "loop", "measured", "study"})
    listed[""].insert(table);
  listed.erase("parallel"), listed.erase("model");  // more keys than a hint names
  for (const auto& [table, keys] : listed) {
    INFO("[" << table << "]");
    CHECK(keys_of_schema(table) == keys);
  }
}

}  // namespace scenario_keys_test

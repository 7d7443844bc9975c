// Laws of numbers nobody means: whatever value a key is given, it is refused, or every number of the answer
// is one.
#include <cmath>
#include <map>

#include "sim/analysis/step/point_predictor.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace hostile_number_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// By the kind of a key; quantities without the quotes.
const std::map<std::string, std::vector<std::string>>& hostile_values() {
  static const std::map<std::string, std::vector<std::string>> values{
      {"time", {"1e-320 s", "1e-13 s", "1e308 s", "11 d", "0 s", "-1 s"}},
      {"size", {"1e-320 GB", "1e308 B", "1000 PB", "0 B", "-1 MB"}},
      {"rate", {"1e-320 GBps", "1e308 GBps", "1000 PBps", "8 bps", "0 Bps", "-1 GBps"}},
      {"work", {"1e-300 TFLOPs", "1 FLOPs", "1e308 FLOPs", "0 FLOPs", "-1 TFLOPs"}},
      {"power", {"1e-320 W", "1e308 W", "0 W"}},
      {"number", {"1e-320", "1e-6", "1e308", "0", "-1", "nan", "inf"}},
      {"integer", {"0", "-1", "1", "1000000", "1000000000000", "9223372036854775807"}}};
  return values;
}

bool is_plain(const std::string& kind) { return kind == "number" || kind == "integer"; }

void check_numbers(const PredictionPoint& p) {
  double sum = 0;
  for (const double account : p.breakdown) {
    CHECK(account >= 0);
    sum += account;
  }
  CHECK(p.step_s > 0);
  CHECK(sum == Approx(p.step_s));
  for (const double seconds : {p.epoch_s, p.total_s, p.overhead.startup_s, p.overhead.loader_restart_s,
                               p.overhead.validation_s, p.overhead.checkpoint_s, p.overhead.periodic_s})
    CHECK((seconds >= 0 && seconds <= kLongestRun));
  CHECK((std::isfinite(p.samples_per_s) && p.samples_per_s > 0));
  CHECK((p.memory.total().count >= 0 && p.memory.total().count < std::int64_t{1} << 62));
}

/// Refused, or numbers; whether there was an answer.
bool check_answer(const Scenario& scenario) {
  try {
    PointPredictor points(scenario, 2);
    Decisions decisions;
    for (const int gpus : {1, 2}) check_numbers(points.point(gpus, decisions));
    return true;
  } catch (const InputError& refused) {
    CHECK(!refused.diagnostics().empty());
    return false;
  }
}

bool check_setting(const ScenarioKey& key, const std::string& value) {
  ScenarioOverrides overrides;
  const bool is_of_adapters = key.name.starts_with("model.adapters");  // they ask for projections
  overrides.model = is_of_adapters ? "llama3_2_1b" : "mnist_net";
  overrides.cluster = "puhti", overrides.gpus = {1, 2};
  overrides.strategy = key.strategies.empty() ? "ddp" : key.strategies.front();
  overrides.settings = {"data.samples=60000"};
  if (key.name == "run.every.validation.epochs")
    overrides.settings.emplace_back("run.every.validation.duration=\"30 s\"");
  if (key.name == "model.adapters.virtual_tokens" || key.name == "model.adapters.encoder_width")
    overrides.settings.emplace_back("model.adapters.kind=\"p_tuning\"");
  if (key.name == "measured.gpus") overrides.settings.emplace_back("measured.samples_per_s=1000");
  overrides.settings.push_back(key.name + "=" + (is_plain(key.kind) ? value : "\"" + value + "\""));
  INFO(overrides.settings.back());
  try {
    return check_answer(make_scenario(overrides));
  } catch (const InputError& refused) {
    CHECK(!refused.diagnostics().empty());
    return false;
  }
}

/// A file with one key changed.
std::string with_key(std::map<std::string, std::string> keys, const std::string& key,
                     const std::string& value) {
  keys[key] = value;
  std::string text;
  for (const auto& [name, written] : keys) text += name + " = " + written + "\n";
  return text;
}

using FileKeys = std::vector<std::pair<std::string, std::string>>;  ///< name and kind

/// Reads the file for each hostile value of each key and hands on what was accepted.
template <class Read, class Use>
void for_each_hostile(const std::map<std::string, std::string>& file, const FileKeys& keys, Read read,
                      Use use) {
  for (const auto& [key, kind] : keys) {
    for (const std::string& value : hostile_values().at(kind)) {
      const SourceText source{"hostile.toml",
                              with_key(file, key, is_plain(kind) ? value : "\"" + value + "\"")};
      Diagnostics diagnostics(source);
      const auto part = read(source, diagnostics);
      INFO(key << " = " << value);
      if (diagnostics.empty()) use(part);
    }
  }
}

Scenario two_gpus() { return scenario_of(mnist_net(), star_cluster(2, {12.3e9}), {1, 2}); }

}  // namespace

TEST_CASE("law: no value of a scenario's key gives anything but numbers or a refusal") {
  int tried = 0, answered = 0;
  for (const ScenarioKey& key : scenario_keys()) {
    const auto values = hostile_values().find(key.kind);
    if (values == hostile_values().end()) continue;
    for (const std::string& value : values->second) ++tried, answered += check_setting(key, value) ? 1 : 0;
  }
  CHECK(tried > 200);
  CHECK(answered > tried / 6);
}

TEST_CASE("law: no value in the file of a link gives anything but numbers or a refusal") {
  const FileKeys keys{{"bandwidth", "rate"},          {"line_rate", "rate"},
                      {"nccl_bandwidth", "rate"},     {"latency", "time"},
                      {"eager_limit", "size"},        {"collective_latency", "time"},
                      {"rendezvous_latency", "time"}, {"collective_efficiency", "number"},
                      {"message_gap", "time"},        {"crowded_message_gap", "time"},
                      {"nccl_latency", "time"},       {"nccl_buffer", "size"},
                      {"flow_bandwidth", "rate"},     {"flows", "integer"},
                      {"crowded_nodes", "integer"}};
  for_each_hostile({{"kind", "\"network\""}, {"bandwidth", "\"12.3 GBps\""}, {"eager_limit", "\"8 KiB\""}},
                   keys, read_link_type, [](const LinkType& link) {
                     Scenario scenario = two_gpus();
                     scenario.cluster.fabric.link = link;
                     if (check(scenario.cluster).empty()) check_answer(scenario);
                   });
}

TEST_CASE("law: no value in the file of a GPU gives anything but numbers or a refusal") {
  const FileKeys keys{{"fp64", "work"},
                      {"fp32", "work"},
                      {"tf32", "work"},
                      {"fp16", "work"},
                      {"bf16", "work"},
                      {"fp8", "work"},
                      {"memory", "size"},
                      {"usable_memory", "size"},
                      {"l2_cache", "size"},
                      {"memory_bandwidth", "rate"},
                      {"tdp", "power"},
                      {"sm_count", "integer"},
                      {"sustained_clock", "number"},
                      {"memory_efficiency", "number"},
                      {"staging_share", "number"}};
  for_each_hostile({{"architecture", "\"volta\""},
                    {"fp32", "\"15.7 TFLOPs\""},
                    {"memory", "\"32 GB\""},
                    {"memory_bandwidth", "\"900 GBps\""},
                    {"sm_count", "80"}},
                   keys, read_gpu, [](const Gpu& gpu) {
                     Scenario scenario = two_gpus();
                     scenario.cluster.node.gpu = gpu;
                     if (check(scenario.cluster).empty()) check_answer(scenario);
                   });
}

}  // namespace hostile_number_laws

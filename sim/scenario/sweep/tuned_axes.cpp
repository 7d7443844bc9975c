// Usual values of settings. Choices are taken from the kind of a key, so that a new key needs no line here.
// Usual values of numbers are in a table.
#include "sim/scenario/sweep/tuned_axes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/named_rows.hpp"
#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "sim/scenario/sections/study_section.hpp"
#include "sim/scenario/toml/toml_text.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Number of doublings between the scenario's batch and the largest or smallest usual one.
constexpr int kBatchDoublings = 3;

/// Usual values of a number, as TOML.
struct UsualValues {
  // Name of the key.
  std::string_view name;
  std::string_view values;
};
constexpr UsualValues kUsualValues[] = {
    {"data.workers_per_gpu", "[0, 1, 2, 4, 8, 16]"},
    {"data.prefetch", "[1, 2, 4, 8]"},
    {"strategy.accumulation", "[1, 2, 4, 8]"},
    {"strategy.bucket_cap", R"(["1 MiB", "5 MiB", "10 MiB", "25 MiB", "50 MiB", "100 MiB", "200 MiB"])"},
    {"strategy.first_bucket", R"(["1 MiB", "5 MiB", "25 MiB"])"},
    {"strategy.fusion_threshold", R"(["2 MiB", "8 MiB", "32 MiB", "64 MiB", "128 MiB", "256 MiB"])"},
    {"strategy.cycle_time", R"(["0.5 ms", "1 ms", "2.5 ms", "5 ms", "10 ms"])"},
    {"strategy.num_packs", "[0, 1, 2, 4]"},
    {"strategy.bytes_per_pack", R"(["0 B", "8 MiB", "32 MiB", "128 MiB"])"},
    {"strategy.partition_bytes", R"(["1 MiB", "4 MiB", "16 MiB"])"},
    {"strategy.reduce_bucket_size", "[5_000_000, 50_000_000, 200_000_000, 500_000_000]"},
    {"strategy.prefetch_bucket_size", "[0, 5_000_000, 50_000_000, 500_000_000]"},
};

using Words = std::vector<std::string>;

std::string toml_list(const Words& words) { return fmt::format("[{}]", fmt::join(words, ", ")); }

/// Returns the words of a kind such as "a, b, c"; empty for any other kind.
Words choices_of(const std::string& kind) {
  Words out;
  for (std::size_t from = 0; from < kind.size();) {
    const std::size_t comma = std::min(kind.find(", ", from), kind.size());
    out.push_back(kind.substr(from, comma - from));
    from = comma + 2;
  }
  const bool is_choice = out.size() > 1 && std::ranges::none_of(out, [](const std::string& word) {
                           return word.empty() || word.find(' ') != std::string::npos;
                         });
  return is_choice ? out : Words{};
}

/// Returns a choice's values as a TOML list.
std::string choice_values(const std::string& kind) {
  Words values = choices_of(kind);
  if (values.empty()) return "";
  if (kind != "true, false")
    for (std::string& value : values) value = fmt::format("\"{}\"", value);
  return toml_list(values);
}

/// Returns the strategies that a script of this framework can use without changes.
std::string strategy_values(const Scenario& own) {
  const FrameworkKind framework = own.workload.framework.kind;
  Words names;
  // A strategy must fit the framework and need nothing that is not there.
  for (const StrategyEntry& entry : strategy_catalog()) {
    const bool is_of_framework = !entry.framework || *entry.framework == framework;
    const bool is_at_hand = entry.needs.empty() || entry.home == framework || entry.name == own.strategy;
    if (is_of_framework && is_at_hand && !entry.one_gpu) names.push_back(fmt::format("\"{}\"", entry.name));
  }
  return toml_list(names);
}

/// Returns batches around the scenario's own, if it has a single one.
std::string batch_values(const Scenario& own) {
  const std::int64_t batch = own.global_batch.value_or(own.workload.batch_per_gpu);
  // Batches by kind of node have no single number to vary.
  if (!own.batch_of_kind.empty() || own.balances || own.parallel) return "";
  Words values;
  for (int doubling = -kBatchDoublings; doubling <= kBatchDoublings; ++doubling) {
    // Halves must be whole samples.
    const std::int64_t divisor = std::int64_t{1} << std::max(0, -doubling);
    if (batch % divisor == 0) values.push_back(fmt::format("{}", (batch / divisor) << std::max(0, doubling)));
  }
  return toml_list(values);
}

/// Returns numbers of GPUs: doubled inside a node, then whole nodes doubled, up to the scenario's largest.
std::string gpu_values(const Scenario& own) {
  const int per_node = std::max(1, most_gpus_per_node(own.cluster)), most = own.gpus.back();
  Words values;
  for (std::int64_t gpus = 1; gpus < std::min(per_node, most); gpus *= 2)
    values.push_back(fmt::format("{}", gpus));
  for (std::int64_t gpus = per_node; gpus < most; gpus *= 2) values.push_back(fmt::format("{}", gpus));
  values.push_back(fmt::format("{}", most));
  return toml_list(values);
}

/// Returns the usual values of a key; empty when there are none.
std::string usual_values(const ScenarioKey& key, const Scenario& own) {
  if (key.name == "run.gpus") return gpu_values(own);
  if (key.name == "strategy.name") return strategy_values(own);
  if (key.name == "model.batch_per_gpu" || key.name == "model.global_batch") return batch_values(own);
  if (const UsualValues* row = find_row(kUsualValues, key.name)) return std::string(row->values);
  return choice_values(key.kind);
}

/// Returns the keys that a name means: itself, a short name of [study], or the end of a key. A training's key
/// wins over a cluster's.
Words keys_named(const std::string& name, const Scenario& own) {
  if (name == "batch") return {own.global_batch ? "model.global_batch" : "model.batch_per_gpu"};
  if (const std::string key = varied_key(name); !key.empty()) return {key};
  Words found;
  for (const ScenarioKey& key : scenario_keys())
    if (key.name.ends_with("." + name) && !varied_key(key.name).empty()) found.push_back(key.name);
  if (found.size() > 1)
    std::erase_if(found, [](const std::string& key) { return key.starts_with("cluster."); });
  return found;
}

/// Returns the key of a line of [axes].
std::string key_of_line(const std::string& line) {
  std::string key = line.substr(0, line.find('='));
  std::erase_if(key, [](char c) { return c == ' ' || c == '"' || c == '\''; });
  const std::string varied = varied_key(key);
  return varied.empty() ? key : varied;
}

Diagnostic mistake(const std::string& message, const std::string& hint) {
  return {"", {}, "", message, hint};
}

/// Returns the line of an axis; empty after a mistake, which is kept.
std::string line_of(const std::string& name, const Scenario& own, std::vector<Diagnostic>& mistakes,
                    Words& keys) {
  const std::string shown = printable(shortened(name, 60));
  const Words named = keys_named(name, own);
  if (named.size() != 1) {
    mistakes.push_back(
        mistake(fmt::format("--over {} {}", shown, named.empty() ? "is no setting" : "may mean several"),
                named.empty() ? did_you_mean(name, names_with_usual_values())
                              : fmt::format("one of {}", fmt::join(named, ", "))));
    return "";
  }
  // An axis or an earlier name has this key already.
  if (std::ranges::find(keys, named.front()) != keys.end()) return "";
  keys.push_back(named.front());
  const std::string values = usual_values(*find_row(scenario_keys(), named.front()), own);
  if (values.empty())
    mistakes.push_back(mistake(fmt::format("--over {} has no usual values", shown),
                               fmt::format("say which: --axis '\"{}\" = [...]'", named.front())));
  // Short names keep their meaning; ends of keys are written out.
  const bool is_axis = name == "batch" ? !own.global_batch : varied_key(name) == named.front();
  return fmt::format("\"{}\" = {}\n", is_axis ? name : named.front(), values);
}

}  // namespace

SourceText tuned_sweep(const std::vector<std::string>& names, const std::vector<std::string>& axes,
                       const std::vector<std::string>& conditions, const Scenario& own) {
  std::vector<Diagnostic> mistakes;
  Words keys;
  std::string lines;
  // Lines come first, because they win over names.
  for (const std::string& line : axes) {
    if (line.find('\n') != std::string::npos)
      mistakes.push_back(mistake("--axis has several lines", "one --axis for each"));
    keys.push_back(key_of_line(line));
    lines += line + "\n";
  }
  for (const std::string& name : names) lines += line_of(name, own, mistakes, keys);
  if (!mistakes.empty()) throw InputError(mistakes);
  Table document;
  Array where;
  for (const std::string& condition : conditions) where.push_back({condition});
  if (!where.empty()) document.entries.push_back({"where", {}, {std::move(where)}});
  return {"--axis", toml_text(document) + "[axes]\n" + lines};
}

std::vector<std::string> names_with_usual_values() {
  Words names;
  for (const StudyName& row : study_names())
    // Models, clusters and cores have no usual values.
    if (row.name != "model" && row.name != "cluster" && row.name != "cores") names.emplace_back(row.name);
  for (const ScenarioKey& key : scenario_keys()) {
    const bool has_values = find_row(kUsualValues, key.name) != nullptr || !choices_of(key.kind).empty();
    const bool has_short =
        std::ranges::any_of(study_names(), [&](const StudyName& row) { return row.key == key.name; });
    if (has_values && !has_short && !varied_key(key.name).empty())
      names.push_back(key.name.substr(key.name.rfind('.') + 1));
  }
  return names;
}

}  // namespace foretrain

// The table [strategy]. There is one way of reading per kind of option; the catalog determines which options
// exist.
#include "sim/scenario/sections/strategy_section.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/base/quantity.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/strategy/fsdp/fsdp_options.hpp"

namespace foretrain {

namespace {

using KnobTakes = Takes<StrategyOptions>;

/// Returns, for each kind of option, its name in words and the function that reads it.
class TakesOfKnob {
 public:
  explicit TakesOfKnob(const Knob& knob)
      : least_(knob.least), most_(knob.most), example_(fmt::format("{} = {}", knob.name, knob.example)) {}

  KnobTakes operator()(KnobValue<Bytes> option) const {
    return {"size", [option, *this](TableReader& table, std::string_view key, StrategyOptions& options) {
              const auto found = table.bytes(key);
              if (found && check(table, key, double(found->count), *found)) option.put(options, *found);
            }};
  }
  KnobTakes operator()(KnobValue<Time> option) const {
    return {"time", [option, *this](TableReader& table, std::string_view key, StrategyOptions& options) {
              const auto found = table.time(key);
              if (found && check(table, key, to_seconds(*found), *found)) option.put(options, *found);
            }};
  }
  // The limits keep integers within their type and within what a double holds exactly.
  KnobTakes operator()(KnobValue<int> option) const { return integer(option, 1e9); }
  KnobTakes operator()(KnobValue<std::int64_t> option) const { return integer(option, 1e15); }
  KnobTakes operator()(KnobValue<double> option) const {
    return {"number", [option, *this](TableReader& table, std::string_view key, StrategyOptions& options) {
              if (const auto found = table.number(key, least_, most_)) option.put(options, *found);
            }};
  }
  KnobTakes operator()(KnobValue<bool> option) const {
    return {"true, false", [option](TableReader& table, std::string_view key, StrategyOptions& options) {
              if (const auto found = table.boolean(key)) option.put(options, *found);
            }};
  }
  KnobTakes operator()(KnobValue<FrameworkVersion> option) const {
    return {"version", [option, *this](TableReader& table, std::string_view key, StrategyOptions& options) {
              if (!table.has(key)) return;
              const auto text = table.spelling(key);
              const auto version = text ? parse_framework_version(*text) : std::nullopt;
              if (version)
                option.put(options, *version);
              else
                table.report(table.span_of(key), fmt::format("{} is no version", table.full_name(key)),
                             example(table));
            }};
  }
  // A choice passes on the index of its name.
  KnobTakes operator()(const KnobChoice& choice) const {
    const std::vector<std::string> names(choice.names.begin(), choice.names.end());
    return {fmt::format("{}", fmt::join(names, ", ")),
            [names, take = choice.take](TableReader& table, std::string_view key, StrategyOptions& options) {
              const auto found = table.one_of(key, names);
              const auto at = found ? std::find(names.begin(), names.end(), *found) : names.end();
              if (at != names.end()) take(options, static_cast<std::size_t>(at - names.begin()));
            }};
  }

 private:
  // An integer in the option's range, which the type limits.
  template <typename Value>
  KnobTakes integer(KnobValue<Value> option, double most_of_kind) const {
    const auto least = static_cast<std::int64_t>(least_),
               most = static_cast<std::int64_t>(std::min(most_, most_of_kind));
    return {"integer",
            [option, least, most](TableReader& table, std::string_view key, StrategyOptions& options) {
              if (const auto found = table.integer(key, least, most))
                option.put(options, static_cast<Value>(*found));
            }};
  }

  // Returns an example for a hint.
  std::string example(const TableReader& table) const {
    return fmt::format("as in {}", table.full_name(example_));
  }

  // Reports a quantity out of the option's range.
  template <typename Quantity>
  bool check(TableReader& table, std::string_view key, double number, Quantity quantity) const {
    if (number >= least_ && number <= most_) return true;
    table.report(table.span_of(key), fmt::format("{} is out of range", table.full_name(key)),
                 fmt::format("from {}, {}", range_text(quantity), example(table)));
    return false;
  }

  // Return the range of a size or a time in words.
  std::string range_text(Bytes) const {
    return between(Bytes{std::llround(least_)}, Bytes{std::llround(std::min(most_, 1e18))});
  }
  std::string range_text(Time) const {
    return between(seconds(least_), seconds(std::min(most_, kDurationRange.most)));
  }
  template <typename Quantity>
  static std::string between(Quantity least, Quantity most) {
    return fmt::format("{} to {}", to_string(least), to_string(most));
  }

  double least_, most_;
  // The option with an example, as in "bucket_cap = "25 MiB"".
  std::string example_;
};

/// Reads the name; an alias becomes the catalog's name.
void read_name_of_strategy(TableReader& strategy, std::string_view key, Scenario& scenario) {
  takes::put(strategy.one_of(key, names_and_aliases()), scenario.strategy);
  scenario.strategy = find_strategy(scenario.strategy)->name;
}

/// Returns the options that every strategy has, then those of this one.
std::vector<Knob> knobs_of(const StrategyEntry& entry) {
  std::vector<Knob> knobs = shared_knobs();
  knobs.insert(knobs.end(), entry.knobs.begin(), entry.knobs.end());
  return knobs;
}

/// Returns the strategies that have an option of this name.
std::vector<std::string> owners_of(std::string_view name) {
  std::vector<std::string> owners;
  for (const StrategyEntry& entry : strategy_catalog()) {
    if (std::any_of(entry.knobs.begin(), entry.knobs.end(),
                    [&](const Knob& knob) { return knob.name == name; }))
      owners.emplace_back(entry.name);
  }
  return owners;
}

/// Joins names with commas.
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Returns the nearest option of a strategy, or all of them.
std::string hint_for(std::string_view key, const std::vector<Knob>& known, const StrategyEntry& entry) {
  std::vector<std::string> names;
  for (const Knob& knob : known) names.emplace_back(knob.name);
  const std::string nearest = did_you_mean(key, names);
  return nearest.empty() ? fmt::format("{} has: {}", entry.name, joined(names)) : nearest;
}

/// Settles a strategy of another framework. Without a stated name the framework decides. A stated name is
/// kept with a warning, because rows of measurements request such combinations.
void settle_framework(const ScenarioDocument& document, Scenario& scenario) {
  const FrameworkKind kind = scenario.workload.framework.kind;
  const std::optional<FrameworkKind> own = find_strategy(scenario.strategy)->framework;
  if (!own || kind == *own) return;
  if (document.has("strategy.name")) {
    scenario.warnings.push_back(fmt::format("strategy {} belongs to {}: it is run here as if {} had it",
                                            scenario.strategy, name_of(*own), name_of(kind)));
    return;
  }
  for (const StrategyEntry& entry : strategy_catalog()) {
    if (entry.framework == kind) {
      scenario.strategy = entry.name;
      return;
    }
  }
}

/// A recorded program is its own strategy; other strategies and accumulation are reported.
void settle_program(TableReader& strategy, const ScenarioDocument& document, Scenario& scenario) {
  if (!scenario.program) return;
  if (document.has("strategy.name"))
    strategy.report(
        strategy.span_of("name"),
        fmt::format("The recorded program does what it does: strategy {} would be another program",
                    scenario.strategy),
        "leave the strategy out; compare it with a scenario of its own");
  if (document.has("strategy.accumulation"))
    strategy.report(strategy.span_of("accumulation"),
                    "The recorded program has its own micro-steps, which strategy.accumulation cannot change",
                    "leave it out, or record the program again");
  scenario.strategy = "program";
}

}  // namespace

/// The value's type selects the function that reads it.
Key<StrategyOptions> key_of(const Knob& knob) {
  return {knob.name, std::visit(TakesOfKnob(knob), knob.value), knob.example, knob.fallback, knob.meaning};
}

/// Options follow the name on the reference page.
const Keys<Scenario>& strategy_keys() {
  static const Keys<Scenario> keys{
      {"name", {"a strategy", read_name_of_strategy}, "\"ddp\"", "ddp", "see `foretrain list strategies`"}};
  return keys;
}

/// The name is read early, because it decides the default framework.
void read_strategy_name(TableReader& strategy, Scenario& scenario) {
  read_keys(strategy, strategy_keys(), scenario);
}

void read_strategy_knobs(TableReader& strategy, const ScenarioDocument& document, Scenario& scenario) {
  // A recorded program or another framework may change the strategy, and with it the options.
  settle_program(strategy, document, scenario);
  settle_framework(document, scenario);
  const StrategyEntry& entry = *find_strategy(scenario.strategy);
  const std::vector<Knob> own = knobs_of(entry);
  for (const Knob& knob : own) read_keys(strategy, {key_of(knob)}, scenario.knobs);
  // Options of other strategies; each is reported once.
  std::set<std::string_view> seen;
  for (const StrategyEntry& other : strategy_catalog()) {
    for (const Knob& knob : other.knobs) {
      const bool is_own =
          std::any_of(own.begin(), own.end(), [&](const Knob& k) { return k.name == knob.name; });
      if (is_own || !strategy.has(knob.name) || !seen.insert(knob.name).second) continue;
      strategy.value(knob.name);
      // A file for several strategies may have options of all of them.
      if (document.one_of_several()) continue;
      const std::string owners = joined(owners_of(knob.name));
      // The file was written for another strategy than that of the command line.
      if (document.is_setting("strategy.name") &&
          !document.is_setting(fmt::format("strategy.{}", knob.name))) {
        scenario.warnings.push_back(fmt::format(
            "strategy.{} has no effect with strategy {}: it belongs to {}", knob.name, entry.name, owners));
        continue;
      }
      strategy.report(strategy.span_of(knob.name),
                      fmt::format("strategy.{} is an option of {}, not of {}", knob.name, owners, entry.name),
                      hint_for(knob.name, own, entry));
    }
  }
}

/// Parameters of 16 bits are computed with in that type without autocast, beside shards of fp32.
void settle_param_type(TableReader& strategy, const ScenarioDocument& document, Scenario& scenario) {
  const ParamType type = scenario.knobs.get<FsdpOptions>().param_dtype;
  // Without the key FSDP uses the type of the weights.
  if (type == ParamType::weights || !strategy.has("param_dtype")) return;
  Workload& work = scenario.workload;
  const bool is_made_half = !work.half_weights && has_half_weights(work);
  if (type == ParamType::fp32) {
    if (is_made_half)
      return strategy.report(strategy.span_of("param_dtype"),
                             "strategy.param_dtype is fp32, but the weights have 16 bits",
                             "leave strategy.param_dtype out, or model.weights");
    work.half_weights = false;
    return;
  }
  const Precision own = type == ParamType::bf16 ? Precision::bf16 : Precision::amp_fp16;
  // fp8 goes together with parameters of 16 bits.
  const bool is_other = is_half(work.precision) && work.precision != own && work.precision != Precision::fp8;
  if (is_other && document.has("model.precision"))
    return strategy.report(
        strategy.span_of("param_dtype"),
        fmt::format("strategy.param_dtype is {}, but model.precision {}",
                    type == ParamType::bf16 ? "bf16" : "fp16", name_of(work.precision)),
        fmt::format("parameters of 16 bits are computed with in their own type: model.precision = \"{}\"",
                    name_of(own)));
  if (work.precision != Precision::fp8) work.precision = own;
  if (!is_made_half) work.half_weights = true;
}

}  // namespace foretrain

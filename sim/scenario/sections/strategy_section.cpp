// One reader per kind of option; which options there are is the catalog's knowledge.
#include "sim/scenario/sections/strategy_section.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/toml/section_values.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Takes one option out of the table; each kind of value has its own reading.
class KnobReader {
 public:
  KnobReader(TableReader& reader, const Knob& knob, StrategyOptions& options)
      : reader_(reader), knob_(knob), key_(knob.name), options_(options) {}

  void operator()(KnobValue<Bytes> option) {
    set(option, in_range(reader_.bytes(key_), [](Bytes b) { return double(b.count); }));
  }
  void operator()(KnobValue<Time> option) {
    set(option, in_range(reader_.time(key_), [](Time t) { return to_seconds(t); }));
  }
  void operator()(KnobValue<int> option) {
    const double most = std::min(knob_.most, 1e9);
    if (const auto found =
            reader_.integer(key_, static_cast<std::int64_t>(knob_.least), static_cast<std::int64_t>(most)))
      option.put(options_, static_cast<int>(*found));
  }
  void operator()(KnobValue<std::int64_t> option) {
    const double most = std::min(knob_.most, 1e15);
    set(option,
        reader_.integer(key_, static_cast<std::int64_t>(knob_.least), static_cast<std::int64_t>(most)));
  }
  void operator()(KnobValue<double> option) { set(option, reader_.number(key_, knob_.least, knob_.most)); }
  void operator()(KnobValue<bool> option) { set(option, reader_.boolean(key_)); }
  void operator()(KnobValue<FrameworkVersion> option) {
    if (!reader_.has(key_)) return;
    const auto text = reader_.spelling(key_);
    const auto version = text ? parse_framework_version(*text) : std::nullopt;
    if (!version)
      reader_.report(reader_.span_of(key_), fmt::format("{} is no version", reader_.full_name(key_)),
                     example());
    else
      option.put(options_, *version);
  }
  void operator()(const KnobChoice& choice) {
    const std::vector<std::string> names(choice.names.begin(), choice.names.end());
    const auto found = reader_.one_of(key_, names);
    const auto at = found ? std::find(names.begin(), names.end(), *found) : names.end();
    if (at != names.end()) choice.take(options_, static_cast<std::size_t>(at - names.begin()));
  }

 private:
  std::string example() const { return fmt::format("as in {} = {}", reader_.full_name(key_), knob_.example); }

  template <typename Value, typename Number>
  std::optional<Value> in_range(std::optional<Value> found, Number number) {
    if (!found || (number(*found) >= knob_.least && number(*found) <= knob_.most)) return found;
    reader_.report(reader_.span_of(key_), fmt::format("{} is out of range", reader_.full_name(key_)),
                   fmt::format("from {}, {}", range_text(*found), example()));
    return std::nullopt;
  }

  std::string range_text(Bytes) const {
    return between(Bytes{std::llround(knob_.least)}, Bytes{std::llround(std::min(knob_.most, 1e18))});
  }
  std::string range_text(Time) const {
    return between(seconds(knob_.least), seconds(std::min(knob_.most, kDurationRange.most)));
  }
  template <typename Quantity>
  std::string between(Quantity least, Quantity most) const {
    return fmt::format("{} to {}", to_string(least), to_string(most));
  }

  template <typename Value>
  void set(KnobValue<Value> option, std::optional<Value> found) {
    if (found) option.put(options_, *found);
  }

  TableReader& reader_;
  const Knob& knob_;
  std::string_view key_;
  StrategyOptions& options_;
};

std::vector<Knob> knobs_of(const StrategyEntry& entry) {
  std::vector<Knob> knobs = shared_knobs();
  knobs.insert(knobs.end(), entry.knobs.begin(), entry.knobs.end());
  return knobs;
}

/// The strategies that have an option of this name.
std::vector<std::string> owners_of(std::string_view name) {
  std::vector<std::string> owners;
  for (const StrategyEntry& entry : strategy_catalog()) {
    if (std::any_of(entry.knobs.begin(), entry.knobs.end(),
                    [&](const Knob& knob) { return knob.name == name; }))
      owners.emplace_back(entry.name);
  }
  return owners;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string hint_for(std::string_view key, const std::vector<Knob>& known, const StrategyEntry& entry) {
  std::vector<std::string> names;
  for (const Knob& knob : known) names.emplace_back(knob.name);
  const std::string nearest = did_you_mean(key, names);
  return nearest.empty() ? fmt::format("{} has: {}", entry.name, joined(names)) : nearest;
}

/// Without a name the framework decides; a name of the other framework is run all the same, which rows of
/// measurements ask for.
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

}  // namespace

void read_strategy_name(TableReader& strategy, Scenario& scenario) {
  std::vector<std::string> names = strategy_names();
  for (const StrategyEntry& entry : strategy_catalog()) {
    if (!entry.alias.empty()) names.emplace_back(entry.alias);
  }
  keep(strategy.one_of("name", names), scenario.strategy);
  scenario.strategy = find_strategy(scenario.strategy)->name;
}

void read_strategy_knobs(TableReader& strategy, const ScenarioDocument& document, Scenario& scenario) {
  settle_framework(document, scenario);
  const StrategyEntry& entry = *find_strategy(scenario.strategy);
  const std::vector<Knob> own = knobs_of(entry);
  for (const Knob& knob : own) std::visit(KnobReader(strategy, knob, scenario.knobs), knob.value);
  std::set<std::string_view> seen;
  for (const StrategyEntry& other : strategy_catalog()) {
    for (const Knob& knob : other.knobs) {
      const bool is_own =
          std::any_of(own.begin(), own.end(), [&](const Knob& k) { return k.name == knob.name; });
      if (is_own || !strategy.has(knob.name) || !seen.insert(knob.name).second) continue;
      strategy.value(knob.name);
      if (document.one_of_several()) continue;
      const std::string owners = joined(owners_of(knob.name));
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

}  // namespace foretrain

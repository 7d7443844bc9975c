// The scenarios that compare sets against each other with [parallel]: the combinations of [study], or the
// same degrees with more and more sharded state.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/study.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/opened_catalogs.hpp"

namespace foretrain {

namespace {

/// A strategy of replicated ranks, and the sharding that is its equivalent in a layout.
struct Like {
  std::string_view strategy;
  ModelSharding sharding;
};
constexpr std::array<Like, 7> kLikes{{{"ddp", ModelSharding::none},
                                      {"zero0", ModelSharding::none},
                                      {"zero1", ModelSharding::optimizer},
                                      {"zero2", ModelSharding::gradients},
                                      {"zero3", ModelSharding::parameters},
                                      {"fsdp", ModelSharding::parameters},
                                      {"fsdp2", ModelSharding::parameters}}};
constexpr std::array<ModelSharding, 4> kShardings{ModelSharding::none, ModelSharding::optimizer,
                                                  ModelSharding::gradients, ModelSharding::parameters};

std::string name_of_sharding(ModelSharding sharding) { return fmt::format("shard {}", name_of(sharding)); }

/// Returns the shardings of these strategies in the order of kShardings; all of them for no names. Throws
/// InputError for a strategy without an equivalent.
std::vector<ModelSharding> shardings_named(const std::vector<std::string>& strategies) {
  if (strategies.empty()) return {kShardings.begin(), kShardings.end()};
  std::vector<ModelSharding> named;
  for (const std::string& strategy : strategies) {
    const auto like = std::ranges::find(kLikes, std::string_view(strategy), &Like::strategy);
    if (like == kLikes.end())
      throw InputError(fmt::format("{} has no place beside [parallel]", strategy),
                       "ddp, zero1, zero2, zero3 or fsdp; other layouts as [study], as in --set "
                       "study.\"parallel.tensor\"=[2,4]");
    named.push_back(like->sharding);
  }
  std::vector<ModelSharding> ordered(kShardings.begin(), kShardings.end());
  std::erase_if(ordered, [&](ModelSharding own) { return std::ranges::find(named, own) == named.end(); });
  return ordered;
}

/// Makes one scenario for each sharding, with all other values of the layout kept.
ComparedScenarios by_sharding(const std::vector<std::string>& strategies, Scenario own) {
  ComparedScenarios out{std::move(own), {}, {}, {}};
  LargeModelRun layout = layout_of(out.own);
  out.own_name = name_of_sharding(layout.sharding);
  for (const ModelSharding sharding : shardings_named(strategies)) {
    out.strategies.push_back(out.own);
    layout.sharding = sharding;
    set_layout(out.strategies.back(), layout);
    out.names.push_back({name_of_sharding(sharding), {}});
  }
  return out;
}

/// Returns the name of a combination: its settings without the common prefix "parallel.".
std::string name_of_group(const StudyGroup& group) {
  constexpr std::string_view kTable = "parallel.";
  std::string name;
  for (const StudySetting& setting : group.settings) {
    if (setting.key == "run.gpus") continue;
    const std::string key = setting.key.starts_with(kTable) ? setting.key.substr(kTable.size()) : setting.key;
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", key, text_of(setting.value));
  }
  return name;
}

/// Returns true if two layouts are equal in all keys that a study can vary.
bool is_same(const LargeModelRun& a, const LargeModelRun& b) {
  return a.degrees == b.degrees && a.micro_batch == b.micro_batch && a.global_batch == b.global_batch &&
         a.sharding == b.sharding && a.recompute == b.recompute && a.schedule == b.schedule &&
         a.framework == b.framework;
}

/// Makes one row for each combination; a combination whose values do not go together has its reason instead.
ComparedScenarios by_study(const SourceText& source, const ScenarioOverrides& overrides, Scenario own,
                           OpenedCatalogs& opened) {
  const StudyQuestion question = read_study(source, overrides, std::move(own));
  ComparedScenarios out{question.own, {}, {}, "as it stands"};
  for (const StudyGroup& group : question.groups) {
    ScenarioOverrides asked = overrides;
    asked.combination = group.settings;
    out.names.push_back({name_of_group(group), group.why_not});
    if (!group.why_not.empty()) {
      out.strategies.push_back(out.own);
      continue;
    }
    out.strategies.push_back(source.text.empty() ? make_scenario(asked, opened)
                                                 : read_scenario(source, asked, opened));
    if (is_same(layout_of(out.strategies.back()), layout_of(out.own))) out.own_name = out.names.back().name;
  }
  return out;
}

}  // namespace

ComparedScenarios read_compared_layouts(const SourceText& source, const ScenarioOverrides& overrides,
                                        const std::vector<std::string>& strategies, Scenario own,
                                        OpenedCatalogs& opened) {
  if (own.study.axes.empty()) return by_sharding(strategies, std::move(own));
  if (!strategies.empty())
    throw InputError("--strategies and [study] both say what is compared", "leave one of them out");
  return by_study(source, overrides, std::move(own), opened);
}

}  // namespace foretrain

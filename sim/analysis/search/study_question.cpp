// Combinations are read once here to find all mistakes, and again when they are run, so that only one
// scenario is held at a time.
#include <algorithm>
#include <map>

#include "sim/analysis/search/study.hpp"
#include "sim/scenario/opened_catalogs.hpp"

namespace foretrain {

namespace {

/// Groups points by all values but the number of GPUs, in the order of their first points.
std::vector<StudyGroup> groups_of(const Study& study, const std::vector<StudyPoint>& points) {
  std::vector<StudyGroup> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < study.axes.size(); ++i) {
      if (study.axes[i].key != "run.gpus")
        // The type is part of the key, so that 1 and "1" are different values.
        values.push_back(std::to_string(points[p][i].data.index()) + text_of(points[p][i]));
    }
    const auto [at, is_new] = known.emplace(std::move(values), groups.size());
    if (is_new) groups.push_back({settings_of(study, points[p]), {}, {}});
    groups[at->second].points.push_back(p);
  }
  return groups;
}

/// Returns the mistakes of one combination; empty when it is right.
std::vector<Diagnostic> mistakes_of(const StudyQuestion& question, const StudyGroup& group,
                                    OpenedCatalogs& opened) {
  ScenarioOverrides overrides = question.overrides;
  overrides.combination = group.settings;
  try {
    question.source.text.empty() ? make_scenario(overrides, opened)
                                 : read_scenario(question.source, overrides, opened);
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

/// Returns true if the group has a value with which every group on that axis is wrong: the value itself is
/// then the mistake.
bool has_wrong_value(const StudyQuestion& question, const StudyGroup& group,
                     const std::vector<std::vector<Diagnostic>>& mistakes) {
  const StudyPoint& point = question.points[group.points.front()];
  for (std::size_t i = 0; i < point.size(); ++i) {
    // Numbers of GPUs and absent values cannot be mistakes of the study.
    bool always = question.own.study.axes[i].key != "run.gpus" &&
                  !std::holds_alternative<std::monostate>(point[i].data);
    for (std::size_t g = 0; g < question.groups.size() && always; ++g) {
      const Value& other = question.points[question.groups[g].points.front()][i];
      always = other.span != point[i].span || !mistakes[g].empty();
    }
    if (always) return true;
  }
  return false;
}

}  // namespace

StudyQuestion read_study(const SourceText& source, const ScenarioOverrides& overrides, Scenario own) {
  StudyQuestion question{source, overrides, std::move(own), {}, {}};
  question.points = study_points(question.own.study, question.own.strategy);
  question.groups = groups_of(question.own.study, question.points);
  std::vector<std::vector<Diagnostic>> mistakes;
  OpenedCatalogs opened;
  for (const StudyGroup& group : question.groups) mistakes.push_back(mistakes_of(question, group, opened));
  Diagnostics found(source);
  for (std::size_t g = 0; g < question.groups.size(); ++g) {
    StudyGroup& group = question.groups[g];
    if (mistakes[g].empty()) continue;
    group.why_not = mistakes[g].front().message;
    if (has_wrong_value(question, group, mistakes)) found.include(mistakes[g]);
  }
  found.throw_if_any();
  return question;
}

}  // namespace foretrain

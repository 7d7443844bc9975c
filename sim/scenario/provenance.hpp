// What sources of measured rows tell about their runs: rules in a file beside the rows, each with where the
// source says so.
#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Largest file of rules, its most rules, and the most texts in one list of a rule: every row is searched for
/// every word.
inline constexpr std::size_t kLargestProvenance = 1u << 20;
inline constexpr std::size_t kMostRules = 200, kMostRuleTexts = 8, kLongestRuleText = 500;

/// A key of the scenario that a rule sets.
struct RuleSetting {
  std::string key;
  std::string value;  ///< as TOML
  SourceSpan place;   ///< of the value
};

/// One thing that sources tell. Empty conditions hold for every row.
struct ProvenanceRule {
  std::vector<std::string> words;  ///< in small letters; each stands in the row's text, no letter beside it
  bool in_series = true, in_source = true;
  /// In small letters: a word right behind one of these is denied ("without-xla").
  std::vector<std::string> unless_after;
  std::vector<std::string> unless_set;  ///< keys or tables of which the row's own settings say nothing
  std::string framework;                ///< that settings of the row, or of rules above, name
  std::string model_prefix, cluster, strategy, precision;
  std::vector<RuleSetting> settings;
  std::string as_cluster, as_strategy;  ///< empty: the row's own
  std::string counts;   ///< what the row's throughput counts instead of samples, as "frames"; empty: samples
  std::string said_in;  ///< where the source says so
};

/// Rules take effect in the order of the file.
struct Provenance {
  SourceText source;
  std::vector<ProvenanceRule> rules;
};

/// Reads a file of rules, with every mistake at its place: words that are missing, keys that no scenario has
/// or that are columns of the rows, unknown frameworks, strategies and clusters, a rule that changes nothing
/// or does not say where it is said.
Provenance read_provenance(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain

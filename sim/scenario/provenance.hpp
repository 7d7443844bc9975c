// Facts that sources of measured rows state about their runs: rules in a file beside the rows, each with its
// place in the source.
#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Limits: bytes of a file of rules, its rules, the texts in one list of a rule, and the bytes of a text.
/// They bound the work, because every row is searched for every word.
inline constexpr std::size_t kLargestProvenance = 1u << 20;
inline constexpr std::size_t kMostRules = 200, kMostRuleTexts = 8, kLongestRuleText = 500;

/// A key of the scenario that a rule sets.
struct RuleSetting {
  std::string key;
  /// Value as TOML.
  std::string value;
  /// Place of the value.
  SourceSpan place;
};

/// One statement of a source: conditions on rows, and settings for those that fulfil all of them. Empty
/// conditions hold for every row.
struct ProvenanceRule {
  /// Words in small letters; each occurs in the row's text with no letter beside it.
  std::vector<std::string> words;
  /// True if words are searched for in the row's series or in its source.
  bool in_series = true, in_source = true;
  /// Words in small letters; a word directly after one of them is denied ("without-xla").
  std::vector<std::string> unless_after;
  /// Keys or tables that the row's own settings do not set.
  std::vector<std::string> unless_set;
  /// Framework that settings of the row, or of rules above, name.
  std::string framework;
  /// Conditions on columns of the row.
  std::string model_prefix, cluster, strategy, precision;
  std::vector<RuleSetting> settings;
  /// Replacements of columns; empty: the row's own.
  std::string as_cluster, as_strategy;
  /// The unit that the row's throughput counts instead of samples, as "frames"; empty: samples.
  std::string counts;
  /// Place in the source that states it.
  std::string said_in;
};

/// Rules of a file; they take effect in its order.
struct Provenance {
  SourceText source;
  std::vector<ProvenanceRule> rules;
};

/// Reads a file of rules and reports every mistake at its place: missing words, keys that no scenario has or
/// that are columns of the rows, unknown frameworks, strategies and clusters, a rule that changes nothing or
/// does not name its source.
Provenance read_provenance(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain

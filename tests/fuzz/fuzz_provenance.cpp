// Fuzz target: files of rules from any bytes; those without mistakes find words where they stand and leave
// every row its own settings.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/analysis/validation/validation.hpp"
#include "tests/fuzz/require.hpp"

namespace {

/// A row in which a rule finds all its words, for those without conditions.
foretrain::Measurement row_with(const foretrain::ProvenanceRule& rule) {
  foretrain::Measurement row;
  row.model = rule.model_prefix, row.cluster = rule.cluster, row.strategy = rule.strategy,
  row.precision = rule.precision;
  for (const std::string& word : rule.words) (rule.in_source ? row.source : row.series) += "1" + word + "1\n";
  return row;
}

void check_rules(const foretrain::Provenance& provenance) {
  using foretrain::test::require;
  for (const foretrain::ProvenanceRule& rule : provenance.rules) {
    require(!rule.words.empty() && !rule.said_in.empty() && (rule.in_series || rule.in_source));
    std::vector<foretrain::Measurement> rows{row_with(rule), {}};
    rows[1].settings = {{"framework.name", "\"pytorch\""}};
    const std::vector<foretrain::InferredSetting> inferred =
        apply_provenance({provenance.source, {rule}}, rows);
    const bool unconditional = rule.framework.empty() && rule.unless_after.empty();
    for (const foretrain::InferredSetting& setting : inferred)
      require(setting.rows <= 2 && setting.said_in == rule.said_in);
    if (unconditional) require(rows[0].settings.size() == rule.settings.size());
    require(rows[1].settings.front().second == "\"pytorch\"");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const foretrain::SourceText source{"fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)};
  foretrain::Diagnostics diagnostics(source);
  const foretrain::Provenance provenance = foretrain::read_provenance(source, diagnostics);
  if (!diagnostics.empty()) return format(diagnostics.found()).empty() ? (std::abort(), 0) : 0;
  check_rules(provenance);
  return 0;
}

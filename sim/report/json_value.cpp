// The parts of JSON that several reports share; most follow from the declared fields.
#include "sim/report/json_value.hpp"

#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

// The indentation is two blanks; bytes that are no UTF-8 are replaced instead of throwing.
std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json breakdown_json(const Breakdown& breakdown) { return declared_json(breakdown); }

Json interval_json(const std::optional<Interval>& interval) { return declared_json(interval); }

Json memory_json(const PredictionPoint& point) { return declared_json(ShortMemory{point}); }

Json evidence_json(const AppliedEvidence& evidence) { return declared_json(evidence); }

Json estimate_json(const Estimate& estimate) { return declared_json(estimate); }

Json decisions_json(const Decisions& decisions) { return declared_json(decisions.list()); }

// Each finding is an object, in the order of the diagnostics.
Json findings_json(const std::vector<Diagnostic>& findings, std::string_view severity) {
  Json out = Json::array();
  for (const Diagnostic& finding : findings)
    out.push_back({{"severity", severity},
                   {"file", finding.file},
                   {"line", finding.span.line},
                   {"message", finding.message},
                   {"hint", finding.hint}});
  return out;
}

}  // namespace foretrain

// The parts of JSON that several reports share.
#include "sim/report/json_value.hpp"

namespace foretrain {

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json breakdown_json(const Breakdown& b) {
  return {{"compute_s", b[0]},     {"exposed_communication_s", b[1]},
          {"input_stall_s", b[2]}, {"host_s", b[3]},
          {"optimizer_s", b[4]},   {"other_s", b[5]}};
}

Json decisions_json(const Decisions& decisions) {
  Json out = Json::array();
  for (const Decision& d : decisions.list())
    out.push_back({{"subject", d.subject}, {"choice", d.choice}, {"why", d.why}});
  return out;
}

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

// The answer's sentences as they are printed, and its figures unrounded.
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

Json cause_json(const StepCause& cause) {
  Json keys = Json::array();
  for (const Removable what : cause.what) keys.push_back(key_of(what));
  return {{"what", std::move(keys)},
          {"name", cause.name},
          {"without", cause.without},
          {"step_s", cause.step_s},
          {"saves_s", cause.saves_s}};
}

Json causes_json(const StepCauses& causes) {
  Json alone = Json::array(), in_turn = Json::array();
  for (const StepCause& cause : causes.alone) alone.push_back(cause_json(cause));
  for (const CausePart& part : causes.in_turn)
    in_turn.push_back({{"what", key_of(part.what)}, {"seconds", part.seconds}});
  return {{"gpus", causes.gpus},
          {"step_s", causes.step_s},
          {"removed", std::move(alone)},
          {"in_turn", std::move(in_turn)},
          {"kernels_s", causes.kernels_s}};
}

}  // namespace

Json answer_json(const Answer& a) {
  Json assumptions = Json::array();
  for (const Assumption& one : a.assumptions)
    assumptions.push_back({{"text", one.text}, {"option", one.option}});
  Json out{{"kind", key_of(a.kind)}, {"question", a.question}, {"verdict", a.verdict},
           {"gpus", a.gpus},         {"quantity", a.quantity}, {"value_s", a.value_s}};
  out["interval"] = a.interval.high_s > 0 ? interval_json(a.interval) : Json(nullptr);
  out["counts"] = a.counts;
  out["cause"] = a.cause;
  out["causes"] = a.causes ? causes_json(*a.causes) : Json(nullptr);
  out["action"] = a.action;
  out["assumptions"] = std::move(assumptions);
  out["not_understood"] = a.not_understood;
  out["not_credible"] = a.not_credible;
  out["measured"] = a.measured.empty() ? Json(nullptr) : Json(a.measured);
  out["extrapolated"] = a.extrapolated;
  out["next_measurement"] = a.next_measurement.empty() ? Json(nullptr) : Json(a.next_measurement);
  return out;
}

}  // namespace foretrain

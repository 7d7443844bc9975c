// What evidence did to a prediction: the correction, the runs behind it, the points as simulated.
#include "sim/report/json_value.hpp"
#include "sim/report/prediction/json.hpp"

namespace foretrain {

Json estimate_json(const Estimate& e) {
  Json out{{"log_factor", e.log_factor}, {"spread", e.spread}, {"uncertainty_left", e.narrowing()}};
  out["neighbours"] = Json::array();
  for (const Neighbour& n : e.neighbours)
    out["neighbours"].push_back({{"source", n.row.source},
                                 {"run", n.row.run},
                                 {"model", n.row.model},
                                 {"gpu", n.row.gpu},
                                 {"cluster", n.row.cluster},
                                 {"repeats", n.repeats},
                                 {"distance", n.distance},
                                 {"weight", n.weight},
                                 {"believed", n.trust}});
  return out;
}

Json runs_json(const std::vector<RunsToMake>& candidates) {
  Json out = Json::array();
  for (const RunsToMake& one : candidates) {
    Json gpus = Json::array();
    for (const Observation& run : one.runs) gpus.push_back(run.gpus);
    out.push_back({{"gpus", std::move(gpus)}, {"uncertainty_left", one.left}});
  }
  return out;
}

/// Points are corrected; here is what was simulated.
Json evidence_json(const AppliedEvidence& e) {
  Json out{{"log_factor", e.correction.one_gpu},
           {"log_factor_per_doubling", e.correction.per_doubling},
           {"step", estimate_json(e.step)},
           {"ratio", estimate_json(e.ratio)}};
  out["measured"] = Json::array();
  for (const MeasuredRuns& m : e.measured)
    out["measured"].push_back({{"where", m.where},
                               {"source", m.source},
                               {"runs", m.runs},
                               {"gpus", m.gpus},
                               {"low_s", m.low_s},
                               {"high_s", m.high_s}});
  out["raw"] = Json::array();
  for (const RawPoint& p : e.raw)
    out["raw"].push_back(
        {{"gpus", p.gpus},
         {"step_s", p.step_s},
         {"interval",
          {{"low_s", p.interval.low_s}, {"high_s", p.interval.high_s}, {"level", p.interval.level}}}});
  return out;
}

}  // namespace foretrain

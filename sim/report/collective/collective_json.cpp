// Values to JSON, key by key; what does not exist is null.
#include "sim/analysis/answer/collective_answer.hpp"
#include "sim/report/collective/collective_catalog.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

Json point_json(const CollectiveCurve& curve, const CollectivePoint& p, bool explain) {
  const bool runs = p.channels > 0;
  Json out{{"bytes", p.size.count},
           {"time_s", to_seconds(p.time)},
           {"algbw_bytes_per_s", p.algbw.per_second},
           {"busbw_bytes_per_s", p.busbw.per_second},
           {"algorithm", runs ? Json(p.algorithm) : Json(nullptr)},
           {"protocol", runs ? Json(p.protocol) : Json(nullptr)},
           {"channels", p.channels},
           {"bound_by", p.bound == BoundBy::nothing ? Json(nullptr) : Json(name_of(p.bound))},
           {"bottleneck",
            p.bottleneck < 0 ? Json(nullptr) : Json(curve.links[static_cast<std::size_t>(p.bottleneck)])}};
  const std::optional<TimeRange> interval = interval_of(p);
  out["interval"] =
      interval
          ? Json{{"low_s", to_seconds(interval->low)}, {"high_s", to_seconds(interval->high)}, {"level", 0.9}}
          : Json(nullptr);
  const CollectiveTiming& t = p.timing;
  out["parts"] = {{"launch_s", to_seconds(p.launch)},
                  {"start_s", to_seconds(t.start)},
                  {"steps_s", to_seconds(t.steps)},
                  {"fill_s", to_seconds(t.fill)},
                  {"data_s", to_seconds(t.data)}};
  if (explain) out["why"] = p.why;
  return out;
}

}  // namespace

std::string write_collective_json(const CollectiveCurve& curve, const ReportOptions& options) {
  Json out{
      {"schema", "foretrain.collective/1"},
      {"cluster", curve.cluster},
      {"gpu", curve.gpu},
      {"op", name_of(curve.op)},
      {"gpus", curve.gpus()},
      {"nodes", curve.placement.nodes},
      {"processes_per_node", curve.processes_per_node == 0 ? Json(nullptr) : Json(curve.processes_per_node)},
      {"single", curve.single},
      {"library", curve.library},
      {"fidelity", name_of(curve.fidelity)}};
  Json points = Json::array();
  for (const CollectivePoint& p : curve.points) points.push_back(point_json(curve, p, options.explain));
  for (std::size_t i = 0; i < curve.evidence.size(); ++i) {
    points[i]["raw_time_s"] = to_seconds(curve.evidence[i].raw);
    points[i]["evidence"] = estimate_json(curve.evidence[i].estimate);
  }
  out["points"] = std::move(points);
  out["answer"] = answer_json(answer_of(curve));
  out["warnings"] = curve.warnings;
  return json_text(out);
}

}  // namespace foretrain

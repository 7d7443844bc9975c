// Writes the measured points of a collective for the page; they are the same as in the drawing of --svg.
#include "sim/report/collective/busbw_chart.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/page/page.hpp"

namespace foretrain {

std::string measured_details(const CollectiveCurve& curve, const std::vector<CollectiveMeasurement>& rows) {
  Json measured = Json::array();
  for (const BusbwSeries& series : busbw_chart(curve, rows).series) {
    if (!series.measured) continue;
    for (const BusbwPoint& p : series.points)
      measured.push_back(
          {{"series", series.label}, {"bytes", p.bytes}, {"busbw_bytes_per_s", p.bytes_per_second}});
  }
  return json_text(Json{{"measured", std::move(measured)}});
}

}  // namespace foretrain

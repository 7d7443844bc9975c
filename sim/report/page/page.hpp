// The page of --html: reports as JSON inside the built template of web/report, one file that needs nothing
// else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/scenario/csv/evidence_table.hpp"
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// How the page was made, for whoever wants to make it again. All may be empty.
struct PageOrigin {
  std::string command, version, date;
};

/// What a page shows. `kind`: "prediction", "study", "comparison", "strategies", "collective", "validation",
/// "plan".
struct PageContent {
  std::string_view kind;
  std::vector<std::string> reports;  ///< each as its --format json
  /// JSON, beside each report what its own does not have; may be shorter.
  std::vector<std::string> details{};
  PageOrigin made{};
};

/// HTML5 without outside references: the template with the content as its one JSON island. In it everything
/// beyond ASCII and all of < > & are escapes, so that no name ends the island or changes how it reads.
std::string write_page(const PageContent& content);

/// The template as it is built into the program: HTML, packed with gzip (made by CMake of
/// web/report/page.html.gz).
std::string_view packed_page();

/// A recorded step that has others before and behind it, on its lanes: host threads, streams, and the kinds
/// of link that its messages cross. {"step_s", "lanes": [{"name", "sort"}], "names", "kinds", "spans":
/// [[lane, start in us, length in us, name, kind, bytes]], "left_out", "links": [{"name", "bytes",
/// "bytes_per_s", "use"}]}; spans by lane and start, at most kMostPageSpans, the longest of them.
std::string step_timeline(const RecordedSteps& recorded,
                          const std::vector<std::string>& layers);  // step_timeline.cpp
inline constexpr std::size_t kMostPageSpans = 6000;

/// {"scenario_name", "scenario", "samples", "epochs", "measured", "timeline", "topology_svg", "nearest",
/// "job_script"}; what is not there is left out. Simulates the largest listed number of GPUs once more, as
/// --trace does. `measured`: the runs that "nearest" is chosen from.
std::string prediction_details(const Scenario& scenario, const SourceText& source,
                               const Prediction& prediction, const EvidenceTable& measured,
                               const std::string& job_script);  // prediction_details.cpp

/// {"measured": [{"series", "bytes", "busbw_bytes_per_s"}]}
std::string measured_details(const CollectiveCurve& curve,
                             const std::vector<CollectiveMeasurement>& rows);  // measured_details.cpp

}  // namespace foretrain

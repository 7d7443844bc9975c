// The page of --html: reports as JSON inside the template that is built from web/report. The page is one file
// and needs no others.
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

/// Origin of a page, for whoever wants to make it again. Each text may be empty.
struct PageOrigin {
  std::string command, version, date;
};

/// Content of a page. `kind` is "prediction", "study", "comparison", "strategies", "collective", "validation"
/// or "plan".
struct PageContent {
  std::string_view kind;
  /// The reports, each as --format json prints it.
  std::vector<std::string> reports;
  /// JSON with further data for each report; the list may be shorter than `reports`.
  std::vector<std::string> details{};
  PageOrigin made{};
};

/// Returns the page as HTML5 without references to other files. In the JSON, all characters beyond ASCII and
/// < > & are escaped, so that no name can end the script element or change how it is read.
std::string write_page(const PageContent& content);

/// Returns the template, HTML compressed with gzip. CMake builds it into the program from
/// web/report/page.html.gz.
std::string_view packed_page();

/// Returns a step from the middle of a recording as JSON, on its lanes: host threads, streams, and the kinds
/// of link that its messages cross. {"step_s", "lanes": [{"name", "sort"}], "names", "kinds", "spans":
/// [[lane, start in us, length in us, name, kind, bytes]], "left_out", "links": [{"name", "bytes",
/// "bytes_per_s", "use"}]}. Names and kinds are indices. Spans are ordered by lane and start; of more than
/// kMostPageSpans the longest are kept.
std::string step_timeline(const RecordedSteps& recorded,
                          const std::vector<std::string>& layers);  // step_timeline.cpp
/// Largest number of spans on a page.
inline constexpr std::size_t kMostPageSpans = 6000;

/// Returns {"scenario_name", "scenario", "samples", "epochs", "measured", "timeline", "topology_svg",
/// "nearest", "job_script"}; what does not exist is left out. The largest number of GPUs is simulated once
/// more, as for --trace. `measured` holds the runs among which "nearest" is searched.
std::string prediction_details(const Scenario& scenario, const SourceText& source,
                               const Prediction& prediction, const EvidenceTable& measured,
                               const std::string& job_script);  // prediction_details.cpp

/// Returns {"measured": [{"series", "bytes", "busbw_bytes_per_s"}]}.
std::string measured_details(const CollectiveCurve& curve,
                             const std::vector<CollectiveMeasurement>& rows);  // measured_details.cpp

}  // namespace foretrain

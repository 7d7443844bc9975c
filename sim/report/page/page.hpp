// The page of --html: reports as JSON inside the built template of web/report, one file that needs nothing
// else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/prediction/chrome_trace.hpp"

namespace foretrain {

/// How the page was made, for whoever wants to make it again. All may be empty.
struct PageOrigin {
  std::string command, version, date;
};

/// What a page shows. `kind`: "prediction", "study", "comparison", "strategies", "collective", "validation".
struct PageContent {
  std::string_view kind;
  std::vector<std::string> reports;  ///< each as its --format json
  std::vector<Json> details{};       ///< beside each report what its JSON does not have; may be shorter
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
Json step_timeline_json(const TaskGraph& graph, const Timeline& timeline, const TraceContext& context,
                        const Cluster& cluster);  // step_timeline.cpp
inline constexpr std::size_t kMostPageSpans = 6000;

}  // namespace foretrain

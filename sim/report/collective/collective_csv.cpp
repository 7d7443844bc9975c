// Writes a curve as CSV. Only names may need quotes.
#include <iterator>

#include <fmt/format.h>

#include "sim/report/collective/collective_catalog.hpp"
#include "sim/report/prediction/csv.hpp"

namespace foretrain {

namespace {

/// Returns the name of the busiest link; "-" when there is none.
std::string_view bottleneck_of(const CollectiveCurve& curve, const CollectivePoint& p) {
  return p.bottleneck < 0 ? std::string_view("-")
                          : std::string_view(curve.links[static_cast<std::size_t>(p.bottleneck)]);
}

/// Returns lower and upper end of the 90 % interval in microseconds; empty fields when there is none.
std::string interval_fields(const CollectivePoint& p) {
  const std::optional<TimeRange> interval = interval_of(p);
  if (!interval) return ",,";
  return fmt::format(",{:.6g},{:.6g}", to_microseconds(interval->low), to_microseconds(interval->high));
}

}  // namespace

// The interval's fields are empty when no such collective was measured.
std::string write_collective_csv(const CollectiveCurve& curve, const ReportOptions& options) {
  // Columns: the job; size and time of one call; algorithm and bus bandwidth; NCCL's choice; what bounds the
  // time; the parts of the time (launch by the host, start of the kernel, latencies of steps, filling of the
  // pipeline, bytes); the interval.
  std::string out =
      "cluster,op,gpus,nodes,bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,channels,bound_by,"
      "bottleneck,launch_us,start_us,"
      "steps_us,fill_us,data_us,time_low_us,time_high_us";
  // raw_time_us only exists when measured runs corrected the curve.
  out += fmt::format("{}{}\n", curve.evidence.empty() ? "" : ",raw_time_us", options.explain ? ",why" : "");
  const std::string job = fmt::format("{},{},{},{}", csv_field(curve.cluster), name_of(curve.op),
                                      curve.gpus(), curve.placement.nodes);
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CollectivePoint& p = curve.points[i];
    const CollectiveTiming& t = p.timing;
    fmt::format_to(std::back_inserter(out), "{},{},{},{:.6g},{:.6g},{},{},{},{},{},{},{},{},{},{}", job,
                   p.size.count, to_microseconds(p.time), p.algbw.per_second * 1e-9,
                   p.busbw.per_second * 1e-9, p.algorithm, p.protocol, p.channels, name_of(p.bound),
                   csv_field(bottleneck_of(curve, p)), to_microseconds(p.launch), to_microseconds(t.start),
                   to_microseconds(t.steps), to_microseconds(t.fill), to_microseconds(t.data));
    out += interval_fields(p);
    if (!curve.evidence.empty()) out += fmt::format(",{:.6g}", to_microseconds(curve.evidence[i].raw));
    out += options.explain ? "," + csv_field(p.why) + "\n" : "\n";
  }
  return out;
}

}  // namespace foretrain

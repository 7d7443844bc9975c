// The command trace show: prints where the time of recorded steps went, from traces of one or several ranks.
// With several ranks it also finds stragglers. Only one trace is in memory at a time.
//
// `foretrain trace show FILE…` prints the tables of report/traces/trace_table.cpp. A file that is no trace
// ends it with exit code 1.
#include "sim/analysis/traces/stragglers.hpp"
#include "sim/app/commands.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/import/traces/trace_file.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/traces/trace_reports.hpp"

namespace foretrain {

void run_trace_show(const TraceCommand& command) {
  TraceReport report;
  std::vector<std::vector<CollectiveEntry>> entries;
  each_timed_trace(command.files, [&](const Trace& trace) {
    report.ranks.push_back(summarize_trace(trace));
    if (command.files.size() > 1) entries.push_back(collective_entries(trace, report.ranks.back()));
  });
  if (entries.size() > 1) report.stragglers = find_stragglers(report.ranks, entries);
  write_report(command.output, command.format, find_row(kTraceFormats, command.format)->write(report));
}

}  // namespace foretrain

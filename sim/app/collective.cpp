// The command collective: predicts one collective operation over message sizes, as nccl-tests measures it.
// The steps are arguments, question, curve, report and output.
//
// `foretrain collective --cluster NAME --op all_reduce --gpus 8` prints the table of nccl-tests
// (report/collective/nccl_tests.cpp); --format csv and json are for programs. An unknown name ends it with
// exit code 1.
#include <set>

#include <fmt/format.h>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/evidence/corrected_calls.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/base/names.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/report/collective/busbw_chart.hpp"
#include "sim/report/collective/collective_catalog.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/page/page.hpp"
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/csv/message_sizes.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/collective_sections.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns the operation of that name, which may be spelled with other case or separators. Throws InputError
/// with near names otherwise.
CollectiveOp find_op(const std::string& name) {
  std::vector<std::string> known;
  for (const CollectiveOp op : kCollectiveOps) known.emplace_back(name_of(op));
  const std::string found = spelt_alike(name, known);
  for (const CollectiveOp op : kCollectiveOps) {
    if (name_of(op) == found) return op;
  }
  throw InputError(fmt::format("unknown op \"{}\"", name.substr(0, 60)), did_you_mean(name, known));
}

/// Returns --set and the shorthands --algorithm, --protocol and --channels as settings of one kind.
std::vector<std::string> settings_of(const CollectiveCommand& command) {
  std::vector<std::string> settings = command.settings;
  if (!command.algorithm.empty() && command.is_nccl())
    settings.push_back("nccl.algorithm=" + command.algorithm);
  if (!command.protocol.empty()) settings.push_back("nccl.protocol=" + command.protocol);
  if (command.channels) {
    settings.push_back(fmt::format("nccl.min_channels={}", *command.channels));
    settings.push_back(fmt::format("nccl.max_channels={}", *command.channels));
  }
  return settings;
}

/// Returns the transport of --transport, or nothing for NCCL, which has a model of its own.
std::optional<Transport> transport_of(const CollectiveCommand& command) {
  if (command.is_nccl()) return std::nullopt;
  return open_value(CatalogKind::transports, command.transport, read_transport);
}

/// Throws InputError when another transport is given options that only NCCL understands.
void refuse_settings_of_nccl(const CollectiveCommand& command) {
  if (settings_of(command).empty() && !command.launch_processes) return;
  throw InputError(fmt::format("settings of NCCL do not change the transport {}", command.transport),
                   "leave out --protocol, --channels, --launch-processes and --set");
}

/// Builds the question: cluster, operation, job size, message sizes and settings, each checked.
CollectiveQuestion question_of(const CollectiveCommand& command) {
  const CollectiveKnobs knobs = read_collective_knobs(settings_of(command));
  CollectiveQuestion question;
  question.cluster = open_cluster(command.cluster, knobs.calibration);
  if (knobs.gpudirect)
    visit_nodes(question.cluster, [&](NodeSpec& node) { node.gpudirect = *knobs.gpudirect; });
  question.op = find_op(command.op);
  question.gpus = command.gpus, question.nodes = command.nodes;
  question.sizes = read_or_throw(SourceText{"--sizes", command.sizes}, read_message_sizes);
  question.transport = transport_of(command);
  if (question.transport) refuse_settings_of_nccl(command);
  question.fidelity = *find_fidelity(command.fidelity);
  if (question.transport) question.transport_algorithm = command.algorithm;
  question.explain = command.explain, question.single = command.single;
  question.settings = knobs.settings();
  // The usual number of processes depends on the number of nodes, so the job is placed first.
  const Placement placement = place_job(question.cluster, question.gpus, question.nodes);
  if (!knobs.processes_per_node)
    question.settings.processes_per_node = usual_processes_per_node(placement.nodes);
  if (command.launch_processes)
    question.settings.processes_per_node = command.launch_processes == LaunchProcesses::one ? 1 : 0;
  return question;
}

/// Reads the measured rows that are drawn over the curve. Throws InputError when the file has another kind of
/// row.
MeasurementFile read_measured(const std::string& file) {
  MeasurementFile measured = read_or_throw(read_text_file(file, kLargestMeasurements), read_measurements);
  if (measured.kind == MeasurementFile::Kind::collective) return measured;
  throw InputError(fmt::format("{} holds no collective times", file),
                   "columns: series,cluster,op,gpus,nodes,bytes,time_us,settings,source");
}

/// Returns the HTML page with the predicted curve and the measured rows.
std::string page_of(const CollectiveCommand& command, const CollectiveCurve& curve,
                    const std::vector<CollectiveMeasurement>& rows) {
  return write_page({"collective",
                     {write_collective_json(curve, {.explain = command.explain})},
                     {measured_details(curve, rows)},
                     command.made});
}

/// Removes the drawn rows from the evidence: a row that the curve is compared with may not correct it.
void drop_series(EvidenceTable& table, const std::vector<CollectiveMeasurement>& drawn) {
  std::set<TextId> series;
  for (const CollectiveMeasurement& row : drawn) series.insert(table.find(row.series));
  table.erase_if(0, [&](const StoredRow& row) { return series.contains(row.text(RowText::run)); });
}

/// Returns the curve, corrected by stored measurements. A cluster whose calibration covers collectives is not
/// corrected, as its constants already come from measurements there.
CollectiveCurve corrected(const CollectiveCommand& command, const CollectiveQuestion& question,
                          const MeasurementFile& drawn) {
  CollectiveCurve curve = predict_collective(question);
  if (!question.cluster.calibration.collectives.empty()) return curve;
  OpenedEvidence opened = open_evidence(command.evidence, EvidenceOf::collectives);
  drop_series(opened.field.table(), drawn.collective);
  correct_calls(curve, {&opened.field, kOwnSource});
  curve.warnings.insert(curve.warnings.end(), opened.warnings.begin(), opened.warnings.end());
  return curve;
}

}  // namespace

// Writes the report to -o or standard output, and the curve to --svg and --html. Measured rows are only read
// for the drawings, where they are compared with the prediction.
void run_collective(const CollectiveCommand& command) {
  const CollectiveQuestion question = question_of(command);
  const MeasurementFile measured =
      command.measured.empty() ? MeasurementFile{} : read_measured(command.measured);
  check_outputs({{"-o", command.output}, {"--svg", command.svg}, {"--html", command.html}});
  const CollectiveCurve curve = corrected(command, question, measured);
  if (!command.svg.empty()) write_file(command.svg, draw_busbw(busbw_chart(curve, measured.collective)));
  if (!command.html.empty()) write_file(command.html, page_of(command, curve, measured.collective));
  ReportOptions options{.explain = command.explain};
  options.quiet = command.quiet;
  write_output(command.output, find_collective_report(command.format)->write(curve, options));
  warn_beside(command.format, curve.warnings);
}

}  // namespace foretrain

// Values come from files and from --set, where people write what they know from NCCL's environment: RING or
// ring, 0 or false, and 2.20 as a version, which TOML takes for the number 2.2; its spelling is read from the
// text.
#include "sim/scenario/sections/collective_sections.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/names.hpp"
#include "sim/scenario/sections/scenario_document.hpp"
#include "sim/scenario/toml/section_values.hpp"

namespace foretrain {

namespace {

constexpr int kMostChannels = 64, kMostThreads = 1024, kMostProcessesOfNode = 64;

/// true, false, 1 or 0.
std::optional<bool> optional_flag(TableReader& reader, std::string_view key) {
  const Value* value = reader.value(key);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(&value->data);
  if (number != nullptr && (*number == 0 || *number == 1)) return *number == 1;
  return reader.boolean(key);
}

void keep_flag(TableReader& reader, std::string_view key, bool& out) {
  if (const auto found = optional_flag(reader, key)) out = *found;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const nccl::Algorithm algorithm : nccl::kAlgorithms)
    names.push_back(lower_case(std::string(nccl::name_of(algorithm))));
  return names;
}

void read_algorithm(TableReader& reader, nccl::Settings& settings) {
  const auto name = reader.string("algorithm");
  if (!name) return;
  settings.algorithm = nccl::find_algorithm(*name);
  if (settings.algorithm) return;
  reader.report(reader.span_of("algorithm"),
                fmt::format("unknown nccl.algorithm \"{}\"", name->substr(0, 60)),
                did_you_mean(lower_case(name->substr(0, 60)), algorithm_names()));
}

void read_protocol(TableReader& reader, nccl::Settings& settings) {
  const auto name = reader.string("protocol");
  if (!name) return;
  std::vector<std::string> known;
  for (const Protocol protocol : kProtocols) {
    known.push_back(lower_case(std::string(name_of(protocol))));
    if (lower_case(*name) == known.back()) settings.protocol = protocol;
  }
  if (settings.protocol) return;
  reader.report(reader.span_of("protocol"), fmt::format("unknown nccl.protocol \"{}\"", name->substr(0, 60)),
                did_you_mean(lower_case(name->substr(0, 60)), known));
}

void read_nccl_version(TableReader& reader, nccl::Settings& settings) {
  if (reader.value("version") == nullptr) return;
  const auto text = reader.spelling("version");
  const auto version = text ? nccl::parse_version(*text) : std::nullopt;
  if (version) settings.version = *version;
  if (!version)
    reader.report(reader.span_of("version"), "nccl.version is no version of NCCL",
                  "as in nccl.version = \"2.18.3\"");
}

/// never, always, auto; or NCCL's own 0, 1, 2.
void read_cross_nic(TableReader& reader, nccl::Settings& settings) {
  const Value* value = reader.value("cross_nic");
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(&value->data);
  const std::vector<std::string> names{"never", "always", "auto"};
  std::optional<std::size_t> choice;
  if (number != nullptr && *number >= 0 && *number <= 2) choice = static_cast<std::size_t>(*number);
  if (!choice) {
    const auto name = reader.one_of("cross_nic", names);
    if (name) choice = static_cast<std::size_t>(std::find(names.begin(), names.end(), *name) - names.begin());
  }
  if (choice) settings.cross_nic = static_cast<nccl::CrossNic>(*choice);
}

void read_channels(TableReader& reader, nccl::Settings& settings) {
  count(reader, "min_channels", 1, kMostChannels, settings.min_channels);
  count(reader, "max_channels", 1, kMostChannels, settings.max_channels);
  if (settings.max_channels == 0 || settings.min_channels <= settings.max_channels) return;
  reader.report(reader.span_of("min_channels"), "nccl.min_channels is more than nccl.max_channels");
}

void read_collective_section(TableReader& document, std::string_view key,
                             void (*read)(TableReader&, CollectiveKnobs&), CollectiveKnobs& knobs) {
  const Table* table = document.table(key);
  if (table == nullptr) return;
  TableReader section(*table, std::string(key), document.diagnostics());
  read(section, knobs);
  section.finish();
}

}  // namespace

void read_nccl(TableReader& reader, CollectiveKnobs& knobs) {
  nccl::Settings& settings = knobs.nccl;
  read_nccl_version(reader, settings);
  read_algorithm(reader, settings);
  read_protocol(reader, settings);
  read_channels(reader, settings);
  keep_flag(reader, "nvls", settings.nvls);
  keep_flag(reader, "collnet", settings.collnet);
  knobs.gpudirect = optional_flag(reader, "gdr");
  keep_flag(reader, "p2p", settings.p2p);
  keep_flag(reader, "pxn", settings.pxn);
  read_cross_nic(reader, settings);
  count(reader, "threads", 64, kMostThreads, settings.simple_threads);
  if (const auto buffer = reader.bytes("buffer")) settings.buffer_bytes = buffer->count;
}

void read_launch(TableReader& launch, CollectiveKnobs& knobs) {
  if (const auto found = launch.integer("processes_per_node", 1, kMostProcessesOfNode))
    knobs.processes_per_node = static_cast<int>(*found);
}

namespace {

void read_calibration_name(TableReader& cluster, CollectiveKnobs& knobs) {
  knobs.calibration = cluster.string("calibration");
}

}  // namespace

CollectiveKnobs read_collective_knobs(const std::vector<std::string>& settings) {
  const SourceText nothing;
  ScenarioOverrides overrides;
  overrides.settings = settings;
  ScenarioDocument source(nothing, overrides);
  CollectiveKnobs knobs;
  TableReader document(source.table(), "", source.diagnostics());
  read_collective_section(document, "nccl", read_nccl, knobs);
  read_collective_section(document, "launch", read_launch, knobs);
  read_collective_section(document, "cluster", read_calibration_name, knobs);
  document.finish();
  if (std::vector<Diagnostic> mistakes = source.found(); !mistakes.empty())
    throw InputError(std::move(mistakes));
  return knobs;
}

}  // namespace foretrain

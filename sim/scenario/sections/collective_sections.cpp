// Settings on collectives. Values come from files and from --set, where people write what they know from
// NCCL's environment: RING or ring, 0 or false. A version such as 2.20 is the number 2.2 to TOML, so its
// spelling is read from the text.
#include "sim/scenario/sections/collective_sections.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/names.hpp"
#include "sim/scenario/sections/launch_section.hpp"
#include "sim/scenario/sections/scenario_document.hpp"

namespace foretrain {

namespace {

/// Upper limits of NCCL's channels and threads, and of the options of nccl-tests.
constexpr int kMostChannels = 64, kMostThreads = 1024;
constexpr int kMostIterations = 1'000'000, kMostLaunchingThreads = 64;

/// Reads a flag as true, false, 1 or 0.
std::optional<bool> optional_flag(TableReader& table, std::string_view key) {
  const Value* value = table.value(key);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(&value->data);
  if (number != nullptr && (*number == 0 || *number == 1)) return *number == 1;
  return table.boolean(key);
}

/// A flag in NCCL's spelling.
template <auto... Path>
takes::Of<Path...> nccl_flag() {
  return {"true, false", [](TableReader& table, std::string_view key, auto& target) {
            takes::put(optional_flag(table, key), MemberPath<Path...>::in(target));
          }};
}

/// Reads a name and looks it up; an unknown one is reported.
template <auto Member, class Found>
void put_named(TableReader& table, std::string_view key, nccl::Settings& settings, Found find,
               const std::vector<std::string>& known) {
  const auto name = table.string(key);
  if (!name) return;
  settings.*Member = find(*name);
  if (!(settings.*Member))
    table.report(table.span_of(key),
                 fmt::format("unknown {} \"{}\"", table.full_name(key), name->substr(0, 60)),
                 did_you_mean(lower_case(name->substr(0, 60)), known));
}

/// Returns names in lower case, as scenarios write them; NCCL's own spelling is understood, too.
template <class Values>
std::vector<std::string> lower_names(const Values& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.push_back(lower_case(std::string(name_of(value))));
  return names;
}

/// Finds a protocol by its name in any case.
std::optional<Protocol> find_protocol(std::string_view name) {
  for (const Protocol protocol : kProtocols) {
    if (lower_case(std::string(name)) == lower_case(std::string(name_of(protocol)))) return protocol;
  }
  return std::nullopt;
}

/// Keys of algorithm and protocol.
Takes<nccl::Settings> algorithm() {
  const std::vector<std::string> names = lower_names(nccl::kAlgorithms);
  return {fmt::format("{}", fmt::join(names, ", ")),
          [names](TableReader& table, std::string_view key, nccl::Settings& settings) {
            put_named<&nccl::Settings::algorithm>(table, key, settings, nccl::find_algorithm, names);
          }};
}

/// Offers the names of kProtocols.
Takes<nccl::Settings> protocol() {
  const std::vector<std::string> names = lower_names(kProtocols);
  return {fmt::format("{}", fmt::join(names, ", ")),
          [names](TableReader& table, std::string_view key, nccl::Settings& settings) {
            put_named<&nccl::Settings::protocol>(table, key, settings, find_protocol, names);
          }};
}

/// Returns whether a version may exist: major versions 1 and 2, and minor ones that may be newer than this
/// program.
bool may_exist(const nccl::Version& version) {
  constexpr int kMostFutureNcclMinors = 20;
  return version.major == 1 ||
         (version.major == 2 && version.minor <= nccl::kNewestKnown.minor + kMostFutureNcclMinors);
}

/// Reads NCCL's version from its spelling, because TOML would take 2.20 for the number 2.2.
void read_nccl_version(TableReader& table, std::string_view key, nccl::Settings& settings) {
  if (table.value(key) == nullptr) return;
  const auto text = table.spelling(key);
  const auto version = text ? nccl::parse_version(*text) : std::nullopt;
  if (!version)
    table.report(table.span_of(key), "nccl.version is no version of NCCL", "as in nccl.version = \"2.18.3\"");
  else if (!may_exist(*version))
    table.report(table.span_of(key), fmt::format("there is no NCCL {}", to_text(*version)),
                 fmt::format("the newest that is known here is {}", to_text(nccl::kNewestKnown)));
  else
    settings.version = *version;
}

/// The key cross_nic: never, always, auto, or NCCL's own 0, 1, 2.
Takes<nccl::Settings> cross_nic() {
  const std::vector<Choice<nccl::CrossNic>> choices{{"never", nccl::CrossNic::never},
                                                    {"always", nccl::CrossNic::always},
                                                    {"auto", nccl::CrossNic::automatic}};
  return {takes::names_of(choices),
          [choices](TableReader& table, std::string_view key, nccl::Settings& settings) {
            const Value* value = table.value(key);
            const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(&value->data);
            // NCCL's environment has the numbers 0, 1 and 2 in the order of the enumeration.
            if (number != nullptr && *number >= 0 && *number <= 2)
              settings.cross_nic = static_cast<nccl::CrossNic>(*number);
            else
              choose(table, key, choices, settings.cross_nic);
          }};
}

/// Reads the size of a connection's buffer for the Simple protocol.
void read_buffer(TableReader& table, std::string_view key, nccl::Settings& settings) {
  if (const auto buffer = table.bytes(key)) settings.buffer_bytes = buffer->count;
}

/// Reports a smallest number of channels above the largest.
void check_channels(TableReader& table, const nccl::Settings& settings) {
  if (settings.max_channels == 0 || settings.min_channels <= settings.max_channels) return;
  table.report(table.span_of("min_channels"), "nccl.min_channels is more than nccl.max_channels");
}

/// The keys of [nccl] are in three parts because gdr is a property of the nodes, and keeps its place on the
/// reference page.
Keys<nccl::Settings> keys_before_gdr() {
  using S = nccl::Settings;
  return {
      {"version",
       {"version", read_nccl_version},
       "\"2.18.3\"",
       "that of framework.software or framework.version; else 2.20.5, on Blackwell 2.26.2",
       "NCCL's; PyTorch 2.3 and 2.4 bring 2.20.5 along, and 2.26.2 is of the first PyTorch for Blackwell"},
      {"algorithm", algorithm(), "\"ring\"", "NCCL's choice by size", "NCCL_ALGO"},
      {"protocol", protocol(), "\"simple\"", "NCCL's choice by size", "NCCL_PROTO"},
      {"min_channels", takes::integer<&S::min_channels>(1, kMostChannels), "8", "NCCL's",
       "NCCL_MIN_NCHANNELS, NCCL_MIN_CTAS"},
      {"max_channels", takes::integer<&S::max_channels>(1, kMostChannels), "16", "NCCL's",
       "NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS"},
      {"nvls", nccl_flag<&S::nvls>(), "false", "true", "NCCL_NVLS_ENABLE: NVSwitches reduce, where they can"},
      {"collnet", nccl_flag<&S::collnet>(), "true", "false",
       "NCCL_COLLNET_ENABLE: the fabric's switches reduce, where they can"},
  };
}

/// Declares the key `gdr`, whose value belongs to the nodes and not to NCCL's settings.
Keys<CollectiveKnobs> gdr_key() {
  return {{"gdr", nccl_flag<&CollectiveKnobs::gpudirect>(), "false", "the cluster's",
           "GPUDirect RDMA; false: messages between nodes go through host memory"}};
}

/// Declares the keys that follow `gdr` on the reference page.
Keys<nccl::Settings> keys_behind_gdr() {
  using S = nccl::Settings;
  return {
      {"p2p", nccl_flag<&S::p2p>(), "false", "true",
       "false is NCCL_P2P_DISABLE=1: GPUs of a node exchange through host memory"},
      {"pxn", nccl_flag<&S::pxn>(), "false", "true",
       "false is NCCL_PXN_DISABLE=1: no relay over NVLink to a GPU nearer to the NIC"},
      {"cross_nic", cross_nic(), "\"never\"", "auto",
       "NCCL_CROSS_NIC: a ring may leave a node over another NIC than it came in"},
      {"threads", takes::integer<&S::simple_threads>(64, kMostThreads), "256", "NCCL's",
       "NCCL_NTHREADS: threads of a channel's block"},
      {"buffer",
       {"size", read_buffer},
       "\"4 MiB\"",
       "4 MiB",
       "NCCL_BUFFSIZE: of each connection, Simple protocol"},
  };
}

/// Reads one table of the settings, if it is present.
void read_collective_section(TableReader& document, std::string_view key,
                             void (*read)(TableReader&, CollectiveKnobs&), CollectiveKnobs& knobs) {
  const Table* table = document.table(key);
  if (table == nullptr) return;
  TableReader section(*table, std::string(key), document.diagnostics());
  read(section, knobs);
  section.finish();
}

/// Reads the keys of [launch] that collectives depend on.
void read_launch(TableReader& launch, CollectiveKnobs& knobs) {
  ProcessStart start;
  JobMachine machine;
  read_keys(launch, {processes_per_node_key()}, start);
  read_keys(launch, {isolation_key()}, machine);
  if (start.processes_per_node > 0) knobs.processes_per_node = start.processes_per_node;
  knobs.nccl.isolation = machine.isolation;
}

/// Reads [nccl_tests], the options of the loop of nccl-tests.
void read_nccl_tests(TableReader& loop, CollectiveKnobs& knobs) { read_keys(loop, nccl_tests_keys(), knobs); }

/// Reads the calibration's name only; the caller opens it.
void read_calibration_name(TableReader& cluster, CollectiveKnobs& knobs) {
  knobs.calibration = cluster.string("calibration");
}

}  // namespace

/// Joins the three parts in the order of the reference page.
const Keys<CollectiveKnobs>& nccl_keys() {
  static const auto nccl = [](CollectiveKnobs& knobs) -> nccl::Settings& { return knobs.nccl; };
  static const Keys<CollectiveKnobs> keys = keys_within<CollectiveKnobs>(keys_before_gdr(), nccl) +
                                            gdr_key() + keys_within<CollectiveKnobs>(keys_behind_gdr(), nccl);
  return keys;
}

/// Both keys are options of nccl-tests, named in their descriptions.
const Keys<CollectiveKnobs>& nccl_tests_keys() {
  using K = CollectiveKnobs;
  static const Keys<K> keys{{"iterations", takes::integer<&K::iterations>(1, kMostIterations), "5", "20",
                             "calls between two looks at the clock (-n)"},
                            {"threads", takes::integer<&K::threads>(1, kMostLaunchingThreads), "8", "1",
                             "of each process, which share out its GPUs and launch at the same time (-t)"}};
  return keys;
}

/// Limits of a single key are checked where it is read; relations between keys are checked afterwards.
void read_nccl(TableReader& table, CollectiveKnobs& knobs) {
  read_keys(table, nccl_keys(), knobs);
  check_channels(table, knobs.nccl);
}

/// The texts are parsed as the settings of a scenario without a file.
CollectiveKnobs read_collective_knobs(const std::vector<std::string>& settings) {
  const SourceText nothing;
  ScenarioOverrides overrides;
  overrides.settings = settings;
  ScenarioDocument source(nothing, overrides);
  CollectiveKnobs knobs;
  TableReader document(source.table(), "", source.diagnostics());
  // Each section of the settings is read by itself; the calibration is only named.
  read_collective_section(document, "nccl", read_nccl, knobs);
  read_collective_section(document, "launch", read_launch, knobs);
  check_isolation(document, knobs.nccl);
  read_collective_section(document, "nccl_tests", read_nccl_tests, knobs);
  read_collective_section(document, "cluster", read_calibration_name, knobs);
  document.finish();
  if (std::vector<Diagnostic> mistakes = source.found(); !mistakes.empty())
    throw InputError(std::move(mistakes));
  return knobs;
}

}  // namespace foretrain

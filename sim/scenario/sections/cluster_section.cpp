// The table [cluster]. A cluster's own file is read when its name is; its mistakes are reported with its own
// file name. Contents of `opened` are not read again.
#include "sim/scenario/sections/cluster_section.hpp"

#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/cluster/site_kinds.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/gpu_servers.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/site_names.hpp"
#include "sim/scenario/toml/part_reader.hpp"

namespace foretrain {

namespace {

/// Range of the factors of what-if questions.
constexpr double kSlowestWhatIf = 0.01, kFastestWhatIf = 100;

/// Returns the text of a cluster by name or path, or of a server of one kind of GPU; mistakes are reported.
std::optional<SourceText> cluster_source(const std::string& name, SourceSpan span, Diagnostics& diagnostics) {
  try {
    // A name that begins with kGpuServer means a server that no file describes.
    if (auto server = gpu_server_text(name)) return server;
  } catch (const InputError& error) {
    diagnostics.report(span, error.diagnostics().front().message, error.diagnostics().front().hint);
    return std::nullopt;
  }
  return find_named(CatalogKind::clusters, name, span, diagnostics);
}

/// Returns a cluster without applying its calibration, from the cache or its file.
std::optional<ClusterSpec> load_uncalibrated_cluster(const std::string& name, SourceSpan span,
                                                     Diagnostics& diagnostics, OpenedCatalogs& opened) {
  const std::string opened_as = name_from(diagnostics.source(), span, name);
  // Several scenarios of one cluster read its file once.
  if (const auto known = opened.clusters.find(opened_as); known != opened.clusters.end())
    return known->second;
  const auto source = cluster_source(name, span, diagnostics);
  if (!source) return std::nullopt;
  // The cluster's mistakes are collected for its own text, so that messages quote the right file.
  Diagnostics problems(*source);
  ClusterSpec cluster = read_uncalibrated_cluster(*source, problems);
  diagnostics.include(problems.found());
  if (!problems.empty()) return std::nullopt;
  // The map keeps the cluster for later readers, which get copies.
  return opened.clusters.emplace(opened_as, std::move(cluster)).first->second;
}

/// Reads the name. A site may have several files, and each file several kinds of node.
void read_cluster_name(TableReader& table, std::string_view key, ClusterSection& section) {
  const auto name = table.string(key);
  if (!name) return;
  const std::optional<SitePart> part = site_part_of(*name);
  // "m3/m3g" is the part m3g of the site m3.
  section.name = part ? part->site : *name, section.part = part ? part->part : "";
  const std::vector<std::string> files = files_of_site(section.name);
  // A cluster that is no site of several files is read by its own name.
  for (const std::string& file : files.empty() ? std::vector{section.name} : files) {
    const auto cluster =
        load_uncalibrated_cluster(file, table.span_of(key), table.diagnostics(), section.opened);
    if (!cluster) return section.kinds.clear();
    for (ClusterSpec& kind : clusters_of_site(*cluster)) section.kinds.push_back(std::move(kind));
  }
}

/// Returns the nodes that the job gets: those of the partition, or of the part in the name. Mistakes are
/// reported at the key that made the choice.
std::optional<ClusterSpec> chosen_nodes(TableReader& table, const ClusterSection& section) {
  if (section.kinds.empty()) return std::nullopt;
  const bool by_key = section.partition.has_value();
  try {
    return chosen_of_site(section.kinds, by_key ? *section.partition : section.part, section.name);
    // The first mistake has the hint; its place is the key that made the choice.
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    table.report(table.span_of(by_key ? "partition" : "name"), first.message, first.hint);
    return std::nullopt;
  }
}

/// Reads the calibration: a catalog's name, a file, or "none".
void read_calibration_key(TableReader& table, std::string_view key, ClusterSection& section) {
  const Value* value = table.value(key);
  if (value == nullptr) return;
  const auto* name = std::get_if<std::string>(&value->data);
  if (name != nullptr && *name == kNoCalibration)
    section.calibration = Calibration{};
  else
    section.calibration =
        PartReader<Calibration>(CatalogKind::calibrations, read_calibration).read(table, key);
}

}  // namespace

const Keys<ClusterSection>& cluster_keys() {
  static const Keys<ClusterSection> keys{
      // Name and partition select the nodes of the job.
      {"name",
       {"name or path", read_cluster_name},
       "\"mahti\"",
       kRequired,
       "a cluster of topologies/ or a file"},
      {"partition",
       {"text", [](TableReader& table, std::string_view key,
                   ClusterSection& section) { section.partition = table.string(key); }},
       "\"gpu\"",
       "that in the cluster's name, as in \"m3/m3g\"",
       "which nodes of a site with several kinds: a partition, a kind's name or a type of GPU"},
      {"calibration",
       {"name, path or none", read_calibration_key},
       "\"none\"",
       "that of the cluster's file",
       "what was measured on it (`foretrain calibrate fit`); none: data sheets and the measurements of "
       "others"},
      {"layout",
       takes::choice<&ClusterSection::layout>(
           std::vector<Choice<Layout>>{{"packed", Layout::packed}, {"spread", Layout::spread}}),
       "\"packed\"", "packed", "fill node after node, or spread the ranks over as many nodes as there are"},
      {"kernel_speed", takes::number<&ClusterSection::kernel_speed>(kSlowestWhatIf, kFastestWhatIf), "2", "1",
       "what if its GPUs ran every kernel so many times as fast? A measured step is still that of the "
       "cluster as it is"},
      {"link_speed", takes::number<&ClusterSection::link_speed>(kSlowestWhatIf, kFastestWhatIf), "0.5", "1",
       "what if everything between GPUs, latencies too, took a so-manyth of its time?"},
  };
  return keys;
}

/// The what-if factors are kept in the cluster; calibrated constants are applied before them.
void read_cluster_section(TableReader& cluster, OpenedCatalogs& opened, Scenario& scenario) {
  ClusterSection section{opened};
  read_keys(cluster, cluster_keys(), section);
  scenario.layout = section.layout;
  std::optional<ClusterSpec> chosen = chosen_nodes(cluster, section);
  if (!chosen) return;
  // A calibration of the scenario replaces that of the cluster's file.
  Calibration calibration =
      section.calibration ? *std::move(section.calibration) : std::move(chosen->calibration);
  scenario.cluster = calibrated(*std::move(chosen), std::move(calibration));
  scenario.cluster.kernel_speed = section.kernel_speed, scenario.cluster.link_speed = section.link_speed;
}

}  // namespace foretrain

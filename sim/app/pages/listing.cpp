// Describes the entries of each catalog. Every file is read completely, so that a listing never shows an
// entry that does not work.
#include "sim/app/pages/listing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"
#include "sim/cluster/cpu_models.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/collective/algorithms/catalog.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

namespace {

// Each describe_ function returns the summary of one entry. They throw InputError when its file is wrong.
std::string describe_model(const std::string& name) {
  const ModelFile file = open_value(CatalogKind::models, name, read_model_file);
  const ExpandedModel& expanded = file.expanded;
  // Sizes and work are those of the expanded network, as predictions use it.
  return fmt::format("{} parameters, {} gradients, {} forward per sample; {}",
                     spoken_count(static_cast<double>(expanded.parameter_elements())),
                     to_string(expanded.gradient_bytes()),
                     to_string(Flops{expanded.forward_gemm_flops().per_sample}), file.model.description);
}

std::string describe_cluster(const std::string& name) {
  return open_value(CatalogKind::clusters, name, read_cluster).description;
}

std::string describe_gpu(const std::string& name) {
  const Gpu gpu = open_value(CatalogKind::gpus, name, read_gpu);
  return fmt::format("{} fp32, {} fp16, {} at {}", to_string(gpu.fp32), to_string(gpu.fp16),
                     to_string(gpu.memory), to_string(gpu.memory_bandwidth));
}

std::string describe_node(const std::string& name) {
  const NodeSpec node = open_value(CatalogKind::nodes, name, read_node_template);
  const auto count = [&node](LinkKind kind) {
    return std::ranges::count_if(node.links, [&](const NodeLink& link) { return link.type.kind == kind; });
  };
  // Links decide between NVLink and PCIe; a node without NVLinks has only the latter.
  return fmt::format("{} x {}, {}, {}, {}", node.gpus, node.gpu.name,
                     count(LinkKind::nvlink) > 0 ? "NVLink" : "PCIe", counted(node.nics, "adapter"),
                     counted(node.host.cores, "core"));
}

std::string describe_link(const std::string& name) {
  const LinkType link = open_value(CatalogKind::links, name, read_link_type);
  return fmt::format("{} per direction, {} per hop", to_string(link.bandwidth), to_string(link.latency));
}

/// Returns the links between nodes, which `topology new --network` takes. NVLink and PCIe are not among
/// them.
std::vector<std::string> network_names() {
  std::vector<std::string> names = names_in(CatalogKind::links);
  std::erase_if(names, [](const std::string& name) {
    return open_value(CatalogKind::links, name, read_link_type).kind != LinkKind::network;
  });
  return names;
}

/// Returns these links with their bandwidth and latency.
std::vector<ListedEntry> list_networks() {
  std::vector<ListedEntry> entries;
  for (const std::string& name : network_names()) entries.push_back({printable(name), describe_link(name)});
  return entries;
}

std::string describe_transport(const std::string& name) {
  const Transport transport = open_value(CatalogKind::transports, name, read_transport);
  return fmt::format("{}, {} per message", find_transport_library(transport.library)->summary,
                     to_string(transport.message_overhead));
}

std::string describe_data_set(const std::string& name) {
  const DataSet set = open_value(CatalogKind::datasets, name, read_data_set);
  return fmt::format(
      "{} samples, {} per sample on the reference core, {}", set.samples, to_string(set.decode),
      set.storage == StorageKind::none ? "in memory"
                                       : fmt::format("{} stored each", to_string(set.stored_bytes)));
}

std::string describe_calibration(const std::string& name) {
  const Calibration calibration = open_calibration(name);
  return fmt::format("{}, {}; {}", counted(std::ssize(calibration.constants), "constant"),
                     counted(std::ssize(calibration.collectives), "collective"), calibration.description);
}

std::string describe_scenario(const std::string& name) {
  const Scenario scenario = read_scenario(open_named(CatalogKind::scenarios, name).value(), {});
  return fmt::format("{} on {} with {}", scenario.model.name, scenario.cluster.name, scenario.strategy);
}

/// Returns the entries of a catalog of files.
std::vector<ListedEntry> list_files(CatalogKind kind, std::string (*describe)(const std::string&)) {
  std::vector<ListedEntry> entries;
  for (const std::string& name : names_in(kind)) entries.push_back({printable(name), describe(name)});
  return entries;
}

/// Returns the entries of a table in the program.
template <class Rows>
std::vector<ListedEntry> list_rows(const Rows& rows) {
  std::vector<ListedEntry> entries;
  for (const auto& row : rows) entries.push_back({std::string(row.name), std::string(row.summary)});
  return entries;
}

// A list: its name, its entries with summaries, and its names without reading files.
struct ListedCatalog {
  std::string_view name;
  std::vector<ListedEntry> (*entries)();
  std::vector<std::string> (*names)();
};

// Make plain functions of the two parameters, as the table below needs them.
template <CatalogKind kind, std::string (*describe)(const std::string&)>
std::vector<ListedEntry> files() {
  return list_files(kind, describe);
}

template <CatalogKind kind>
std::vector<std::string> names() {
  return names_in(kind);
}

std::vector<ListedEntry> list_cpus() {
  std::vector<ListedEntry> entries;
  for (const CpuModel& cpu : cpu_models())
    entries.push_back(
        {std::string(cpu.name),
         fmt::format("{}, {:g} GHz, one of them up to {:g} GHz, {:g} GB/s, vectors of {} bits, slowdown {:g}",
                     counted(cpu.cores, "core"), cpu.all_ghz, cpu.one_ghz, cpu.memory_gbps, cpu.vector_bits,
                     cpu.slowdown)});
  return entries;
}

// The lists in the order of the help.
constexpr ListedCatalog kCatalogs[] = {
    {"models", files<CatalogKind::models, describe_model>, names<CatalogKind::models>},
    {"clusters", files<CatalogKind::clusters, describe_cluster>, names<CatalogKind::clusters>},
    {"gpus", files<CatalogKind::gpus, describe_gpu>, names<CatalogKind::gpus>},
    {"cpus", list_cpus, [] { return names_of_rows(cpu_models()); }},
    {"links", files<CatalogKind::links, describe_link>, names<CatalogKind::links>},
    {"networks", list_networks, network_names},
    {"nodes", files<CatalogKind::nodes, describe_node>, names<CatalogKind::nodes>},
    {"strategies", [] { return list_rows(strategy_catalog()); },
     [] { return names_of_rows(strategy_catalog()); }},
    {"collectives", [] { return list_rows(algorithms()); }, [] { return names_of_rows(algorithms()); }},
    {"transports", files<CatalogKind::transports, describe_transport>, names<CatalogKind::transports>},
    {"scenarios", files<CatalogKind::scenarios, describe_scenario>, names<CatalogKind::scenarios>},
    {"fabrics", [] { return list_rows(fabrics()); }, [] { return names_of_rows(fabrics()); }},
    {"datasets", files<CatalogKind::datasets, describe_data_set>, names<CatalogKind::datasets>},
    {"calibrations", files<CatalogKind::calibrations, describe_calibration>,
     names<CatalogKind::calibrations>},
};

}  // namespace

// Precondition of the functions below: `what` is one of these names.
const std::vector<std::string>& listable() {
  static const std::vector<std::string> nouns = names_of_rows(kCatalogs);
  return nouns;
}

std::vector<std::string> list_names(std::string_view what) { return find_row(kCatalogs, what)->names(); }

std::vector<ListedEntry> list_entries(std::string_view what) { return find_row(kCatalogs, what)->entries(); }

}  // namespace foretrain

// Files are read whole, so that a listing never shows an entry that does not work.
#include "sim/app/listing.hpp"

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/collective/algorithms/catalog.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

namespace {

/// Reads one entry with the reader of its noun, throwing every mistake.
template <class Reader>
auto read_entry(CatalogKind kind, const std::string& name, Reader reader) {
  const SourceText source = open_named(kind, name).value();
  Diagnostics diagnostics(source);
  auto value = reader(source, diagnostics);
  diagnostics.throw_if_any();
  return value;
}

std::string describe_model(const std::string& name) {
  const Model model = read_entry(CatalogKind::models, name, read_model);
  const ExpandedModel expanded = expand(model).model;
  return fmt::format("{} parameters, {} gradients, {} forward per sample; {}", expanded.parameter_elements(),
                     to_string(expanded.gradient_bytes()),
                     to_string(Flops{expanded.forward_gemm_flops().per_sample}), model.description);
}

std::string describe_cluster(const std::string& name) {
  return read_entry(CatalogKind::clusters, name, read_cluster).description;
}

std::string describe_gpu(const std::string& name) {
  const Gpu gpu = read_entry(CatalogKind::gpus, name, read_gpu);
  return fmt::format("{} fp32, {} fp16, {} at {}", to_string(gpu.fp32), to_string(gpu.fp16),
                     to_string(gpu.memory), to_string(gpu.memory_bandwidth));
}

std::string describe_link(const std::string& name) {
  const LinkType link = read_entry(CatalogKind::links, name, read_link_type);
  return fmt::format("{} per direction, {} per hop", to_string(link.bandwidth), to_string(link.latency));
}

std::string describe_transport(const std::string& name) {
  const Transport transport = read_entry(CatalogKind::transports, name, read_transport);
  return fmt::format("{}, {} per message", find_transport_library(transport.library)->summary,
                     to_string(transport.message_overhead));
}

std::string describe_data_set(const std::string& name) {
  const DataSet set = read_entry(CatalogKind::datasets, name, read_data_set);
  return fmt::format(
      "{} samples, {} per sample on the reference core, {}", set.samples, to_string(set.decode),
      set.storage == StorageKind::none ? "in memory"
                                       : fmt::format("{} stored each", to_string(set.stored_bytes)));
}

std::string describe_calibration(const std::string& name) {
  const Calibration calibration = open_calibration(name);
  return fmt::format("{} constants, {} collectives; {}", calibration.constants.size(),
                     calibration.collectives.size(), calibration.description);
}

std::string describe_scenario(const std::string& name) {
  const Scenario scenario = read_scenario(open_named(CatalogKind::scenarios, name).value(), {});
  return fmt::format("{} on {} with {}", scenario.model.name, scenario.cluster.name, scenario.strategy);
}

std::vector<ListedEntry> list_files(CatalogKind kind, std::string (*describe)(const std::string&)) {
  std::vector<ListedEntry> entries;
  for (const std::string& name : names_in(kind)) entries.push_back({printable(name), describe(name)});
  return entries;
}

template <class Rows>
std::vector<ListedEntry> list_rows(const Rows& rows) {
  std::vector<ListedEntry> entries;
  for (const auto& row : rows) entries.push_back({std::string(row.name), std::string(row.summary)});
  return entries;
}

}  // namespace

std::vector<ListedEntry> list_entries(std::string_view what) {
  if (what == "models") return list_files(CatalogKind::models, describe_model);
  if (what == "clusters") return list_files(CatalogKind::clusters, describe_cluster);
  if (what == "gpus") return list_files(CatalogKind::gpus, describe_gpu);
  if (what == "links") return list_files(CatalogKind::links, describe_link);
  if (what == "transports") return list_files(CatalogKind::transports, describe_transport);
  if (what == "calibrations") return list_files(CatalogKind::calibrations, describe_calibration);
  if (what == "datasets") return list_files(CatalogKind::datasets, describe_data_set);
  if (what == "scenarios") return list_files(CatalogKind::scenarios, describe_scenario);
  if (what == "strategies") return list_rows(strategy_catalog());
  if (what == "collectives") return list_rows(algorithms());
  return list_rows(fabrics());
}

}  // namespace foretrain

// The table [site] of a cluster file: batch system, partitions with their limits, what an hour costs.
#include "sim/scenario/cluster_tables.hpp"
#include "sim/scenario/section_values.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kMostPartitions = 64, kMostConstraints = 64;
constexpr std::int64_t kMostOfJob = 1'000'000;
constexpr double kDearest = 1e9;

Partition read_partition(TableReader& reader) {
  Partition partition;
  reader.require("name", "name = \"gpu\"");
  keep(reader.string("name"), partition.name);
  count(reader, "most_nodes", 1, kMostOfJob, partition.most_nodes);
  count(reader, "most_gpus", 1, kMostOfJob, partition.most_gpus);
  keep(reader.time("longest"), partition.longest);
  keep(reader.boolean("for_tests"), partition.for_tests);
  keep(reader.boolean("whole_nodes"), partition.whole_nodes);
  reader.finish();
  return partition;
}

std::vector<Partition> read_partitions(TableReader& site) {
  std::vector<Partition> out;
  const Array* array = site.array("partitions", kMostPartitions);
  if (array == nullptr) return out;
  for (const Value& element : *array) {
    const Table* table = std::get_if<Table>(&element.data);
    if (table == nullptr) {
      site.report(element.span, "a partition is a table", "as in [[site.partitions]] with name = \"gpu\"");
      continue;
    }
    TableReader reader(*table, site.full_name("partitions"), site.diagnostics());
    out.push_back(read_partition(reader));
  }
  return out;
}

Billing read_billing(TableReader& site) {
  Billing billing;
  const Table* table = site.table("billing");
  if (table == nullptr) return billing;
  TableReader reader(*table, site.full_name("billing"), site.diagnostics());
  reader.require("unit", "unit = \"BU\"");
  keep(reader.string("unit"), billing.unit);
  keep(reader.number("per_gpu_hour", 0, kDearest), billing.per_gpu_hour);
  keep(reader.number("per_core_hour", 0, kDearest), billing.per_core_hour);
  keep(reader.number("per_gib_hour", 0, kDearest), billing.per_gib_hour);
  reader.finish();
  return billing;
}

}  // namespace

Site read_site(TableReader& document) {
  Site site;
  const Table* table = document.table("site");
  if (table == nullptr) return site;
  TableReader reader(*table, "site", document.diagnostics());
  reader.require("batch_system", "batch_system = \"slurm\"");
  choose<BatchSystem>(reader, "batch_system", {{"slurm", BatchSystem::slurm}, {"htcondor", BatchSystem::htcondor}}, site.system);
  keep(reader.string("gpu_type"), site.gpu_type);
  keep(reader.strings("constraints", kMostConstraints), site.constraints);
  keep(reader.string("requirements"), site.requirements);
  site.partitions = read_partitions(reader);
  site.billing = read_billing(reader);
  reader.finish();
  return site;
}

}  // namespace foretrain

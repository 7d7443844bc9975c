// Groups the records of nodes into kinds.
//
// A node stands in one line for each of its partitions and states, so nodes are counted by their names. Two
// records are of one kind when they have as many GPUs of the same type. Partitions and features of a kind are
// those of all its records.
#include "sim/import/sites/node_records.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/import/machines/host_list.hpp"
#include "sim/import/machines/pci_devices.hpp"

namespace foretrain {

namespace {

// Limits on what one table may make the program hold; more is dropped.
constexpr std::int64_t kMostRecordNodes = 100'000;
constexpr std::size_t kMostRecordPartitions = 200, kMostRecordFeatures = 60, kMostFeaturesLookedUp = 1000,
                      kMostListedPartitions = 8;

/// The records of one kind, with the names of their nodes.
struct RecordGroup {
  std::vector<const NodeRecord*> records;
  std::set<std::string> hosts;
  // Largest number of nodes in a record without names: such records may list the same nodes again.
  std::int64_t unnamed = 0;

  std::int64_t nodes() const {
    return std::min(std::max<std::int64_t>(unnamed, std::ssize(hosts)), kMostRecordNodes);
  }
};

/// Adds a record to a group.
void add_to(RecordGroup& group, const NodeRecord& record) {
  group.records.push_back(&record);
  if (record.hosts.empty()) group.unnamed = std::max(group.unnamed, record.count);
  for (const std::string& host : record.hosts) {
    if (group.hosts.size() < kMostHostNames) group.hosts.insert(host);
  }
}

/// Returns whether two records are of one kind; names of products do not depend on case.
bool is_alike(const NodeRecord& one, const NodeRecord& other) {
  return one.gpus == other.gpus && lower_case(one.gpu_type) == lower_case(other.gpu_type) &&
         lower_case(one.gpu_product) == lower_case(other.gpu_product);
}

/// Returns the kinds in the order of the text. One kind beyond the limit is kept, so that the caller can tell
/// that there are more.
std::vector<RecordGroup> groups_of(const std::vector<NodeRecord>& records) {
  std::vector<RecordGroup> groups;
  for (const NodeRecord& record : records) {
    const auto same = std::ranges::find_if(
        groups, [&](const RecordGroup& group) { return is_alike(*group.records.front(), record); });
    if (same != groups.end())
      add_to(*same, record);
    else if (groups.size() <= kMostNodeKinds)
      add_to(groups.emplace_back(), record);
  }
  return groups;
}

/// Keeps the first value that is not empty.
template <class Value>
void take_first(Value& value, const Value& other) {
  if (value == Value{}) value = other;
}

/// Returns the machine of one kind. Values that the first record lacks come from the next one that has them.
Machine machine_of_group(const RecordGroup& group, const std::string& file, BatchSystem system) {
  const NodeRecord& first = *group.records.front();
  Machine machine;
  machine.place = {file, first.line};
  machine.gpu_count = std::clamp(first.gpus, 0, 1000);
  machine.gpu_product = first.gpu_product.empty() ? first.gpu_type : first.gpu_product;
  machine.site.system = system;
  machine.site.gpu_type = first.gpu_type;
  machine.fabric.nodes = static_cast<int>(group.nodes());
  machine.hosts.assign(group.hosts.begin(), group.hosts.end());
  std::set<std::string> features;
  for (const NodeRecord* record : group.records) {
    take_first(machine.sockets, record->sockets);
    take_first(machine.cores, record->cores);
    take_first(machine.memory, record->memory);
    for (const std::string& feature : record->features) {
      if (features.size() < kMostRecordFeatures) features.insert(feature);
    }
    for (const Partition& partition : record->partitions)
      add_partition_once(machine.site.partitions, partition);
  }
  machine.site.constraints.assign(features.begin(), features.end());
  return machine;
}

/// Finds the product of GPUs without a type, as in gpu:4: a feature of the node that names one. The longest
/// such feature says most ("v100-32g").
void name_products(std::vector<NodeRecord>& records) {
  std::set<std::string> words;
  const auto is_unnamed = [](const NodeRecord& record) {
    return record.gpus > 0 && record.gpu_type.empty() && record.gpu_product.empty();
  };
  for (const NodeRecord& record : records) {
    if (is_unnamed(record) && words.size() < kMostFeaturesLookedUp)
      words.insert(record.features.begin(), record.features.end());
  }
  const std::vector<std::string> products = gpu_names_among({words.begin(), words.end()});
  for (NodeRecord& record : records) {
    if (!is_unnamed(record)) continue;
    for (const std::string& feature : record.features) {
      const bool is_product = std::ranges::find(products, feature) != products.end();
      if (is_product && feature.size() > record.gpu_product.size()) record.gpu_product = feature;
    }
  }
}

/// Returns a remark such as "492 nodes without GPUs are left out (partitions small, large)".
std::string without_gpus(const RecordGroup& group) {
  std::vector<std::string> names;
  for (const NodeRecord* record : group.records) {
    for (const Partition& partition : record->partitions) {
      if (std::ranges::find(names, partition.name) == names.end()) names.push_back(partition.name);
    }
  }
  const bool has_more = names.size() > kMostListedPartitions;
  names.resize(std::min(names.size(), kMostListedPartitions));
  std::string where;
  if (!names.empty())
    where = fmt::format(" ({} {}{})", plural(std::ssize(names), "partition"), fmt::join(names, ", "),
                        has_more ? ", …" : "");
  const std::string nodes = group.nodes() > 0 ? counted(group.nodes(), "node") : "nodes";
  return fmt::format("{} without GPUs {} left out{}", nodes, group.nodes() == 1 ? "is" : "are", where);
}

/// Returns whether anything except a number of GPUs leads a job to the nodes of a group.
bool leads_jobs(const RecordGroup& group) {
  return std::ranges::any_of(group.records, [](const NodeRecord* record) {
    return record->gpus > 0 && (!record->gpu_type.empty() || !record->gpu_product.empty() ||
                                !record->features.empty() || !record->partitions.empty());
  });
}

}  // namespace

void add_partition_once(std::vector<Partition>& partitions, const Partition& partition) {
  const bool is_known = std::ranges::find(partitions, partition.name, &Partition::name) != partitions.end();
  if (!partition.name.empty() && !is_known && partitions.size() < kMostRecordPartitions)
    partitions.push_back(partition);
}

/// Long lists are counted once enough names are known; the unsigned subtraction cannot wrap, as names_left
/// bounds the list.
void take_hosts(NodeRecord& record, std::string_view list, std::size_t& names_left) {
  if (names_left > 0)
    record.hosts = names_of_list(list, names_left);
  else
    record.count = std::max<std::int64_t>(record.count, count_of_names(list));
  names_left -= record.hosts.size();
}

/// Kinds that no request can choose between are left out: a job for GPUs would get any of them.
Machine machine_of_records(std::vector<NodeRecord> records, const std::string& file, BatchSystem system) {
  name_products(records);
  const std::vector<RecordGroup> groups = groups_of(records);
  const auto gpus = [](const RecordGroup& group) { return group.records.front()->gpus; };
  const auto most = std::ranges::max_element(groups, {}, gpus);
  Machine machine = machine_of_group(*most, file, system);
  if (gpus(*most) == 0) return machine;
  const bool is_told_apart = std::ranges::any_of(groups, leads_jobs);
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (gpus(*group) == 0)
      machine.remarks.push_back(without_gpus(*group));
    else if (group != most && !is_told_apart)
      machine.remarks.push_back(fmt::format(
          "{} with {} left out: no type, feature or partition leads a job there",
          group->nodes() > 0 ? counted(group->nodes(), "node") : "nodes", counted(gpus(*group), "GPU")));
    else if (group != most && machine.other_kinds.size() + 1 < kMostNodeKinds)
      machine.other_kinds.push_back(machine_of_group(*group, file, system));
  }
  if (groups.size() > kMostNodeKinds)
    machine.remarks.push_back(fmt::format("kinds of node beyond {} are left out", kMostNodeKinds));
  return machine;
}

}  // namespace foretrain

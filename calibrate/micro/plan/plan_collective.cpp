// Points of NCCL: every operation by size and number of GPUs; all-reduce also by algorithm and protocol;
// compute beside a collective.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "calibrate/micro/plan/nccl_environment.hpp"
#include "calibrate/micro/plan/plans.hpp"

namespace foretrain::micro {

namespace {

/// `is_split`: its bytes fall into one part for each rank.
struct CollectiveRow {
  const char* op;
  bool is_split;
  int rank;
};
constexpr CollectiveRow kOperations[] = {
    {"all_reduce", false, 0}, {"all_gather", true, 2}, {"reduce_scatter", true, 2}, {"broadcast", false, 3},
    {"alltoall", true, 3},    {"sendrecv", false, 3},  {"reduce", false, 5}};

/// Which GPUs take part: gpus of them, or those that `devices` names; and how much later that is measured.
struct Group {
  int gpus = 1, nodes = 1;
  std::string devices;
  int rank = 0;
};

std::vector<Group> groups_on(const Machine& machine) {
  if (machine.ranks > 1) return {{machine.ranks, machine.nodes, "", 0}};
  const int all = machine.gpu_count();
  std::set<int> sizes{all};
  for (int size = 2; size < all; size *= 2) sizes.insert(size);
  std::vector<Group> groups;
  for (const int size : sizes) groups.push_back({size, 1, "", size == all ? 0 : 2});
  for (int gpu = 2; gpu < all; ++gpu) groups.push_back({2, 1, fmt::format("0+{}", gpu), 4});
  return groups;
}

/// The float elements are a multiple of the ranks where each gets a part; 0: the message is too small for
/// that.
std::int64_t whole_bytes(const CollectiveRow& row, std::int64_t bytes, int gpus) {
  const std::int64_t unit = 4 * (row.is_split ? gpus : 1);
  return bytes / unit * unit;
}

Point collective_point(const CollectiveRow& row, const Group& group, Rung rung, const Settings& environment) {
  Point point;
  point.sample.kind = SampleKind::collective;
  point.sample.what = row.op;
  point.sample.gpus = group.gpus;
  point.sample.nodes = group.nodes;
  point.sample.bytes = whole_bytes(row, rung.size, group.gpus);
  point.sample.settings = nccl_settings(environment);
  point.sample.settings.emplace_back("type", "float");
  if (std::string_view(row.op) == "all_reduce") point.sample.settings.emplace_back("in_place", "1");
  if (!group.devices.empty()) point.sample.settings.emplace_back("devices", group.devices);
  point.environment = environment;
  point.rank = row.rank + group.rank + rung.rank;
  return point;
}

void plan_operations(const Group& group, const Settings& environment, std::vector<Point>& points) {
  for (const CollectiveRow& row : kOperations) {
    const bool is_pair = !group.devices.empty();
    if (is_pair && std::string_view(row.op) != "all_reduce" && std::string_view(row.op) != "sendrecv")
      continue;
    for (const Rung rung : is_pair ? ladder(32, 128 * kMi, 1 << 11) : ladder(8, 512 * kMi, 4)) {
      if (whole_bytes(row, rung.size, group.gpus) > 0)
        points.push_back(collective_point(row, group, rung, environment));
    }
  }
}

/// All-reduce with NCCL held to one algorithm and protocol, of all GPUs.
void plan_forced(const Machine& machine, const Group& group, std::vector<Point>& points) {
  const bool has_switch_sums = machine.gpus.front().major >= 9 && machine.gpu_count() > 2;
  for (const char* algorithm : {"Ring", "Tree", "NVLS"}) {
    for (const char* protocol : {"Simple", "LL", "LL128"}) {
      const bool is_nvls = std::string_view(algorithm) == "NVLS";
      if (is_nvls && (!has_switch_sums || std::string_view(protocol) != "Simple")) continue;
      for (const Rung rung : ladder(8, 512 * kMi, 4)) {
        Point point = collective_point(kOperations[0], group, rung,
                                       {{"NCCL_ALGO", algorithm}, {"NCCL_PROTO", protocol}});
        point.rank += 3;
        points.push_back(std::move(point));
      }
    }
  }
}

Point tax_point(const char* what, const Settings& environment, int gpus, int rank) {
  Point point;
  point.sample.kind = SampleKind::tax;
  point.sample.what = what;
  point.sample.bytes = kTaxedMessage;
  point.sample.gpus = gpus;
  point.sample.unit = SampleUnit::share;
  point.sample.settings = {{"op", "all_reduce"}};
  for (const auto& [key, value] : nccl_settings(environment)) {
    if (key != "nccl.min_channels")
      point.sample.settings.emplace_back(key == "nccl.max_channels" ? "channels" : key, value);
  }
  point.environment = environment;
  point.rank = rank;
  return point;
}

bool is_bound_to_environment(const Machine& machine) {
  return !machine.may_spawn || !machine.environment.empty() || machine.ranks > 1;
}

}  // namespace

std::vector<Point> plan_collective(const Machine& machine) {
  std::vector<Point> points;
  for (const Group& group : groups_on(machine)) {
    plan_operations(group, machine.environment, points);
    const bool is_whole = group.gpus == machine.gpu_count() && group.devices.empty();
    if (is_whole && group.gpus > 1 && !is_bound_to_environment(machine)) plan_forced(machine, group, points);
  }
  sort_by_rank(points);
  return points;
}

std::vector<Point> plan_tax(const Machine& machine) {
  std::vector<Settings> environments{machine.environment};
  if (!is_bound_to_environment(machine)) {
    for (const char* channels : {"2", "8", "4", "16"})
      environments.push_back({{"NCCL_MAX_NCHANNELS", channels}, {"NCCL_MIN_NCHANNELS", channels}});
  }
  std::vector<Point> points;
  for (std::size_t i = 0; i < environments.size(); ++i) {
    const int rank = static_cast<int>(i);
    for (const char* precision : {"fp32", "fp16"}) {
      points.push_back(tax_point("gemm", environments[i], machine.gpu_count(), rank));
      points.back().sample.settings.emplace_back("precision", precision);
    }
    points.push_back(tax_point("memory", environments[i], machine.gpu_count(), rank));
  }
  return points;
}

}  // namespace foretrain::micro

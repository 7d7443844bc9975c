// Laws of the input pipeline over every data set and loader: more of a resource is never slower, and nothing
// is free.
#include <algorithm>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/device/input_time.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"
#include "tests/support/test_models.hpp"

namespace input_laws {

using namespace foretrain;

namespace {

Workload workload_of(const std::string& name, LoaderKind loader) {
  const SourceText source = open_named(CatalogKind::datasets, name).value();
  Diagnostics diagnostics(source);
  Workload workload;
  workload.model = std::make_shared<const ExpandedModel>(expand(test::mnist_net()).model);
  workload.data = read_data_set(source, diagnostics);
  workload.data.loader = loader;
  workload.batch_per_gpu = 64;
  return workload;
}

/// The slowest part of a rank that shares its node with three others.
double interval_s(const Workload& workload, const NodeSpec& node) {
  const InputCosts costs = input_costs(workload, {node, usual_storage(workload.data.storage), 4, 8});
  return to_seconds(std::max(
      {costs.workers, costs.storage, costs.memory, costs.pinning, on_cores(costs.worker_cpu, costs.cores)}));
}

template <class Check>
void for_each_pipeline(Check check) {
  for (const std::string& name : names_in(CatalogKind::datasets)) {
    for (const LoaderKind loader :
         {LoaderKind::torch, LoaderKind::tf_data, LoaderKind::dali_cpu, LoaderKind::dali_gpu}) {
      INFO(name << " with " << name_of(loader));
      check(workload_of(name, loader));
    }
  }
}

NodeSpec node() { return test::pcie_cluster(1, 4).node; }

}  // namespace

TEST_CASE("more workers and more cores never make batches rarer") {
  for_each_pipeline([](Workload workload) {
    double slower = 1e9;
    for (const int workers : {1, 2, 3, 4, 8, 16, 64}) {
      workload.data.workers_per_gpu = workers;
      const double now = interval_s(workload, node());
      CHECK(now <= slower);
      slower = now;
    }
    workload.data.cores_per_gpu = 1;
    CHECK(interval_s(workload, node()) >= slower);
  });
}

TEST_CASE("faster hosts, smaller files and samples that cost less never make batches rarer") {
  for_each_pipeline([](const Workload& workload) {
    const double plain = interval_s(workload, node());
    CHECK(plain > 0);
    NodeSpec faster = node();
    faster.host.slowdown = 0.5, faster.host.memory_bandwidth = {20e9};
    CHECK(interval_s(workload, faster) <= plain);
    Workload smaller = workload;
    smaller.data.stored_bytes = {std::max<std::int64_t>(1, smaller.data.stored_bytes.count / 2)},
    smaller.data.decode = Time::zero();
    CHECK(interval_s(smaller, node()) <= plain);
  });
}

TEST_CASE("slower kinds of storage are never faster, and none is the fastest") {
  for_each_pipeline([](Workload workload) {
    workload.data.storage = StorageKind::none;
    const double none = interval_s(workload, node());
    for (const StorageKind kind :
         {StorageKind::page_cache, StorageKind::nvme, StorageKind::lustre, StorageKind::nfs}) {
      workload.data.storage = kind;
      CHECK(interval_s(workload, node()) >= none);
    }
    const auto with = [&](StorageKind kind) {
      return workload.data.storage = kind, interval_s(workload, node());
    };
    CHECK(with(StorageKind::page_cache) <= with(StorageKind::nvme));
    CHECK(with(StorageKind::nvme) <= with(StorageKind::nfs));
    CHECK(with(StorageKind::lustre) <= with(StorageKind::nfs));
  });
}

TEST_CASE("twice the batch takes at most twice the time, and more than once") {
  for_each_pipeline([](Workload workload) {
    workload.data.decode_spread = 0;
    const double one = to_seconds(input_costs(workload, {node()}).worker_cpu);
    workload.batch_per_gpu *= 2;
    const double two = to_seconds(input_costs(workload, {node()}).worker_cpu);
    CHECK(two > one);
    if (batch_bytes(workload).count < (32 << 20)) CHECK(two <= 2 * one * 1.000001);
  });
}

}  // namespace input_laws

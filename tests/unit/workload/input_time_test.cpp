// What one batch costs storage, workers, pin-memory thread and main thread, against the sums by hand.
#include "sim/workload/device/input_time.hpp"

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"
#include "tests/support/test_models.hpp"

namespace input_time_test {

using namespace foretrain;

namespace {

/// Ten samples of 784 floats and a label, one worker.
Workload mnist() {
  Workload workload;
  workload.model = std::make_shared<const ExpandedModel>(expand(test::mnist_net()).model);
  workload.batch_per_gpu = 10;
  workload.data.workers_per_gpu = 1;
  return workload;
}

NodeSpec node() { return test::pcie_cluster(1, 4).node; }  // 40 cores, 4 GPUs, memcpy at 10 GB/s, slowdown 1

constexpr double kBatch = 10 * (784 * 4 + 8), kCopy = kBatch / 10e9;
constexpr double kHandOver = 790e-6, kFetch = 10 * 3.4e-6;  // per batch of a worker; of ten samples

double one_batch(const Workload& workload, const NodeSpec& at) {
  return to_seconds(input_costs(workload, {at}).one_batch);
}

}  // namespace

TEST_CASE(
    "a sample is the network's input in floats and an eight-byte label, unless the data set says otherwise") {
  Workload workload = mnist();
  CHECK(batch_bytes(workload).count == 10 * (784 * 4 + 8));
  workload.data.sample_bytes = {1000};
  CHECK(batch_bytes(workload).count == 10'000);
}

TEST_CASE("a worker decodes, collates and hands over, and workers divide the interval") {
  Workload workload = mnist();
  workload.data.decode = milliseconds(2);
  workload.data.workers_per_gpu = 5;
  const InputCosts costs = input_costs(workload, {node()});
  CHECK(to_seconds(costs.one_batch) == Approx(10 * 2e-3 + kFetch + kHandOver + kCopy));
  CHECK(to_seconds(costs.workers) == Approx((10 * 2e-3 + kFetch + kHandOver + kCopy) / 5));
  CHECK(costs.worker_cpu == costs.one_batch);  // nothing is read from storage
}

TEST_CASE("a slow CPU decodes and hands over more slowly, but copies at its own rate") {
  Workload workload = mnist();
  workload.data.decode = milliseconds(2);
  NodeSpec slow = node();
  slow.host.slowdown = 3;
  CHECK(one_batch(workload, slow) == Approx(3 * (10 * 2e-3 + kFetch + kHandOver) + kCopy));
}

TEST_CASE("batches of 32 MiB and more are collated into fresh pages") {
  Workload workload = mnist();
  workload.data.sample_bytes = {4 << 20};
  CHECK(one_batch(workload, node()) == Approx(kFetch + kHandOver + (40 << 20) / 2.3e9));
  workload.data.sample_bytes = {3 << 20};
  CHECK(one_batch(workload, node()) == Approx(kFetch + kHandOver + (30 << 20) / 10e9));
}

TEST_CASE("a reader waits for every file and for its bytes, and shares the storage with others") {
  Workload workload = mnist();
  workload.data.stored_bytes = {100'000};
  const StorageSpec disk{StorageKind::nvme, {4e9}, {2e9}, {1e9}, milliseconds(1)};
  const InputCosts alone = input_costs(workload, {node(), disk, 1, 1});
  // 10 x 1 ms and 1 MB at 1 GB/s waiting; the kernel copies 1 MB out of its pages.
  CHECK(to_seconds(alone.one_batch) == Approx(kFetch + kHandOver + kCopy + 10e-3 + 1e6 / 1e9 + 1e6 / 10e9));
  CHECK(to_seconds(alone.one_batch - alone.worker_cpu) == Approx(10e-3 + 1e6 / 1e9));
  CHECK(to_seconds(alone.storage) == Approx(1e6 / 2e9));
  CHECK(to_seconds(input_costs(workload, {node(), disk, 4, 4}).storage) == Approx(4 * 1e6 / 2e9));
  CHECK(to_seconds(input_costs(workload, {node(), disk, 4, 64}).storage) == Approx(64 * 1e6 / 4e9));
}

TEST_CASE("the pin-memory thread maps, faults in, copies and unmaps a batch") {
  Workload workload = mnist();
  CHECK(to_seconds(input_costs(workload, {node()}).pinning) == Approx(50e-6 + kCopy + 0.35e-9 * kBatch));
  CHECK(to_seconds(input_costs(workload, {node()}).taking) == Approx(320e-6));
  workload.data.pinned = false;
  CHECK(input_costs(workload, {node()}).pinning == Time::zero());
  CHECK(to_seconds(input_costs(workload, {node()}).taking) == Approx(320e-6 + 0.15e-9 * kBatch));
}

TEST_CASE("without workers nothing is handed over") {
  Workload workload = mnist();
  workload.data.decode = milliseconds(2);
  workload.data.workers_per_gpu = 0;
  CHECK(one_batch(workload, node()) == Approx(10 * 2e-3 + kFetch + kCopy));
  CHECK(to_seconds(input_costs(workload, {node()}).pinning) == Approx(50e-6 + kCopy));
}

TEST_CASE("a rank has its share of the node's cores, at least one, or what the job was given") {
  DataSet data;
  NodeSpec few = node();
  CHECK(cores_of_rank(data, few) == 10);  // 40 cores / 4 GPUs
  few.host.cores = 3;
  CHECK(cores_of_rank(data, few) == 1);
  data.cores_per_gpu = 7;
  CHECK(cores_of_rank(data, few) == 7);
  few.gpus = 0;
  CHECK(cores_of_rank({}, few) == 3);
}

TEST_CASE("CPU time over cores, of which there may be less than one") {
  CHECK(on_cores(milliseconds(8), 4) == milliseconds(2));
  CHECK(to_seconds(on_cores(milliseconds(8), 0.25)) == Approx(0.032));
  CHECK(to_seconds(on_cores(milliseconds(3), 1.5)) == Approx(0.002));
}

TEST_CASE(
    "workers and cores of a GPU are multiplied in a process that drives several, those of a process not") {
  DataSet data;
  data.workers_per_gpu = 3, data.cores_per_gpu = 4;
  CHECK(data_of_process(data, node(), 4).workers_per_gpu == 12);
  CHECK(data_of_process(data, node(), 4).cores_per_gpu == 16);
  data.per_process = true;
  CHECK(data_of_process(data, node(), 4).workers_per_gpu == 3);
  CHECK(data_of_process(data, node(), 4).cores_per_gpu == 4);
}

TEST_CASE("uneven samples delay in-order delivery, less with more prefetching") {
  Workload workload = mnist();
  workload.data.decode = milliseconds(2);
  workload.data.workers_per_gpu = 4;
  const double even = to_seconds(input_costs(workload, {node()}).workers);
  workload.data.decode_spread = 0.5;
  workload.data.prefetch = 1;
  const double uneven = to_seconds(input_costs(workload, {node()}).workers);
  // The slowest of four batches of ten: Blom's 1.049 standard deviations, each 0.5 / sqrt(10) of the mean.
  CHECK(uneven == Approx(even * (1 + 1.0492 * 0.5 / std::sqrt(10.0))).epsilon(1e-3));
  workload.data.prefetch = 2;
  CHECK(to_seconds(input_costs(workload, {node()}).workers) == Approx((even + uneven) / 2));
}

TEST_CASE("DALI needs less CPU time, and on the GPU only the files are copied") {
  Workload workload = mnist();
  workload.data.decode = milliseconds(2), workload.data.stored_bytes = {1000};
  workload.data.loader = LoaderKind::dali_cpu;
  CHECK(one_batch(workload, node()) == Approx(10 * 2e-3 / 1.75 + 30e-6 + kCopy));
  CHECK(input_costs(workload, {node()}).copied.count == 31'440);
  workload.data.loader = LoaderKind::dali_gpu;
  CHECK(one_batch(workload, node()) == Approx(10 * 2e-3 / 3 + 30e-6));
  CHECK(input_costs(workload, {node()}).copied.count == 10'000);
  CHECK(input_costs(workload, {node()}).gpu_traffic.count == 3'300'000);
  CHECK(input_costs(workload, {node()}).pinning == Time::zero());
}

TEST_CASE("a line profiler slows Python workers, not threads") {
  Workload workload = mnist();
  const double plain = one_batch(workload, node());
  workload.loop.profiler = LoopProfiler::line;
  CHECK(one_batch(workload, node()) == Approx(plain + 10 * 9e-6));
  workload.data.loader = LoaderKind::tf_data;
  CHECK(one_batch(workload, node()) == Approx(30e-6 + kCopy));
}

TEST_CASE("a set that fits into host memory is read from the page cache after the first epoch") {
  ClusterSpec spec = test::star_cluster(1, {12e9});
  spec.node.host.memory = {100'000'000};
  Workload workload = mnist();
  workload.data.storage = StorageKind::lustre, workload.data.stored_bytes = {1000};
  workload.data.samples = 80'000;
  CHECK(steady_storage(workload, spec).kind == StorageKind::page_cache);
  workload.data.samples = 80'001;
  CHECK(steady_storage(workload, spec).kind == StorageKind::lustre);
  workload.data.cached = true;
  CHECK(steady_storage(workload, spec).kind == StorageKind::page_cache);
  workload.data.samples = 10, workload.data.cached = false;
  CHECK(steady_storage(workload, spec).kind == StorageKind::lustre);
  CHECK(first_storage(workload.data, spec).kind == StorageKind::lustre);
}

TEST_CASE("what a cluster says of its storage takes the place of the usual figures") {
  ClusterSpec spec = test::star_cluster(1, {12e9});
  DataSet data;
  data.storage = StorageKind::lustre;
  CHECK(first_storage(data, spec).job.per_second == usual_storage(StorageKind::lustre).job.per_second);
  spec.storage = {{StorageKind::lustre, {50e9}, {}, {}, Time::zero()}};
  CHECK(first_storage(data, spec).job.per_second == 50e9);
}

TEST_CASE("worker processes start at every epoch unless they persist, threads once") {
  DataSet data;
  data.workers_per_gpu = 3;
  Host slow = node().host;
  slow.slowdown = 2;
  CHECK(to_seconds(worker_start(data, slow)) == Approx(3 * 15e-3 * 2));
  data.persistent_workers = true;
  CHECK(worker_start(data, slow) == Time::zero());
  data.persistent_workers = false, data.loader = LoaderKind::tf_data;
  CHECK(worker_start(data, slow) == Time::zero());
}

TEST_CASE("without a loader a batch costs nothing") {
  Workload workload = mnist();
  workload.data.loader = LoaderKind::none, workload.data.decode = milliseconds(2);
  const InputCosts costs = input_costs(workload, {node()});
  CHECK(costs.one_batch == Time::zero());
  CHECK(costs.copied.count == 0);
}

TEST_CASE("a batch that takes longer than the clock holds is refused, however many workers divide it") {
  Workload workload = mnist();
  workload.data.decode = seconds(950'400);  // 11 days, ten times
  workload.data.workers_per_gpu = 200;
  CHECK_THROWS_AS(input_costs(workload, {node()}), InputError);
  workload.data.decode = seconds(95'000);
  CHECK(to_seconds(input_costs(workload, {node()}).workers) == Approx(10 * 95'000 / 200.0));
}

TEST_CASE("a batch of more bytes than 64 bits hold for all GPUs is refused") {
  Workload workload = mnist();
  workload.data.sample_bytes = {100'000'000'000'000};  // 10 samples are 1 PB
  CHECK_NOTHROW(input_costs(workload, {node()}));
  InputSite site{node()};
  site.ranks = 1001;
  CHECK_THROWS_AS(input_costs(workload, site), InputError);
  workload.data.sample_bytes = {1'000'000'000'000'000'000};
  CHECK_THROWS_AS(input_costs(workload, {node()}), InputError);
}

}  // namespace input_time_test

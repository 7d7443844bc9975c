// Predictions of copies and network samples. Copies follow the cluster's routes; several at once share links.
#include <algorithm>
#include <map>

#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/routing.hpp"
#include "sim/workload/device/device_constants.hpp"
#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {

namespace {

/// Predicts copies on the first node of a cluster.
class CopyTimes {
 public:
  explicit CopyTimes(const Cluster& cluster) : cluster_(cluster) {}

  SampleAnswer predict(const Sample& sample) const {
    if (sample.kind == SampleKind::network) return network(sample);
    if (setting_of(sample, "test") == "host_device_latency_sm")
      return nothing("the latency of a load, not of a copy");
    if (setting_of(sample, "test") == "device_local_copy")
      return nothing("whether it counts reads and writes is not known");
    if (setting_of(sample, "memory") == "pageable") return nothing("pageable memory is copied by the driver");
    if (sample.what == "d2d") return on_device(sample);
    SampleAnswer refused;
    const std::vector<Route> routes = routes_of(sample, refused.why);
    return routes.empty() ? refused : of_routes(sample, routes);
  }

 private:
  static SampleAnswer nothing(std::string why) { return SampleAnswer::nothing(std::move(why)); }

  bool is_gpu(std::int64_t index) const { return index >= 0 && index < cluster_.spec().node.gpus; }
  VertexId gpu(std::int64_t index) const { return cluster_.gpu(0, static_cast<int>(index)); }

  /// Returns the routes of all copies of a sample; empty with the reason in `why`.
  std::vector<Route> routes_of(const Sample& sample, std::string& why) const {
    const std::int64_t together = number_of(sample, "together", 1);
    std::vector<Route> routes;
    const auto fail = [&](const std::string& reason) {
      why = reason;
      return std::vector<Route>{};
    };
    if (sample.what == "p2p") {
      const std::int64_t from = number_of(sample, "src", 0), to = number_of(sample, "dst", 1);
      if (!is_gpu(from) || !is_gpu(to) || from == to || together != 1)
        return fail("the cluster's node has no such pair of GPUs");
      Route route = cluster_.route(gpu(from), gpu(to));
      // The driver stages the copy without peer access, which only a staged route describes.
      if (setting_of(sample, "peer") == "0" && !route.staged) return fail("peer access was off");
      routes.push_back(std::move(route));
      return routes;
    }
    if (sample.what != "h2d" && sample.what != "d2h")
      return fail("no link of the model is about " + sample.what);
    if (together < 1) return fail("no copies together are no copy");
    const std::int64_t own = number_of(sample, sample.what == "h2d" ? "dst" : "src", 0);
    for (std::int64_t i = 0; i < together; ++i) {
      const std::int64_t index = together > 1 ? i : own;
      if (!is_gpu(index)) return fail("the cluster's node has no such GPU");
      // A copy starts in the memory next to the GPU's own socket.
      const VertexId host = cluster_.cpu_of_gpu(0, static_cast<int>(index));
      routes.push_back(sample.what == "h2d" ? cluster_.route(host, gpu(index))
                                            : cluster_.route(gpu(index), host));
    }
    return routes;
  }

  /// Returns the rate of all copies together: each has its share of the fullest link on its route.
  double bytes_per_s(const std::vector<Route>& routes) const {
    std::map<LinkId, int> load;
    for (const Route& route : routes) {
      for (const LinkId link : route.links) ++load[link];
    }
    double sum = 0;
    for (const Route& route : routes) {
      double rate = route.bandwidth.per_second;
      for (const LinkId link : route.links)
        rate = std::min(rate, cluster_.links()[link].bandwidth.per_second / load[link]);
      sum += rate;
    }
    return sum;
  }

  /// Returns the time or the rate of copies between devices.
  SampleAnswer of_routes(const Sample& sample, const std::vector<Route>& routes) const {
    const double ways = number_of(sample, "both_ways", 0) == 1 ? 2 : 1;
    const double share = sample.what == "p2p" ? peer_copy_share(cluster_, routes.front()) : 1;
    const double rate = bytes_per_s(routes) * share, latency = to_seconds(routes.front().latency);
    const auto bytes = static_cast<double>(sample.bytes) * static_cast<double>(routes.size());
    if (sample.unit == SampleUnit::us) return {(latency + bytes / rate) * 1e6};
    if (sample.unit != SampleUnit::gigabytes_per_s) return nothing("a copy is in us or GBps");
    return {(bytes > 0 ? bytes / (latency + bytes / rate) : rate) * ways / 1e9};
  }

  /// Returns a copy inside a GPU: in GBps the bytes read and written, as bandwidthTest counts them; in us the
  /// kernel that moves them.
  SampleAnswer on_device(const Sample& sample) const {
    const Gpu& own = cluster_.spec().node.gpu;
    if (sample.unit == SampleUnit::us && sample.bytes > 0)
      return {
          to_seconds(memory_kernel_time({2 * sample.bytes}, own, kernel_calibration_of(cluster_.spec()))) *
          1e6};
    if (sample.unit != SampleUnit::gigabytes_per_s)
      return nothing("a copy inside a GPU is in GBps, or in us with its bytes");
    // Copies below eight times the cache do not show the memory's bandwidth.
    if (sample.bytes > 0 && sample.bytes < 8 * own.l2_cache.count)
      return nothing("small copies stay in the cache");
    return {own.memory_bandwidth.per_second * own.memory_efficiency / 1e9};
  }

  /// Predicts messages between two nodes behind one switch.
  SampleAnswer network(const Sample& sample) const {
    const FabricSpec& fabric = cluster_.spec().fabric;
    if (fabric.link.bandwidth.per_second <= 0) return nothing("the cluster has no network");
    const double latency = to_seconds(2 * fabric.link.latency + fabric.switch_latency);
    const double ways = number_of(sample, "both_ways", 0) == 1 ? 2 : 1;
    if (sample.what == "latency") {
      if (sample.unit != SampleUnit::us) return nothing("a latency is in us");
      return {(latency + static_cast<double>(sample.bytes) / fabric.link.bandwidth.per_second) * 1e6};
    }
    if (sample.unit != SampleUnit::gigabytes_per_s) return nothing("a bandwidth is in GBps");
    // Smallest message whose rate is the link's, not the library's.
    constexpr std::int64_t kBandwidthBound = 1 << 20;
    if (sample.bytes > 0 && sample.bytes < kBandwidthBound)
      return nothing("the rate of small messages is the library's");
    return {ways * fabric.link.bandwidth.per_second / 1e9};
  }

  const Cluster& cluster_;
};

bool is_about_links(const Sample& sample) {
  return sample.kind == SampleKind::copy || sample.kind == SampleKind::network;
}

}  // namespace

/// A graph of one node is enough, because network samples need only the fabric's links.
void predict_link_samples(SampleRun& run) {
  if (std::ranges::none_of(run.samples, is_about_links)) return;
  const Cluster cluster = Cluster::build(run.cluster, 1);
  const CopyTimes times(cluster);
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    if (is_about_links(run.samples[i])) run.take(i, times.predict(run.samples[i]));
  }
}

}  // namespace foretrain

// The tables, in the order LL, LL128, Simple.
#include "sim/collective/protocol.hpp"

#include <algorithm>
#include <limits>

namespace foretrain {

namespace {

constexpr double kGigabyte = 1e9;

/// Bus bandwidth of LL in GB/s for one, two and more nodes.
struct LowLatencyRow {
  double one, two, more;
};
constexpr LowLatencyRow kVolta{39.0, 39.0, 20.4}, kAmpere{87.7, 22.5, 19.0}, kHopper{141, 45, 35}, kBlackwell{282, 90, 70};

LowLatencyRow row_of(Architecture architecture) {
  if (architecture == Architecture::blackwell) return kBlackwell;
  if (architecture == Architecture::hopper) return kHopper;
  return architecture >= Architecture::ampere ? kAmpere : kVolta;
}

/// Inside a node the GPU decides, between nodes the CPU.
double low_latency_limit(const ProtocolSetting& setting) {
  if (setting.nodes == 1) return row_of(setting.architecture).one;
  const LowLatencyRow& row = setting.amd_cpu ? kAmpere : kVolta;
  return setting.nodes == 2 ? row.two : row.more;
}

double ll128_limit_per_channel(Architecture architecture) {
  if (architecture == Architecture::blackwell) return 40;
  return architecture == Architecture::hopper ? 36.7 : 20;
}

}  // namespace

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return "LL";
    case Protocol::ll128:
      return "LL128";
    case Protocol::simple:
      return "Simple";
  }
  return {};
}

ProtocolLatency latency_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return {microseconds(6.6), microseconds(0.6), microseconds(1.0), microseconds(2.7)};
    case Protocol::ll128:
      return {microseconds(14), microseconds(1.9), microseconds(2.5), microseconds(4.0)};
    case Protocol::simple:
      return {microseconds(8.4), microseconds(3.4), microseconds(5.7), microseconds(14)};
  }
  return {};
}

double data_efficiency(Protocol protocol, const ProtocolSetting& setting) {
  switch (protocol) {
    case Protocol::ll:
      return 0.5;
    case Protocol::ll128:
      return setting.one_rank_per_node ? 0.7 : 0.92;
    case Protocol::simple:
      return 1;
  }
  return 1;
}

ByteRate bus_limit(Protocol protocol, const ProtocolSetting& setting) {
  switch (protocol) {
    case Protocol::ll:
      return {low_latency_limit(setting) * kGigabyte};
    case Protocol::ll128:
      return {setting.search_channels * ll128_limit_per_channel(setting.architecture) * kGigabyte};
    case Protocol::simple:
      break;
  }
  return {std::numeric_limits<double>::infinity()};
}

Time post_overhead(Protocol protocol, const ProtocolSetting& setting) {
  if (setting.nodes == 1) return Time::zero();
  return microseconds(setting.amd_cpu ? 2 : 1) * (protocol == Protocol::simple ? 3 : 1);
}

}  // namespace foretrain

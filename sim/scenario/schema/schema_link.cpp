// The link file: one kind of link. Bandwidths are per direction.
// kind = "nvlink"
// bandwidth = "25 GBps"
// latency = "1.3 us"
#include "sim/cluster/cluster.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/cluster_keys.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Largest number of TCP connections of a channel.
constexpr int kMostFlows = 1024;

/// A size that may be zero.
Takes<LinkType> takes_size(Bytes LinkType::*member) {
  return {"size", [member](TableReader& table, std::string_view key, LinkType& link) {
            takes::put(table.bytes(key), link.*member);
          }};
}

/// Keys of NCCL's network plug-in for the link: its costs for messages and the settings that it makes.
Keys<LinkType> plugin_keys() {
  return {
      // Costs of a rank's proxy for each message.
      {"message_gap", takes::latency<&LinkType::message_gap>(), "\"6.6 us\"", "0 us",
       "what the proxy of a rank needs for each message, one after the other"},
      {"crowded_message_gap", takes::latency<&LinkType::crowded_message_gap>(), "\"6.6 us\"", "message_gap",
       "the same in jobs of more than crowded_nodes nodes"},
      {"crowded_nodes", takes::integer<&LinkType::crowded_nodes>(1, kMostNodes), "64", "none",
       "up to so many nodes message_gap holds, beyond them crowded_message_gap"},
      // TCP connections of a channel.
      {"flows", takes::integer<&LinkType::flows>(1, kMostFlows), "1", "as many as it takes",
       "TCP connections of a channel (NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD); one before NCCL 2.4.8"},
      {"flow_threads", takes::integer<&LinkType::flow_threads>(1, kMostFlows), "2", "none",
       "threads that serve the connections of a channel (NCCL_SOCKET_NTHREADS); none: the proxy of a rank "
       "serves all of them"},
      {"flow_bandwidth", takes::link_rate<&LinkType::flow_bandwidth>(), "\"1.25 GBps\"", "the wire's",
       "most of one TCP connection"},
      // Settings that the plug-in makes or reports to NCCL.
      {"nccl_latency", takes::latency<&LinkType::nccl_latency>(), "\"75 us\"", "0 us",
       "what the network plug-in tells NCCL of its latency; NCCL's choices follow it"},
      {"nccl_buffer", takes_size(&LinkType::nccl_buffer), "\"8 MiB\"", "NCCL's",
       "NCCL_BUFFSIZE as the plug-in sets it; nccl.buffer comes before it"},
      {"simple_only", takes::flag<&LinkType::simple_only>(), "true", "false",
       "the plug-in sets NCCL_PROTO=simple; nccl.protocol comes before it"},
      {"ring_only", takes::flag<&LinkType::ring_only>(), "true", "false",
       "the plug-in sets NCCL_ALGO=ring; nccl.algorithm comes before it"},
      // Copies into GPU memory by the CPU, and the handshake of long messages.
      {"copy_limit", takes_size(&LinkType::copy_limit), "\"4 KiB\"", "0 B",
       "messages beyond it, up to eager_limit, are copied into the GPU by the receiver's CPU; 0 B: none is"},
      {"copy_latency", takes::latency<&LinkType::copy_latency>(), "\"4 us\"", "0 us", "of such a copy"},
      {"copy_rate", takes::link_rate<&LinkType::copy_rate>(), "\"1 GBps\"", "no limit",
       "of the bytes of such a copy"},
      {"rendezvous_gap", takes::latency<&LinkType::rendezvous_gap>(), "\"4 us\"", "0 us",
       "what a rank's proxy needs for each message beyond eager_limit, if more than message_gap"},
  };
}

/// Keys of the link itself.
Keys<LinkType> rate_and_latency_keys() {
  using enum LinkKind;
  return {
      {"kind",
       takes::choice<&LinkType::kind>(std::vector<Choice<LinkKind>>{
           {"pcie", pcie}, {"nvlink", nvlink}, {"socket", socket}, {"network", network}}),
       "\"nvlink\"", kRequired, "network: between nodes; the others inside one"},
      // Rates.
      {"bandwidth", takes::link_rate<&LinkType::bandwidth>(), "\"25 GBps\"", kRequired,
       "what a plain copy reaches, per direction"},
      {"line_rate", takes::link_rate<&LinkType::line_rate>(), "\"25 GBps\"", "unknown",
       "what the wire carries; nothing measured may be above it"},
      {"nccl_bandwidth", takes::link_rate<&LinkType::nccl_bandwidth>(), "\"20 GBps\"",
       "NVLink: by the GPU; others: bandwidth", "what the search of NCCL books for it (src/graph/topo.h)"},
      {"collective_efficiency", takes::number<&LinkType::collective_efficiency>(0.01, 1), "0.9", "1",
       "what NCCL's Simple protocol reaches of the bandwidth"},
      // Latencies, and the message sizes up to which they hold.
      {"latency", takes::latency<&LinkType::latency>(), "\"1.3 us\"", "0 us", "one hop of a small message"},
      {"collective_latency", takes::latency<&LinkType::collective_latency>(), "\"12 us\"", "unknown",
       "one step of a collective between two nodes, small message: proxies, adapters and wire"},
      {"rendezvous_latency", takes::latency<&LinkType::rendezvous_latency>(), "\"4 us\"", "0 us",
       "more of it for messages beyond eager_limit"},
      {"eager_limit", takes_size(&LinkType::eager_limit), "\"8 KiB\"", "0 B",
       "the largest message that needs no handshake"},
      {"inject_latency", takes::latency<&LinkType::inject_latency>(), "\"12.7 us\"", "0 us",
       "more of each send up to inject_limit: the CPU reads it from the GPU's memory into the command"},
      {"inject_limit", takes_size(&LinkType::inject_limit), "\"128 B\"", "0 B",
       "the largest send that travels within its command"}};
}

}  // namespace

/// Keys of the wire come first, those of NCCL's plug-in second.
const Keys<LinkType>& link_keys() {
  static const Keys<LinkType> keys = rate_and_latency_keys() + plugin_keys();
  return keys;
}

/// The name of a link is that of its file.
LinkType read_link_type(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  TableReader reader(table, "", diagnostics);
  LinkType link;
  link.name = name_of_file(source.name);
  read_keys(reader, link_keys(), link);
  reader.finish();
  return link;
}

}  // namespace foretrain

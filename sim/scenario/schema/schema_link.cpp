// The link file: one kind of link, per direction.
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/cluster_keys.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

const Keys<LinkType>& link_keys() {
  using enum LinkKind;
  static const Keys<LinkType> keys{
      {"kind",
       takes::choice<&LinkType::kind>(std::vector<Choice<LinkKind>>{
           {"pcie", pcie}, {"nvlink", nvlink}, {"socket", socket}, {"network", network}}),
       "\"nvlink\"", kRequired, "network: between nodes; the others inside one"},
      {"bandwidth", takes::link_rate<&LinkType::bandwidth>(), "\"25 GBps\"", kRequired,
       "what a plain copy reaches, per direction"},
      {"line_rate", takes::link_rate<&LinkType::line_rate>(), "\"25 GBps\"", "unknown",
       "what the wire carries; nothing measured may be above it"},
      {"nccl_bandwidth", takes::link_rate<&LinkType::nccl_bandwidth>(), "\"20 GBps\"",
       "NVLink: by the GPU; others: bandwidth", "what the search of NCCL books for it (src/graph/topo.h)"},
      {"collective_efficiency", takes::number<&LinkType::collective_efficiency>(0.01, 1), "0.9", "1",
       "what NCCL's Simple protocol reaches of the bandwidth"},
      {"latency", takes::latency<&LinkType::latency>(), "\"1.3 us\"", "0 us", "one hop of a small message"},
      {"collective_latency", takes::latency<&LinkType::collective_latency>(), "\"12 us\"", "unknown",
       "one step of a collective between two nodes, small message: proxies, adapters and wire"},
      {"rendezvous_latency", takes::latency<&LinkType::rendezvous_latency>(), "\"4 us\"", "0 us",
       "more of it for messages beyond eager_limit"},
      {"eager_limit",
       {"size", [](TableReader& table, std::string_view key,
                   LinkType& link) { takes::put(table.bytes(key), link.eager_limit); }},
       "\"8 KiB\"",
       "0 B",
       "the largest message that needs no handshake"},
      {"inject_latency", takes::latency<&LinkType::inject_latency>(), "\"12.7 us\"", "0 us",
       "more of each send up to inject_limit: the CPU reads it from the GPU's memory into the command"},
      {"inject_limit",
       {"size", [](TableReader& table, std::string_view key,
                   LinkType& link) { takes::put(table.bytes(key), link.inject_limit); }},
       "\"128 B\"",
       "0 B",
       "the largest send that travels within its command"}};
  return keys;
}

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

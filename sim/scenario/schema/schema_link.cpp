// The link file: one kind of link, per direction.
#include <algorithm>
#include <array>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

struct LinkRateKey {
  std::string_view name;
  ByteRate LinkType::*member;
};

struct TimeKey {
  std::string_view name;
  Time LinkType::*member;
};

/// Optional keys; a key that is missing leaves the default of LinkType.
constexpr std::array kLinkRates{LinkRateKey{"line_rate", &LinkType::line_rate},
                                LinkRateKey{"nccl_bandwidth", &LinkType::nccl_bandwidth}};
constexpr std::array kLinkTimes{TimeKey{"latency", &LinkType::latency},
                                TimeKey{"collective_latency", &LinkType::collective_latency},
                                TimeKey{"rendezvous_latency", &LinkType::rendezvous_latency}};

void read_rates(TableReader& reader, LinkType& link) {
  for (const LinkRateKey& key : kLinkRates) {
    const auto rate = reader.byte_rate(key.name);
    if (rate && rate->per_second < 1)
      reader.report(reader.span_of(key.name),
                    reader.full_name(key.name) + " must be at least one byte per second");
    link.*key.member = rate.value_or(link.*key.member);
  }
}

void read_times(TableReader& reader, LinkType& link) {
  for (const TimeKey& key : kLinkTimes)
    link.*key.member = reader.time(key.name, kLatencyRange).value_or(link.*key.member);
}

}  // namespace

LinkType read_link_type(const SourceText& source, Diagnostics& diagnostics) {
  static const std::vector<std::string> kinds{"pcie", "nvlink", "socket", "network"};
  const Table table = parse_toml(source, diagnostics);
  TableReader reader(table, "", diagnostics);
  LinkType link;
  link.name = name_of_file(source.name);
  reader.require("kind", "\"nvlink\"");
  reader.require("bandwidth", "\"25 GBps\"");
  const auto kind = reader.one_of("kind", kinds);
  if (kind) link.kind = static_cast<LinkKind>(std::find(kinds.begin(), kinds.end(), *kind) - kinds.begin());
  const auto bandwidth = reader.byte_rate("bandwidth");
  link.bandwidth = bandwidth.value_or(ByteRate{});
  if (bandwidth && bandwidth->per_second < 1)
    reader.report(reader.span_of("bandwidth"), "bandwidth must be at least one byte per second");
  link.collective_efficiency = reader.number("collective_efficiency", 0.01, 1).value_or(1);
  link.eager_limit = reader.bytes("eager_limit").value_or(link.eager_limit);
  read_times(reader, link);
  read_rates(reader, link);
  reader.finish();
  return link;
}

}  // namespace foretrain

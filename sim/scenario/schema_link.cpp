// The link file: one kind of link, per direction.
#include <algorithm>
#include <filesystem>

#include "sim/scenario/reader.hpp"
#include "sim/scenario/schemas.hpp"

namespace foretrain {

LinkType read_link_type(const SourceText& source, Diagnostics& diagnostics) {
  static const std::vector<std::string> kinds{"pcie", "nvlink", "socket", "network"};
  const Table table = parse_toml(source, diagnostics);
  TableReader reader(table, "", diagnostics);
  LinkType link;
  link.name = std::filesystem::path(source.name).stem().string();
  reader.require("kind", "\"nvlink\"");
  reader.require("bandwidth", "\"25 GBps\"");
  const auto kind = reader.one_of("kind", kinds);
  if (kind) link.kind = static_cast<LinkKind>(std::find(kinds.begin(), kinds.end(), *kind) - kinds.begin());
  const auto bandwidth = reader.byte_rate("bandwidth");
  link.bandwidth = bandwidth.value_or(ByteRate{});
  if (bandwidth && bandwidth->per_second < 1) reader.report(reader.span_of("bandwidth"), "bandwidth must be at least one byte per second");
  link.collective_efficiency = reader.number("collective_efficiency", 0.01, 1).value_or(1);
  link.latency = reader.time("latency").value_or(Time::zero());
  reader.finish();
  return link;
}

}  // namespace foretrain

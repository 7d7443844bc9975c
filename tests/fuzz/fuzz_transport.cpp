// Fuzz target: transport files from any bytes; one without mistakes must time every operation.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/scenario/schema/schemas.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const foretrain::SourceText source{"fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)};
  foretrain::Diagnostics diagnostics(source);
  const foretrain::Transport transport = foretrain::read_transport(source, diagnostics);
  if (!diagnostics.empty()) return format(diagnostics.found()).empty() ? (std::abort(), 0) : 0;
  for (const foretrain::CollectiveOp op : foretrain::kCollectiveOps) {
    for (const foretrain::Bytes bytes :
         {foretrain::Bytes{1}, foretrain::Bytes{1 << 20}, foretrain::Bytes{std::int64_t{1} << 60}}) {
      const foretrain::TransportPlan plan =
          foretrain::plan(transport, op, bytes, 6, foretrain::microseconds(1), {1e9});
      if (plan.choice.family && plan.alone <= foretrain::Time::zero()) std::abort();
    }
  }
  return 0;
}

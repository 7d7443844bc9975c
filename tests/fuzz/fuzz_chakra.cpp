// Fuzz target: Chakra's execution traces, from any bytes.
#include <cstdint>
#include <string>

#include "sim/import/traces/chakra_et.hpp"
#include "sim/import/traces/traced_network.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  is_chakra(bytes);
  try {
    const ExecutionTrace trace = read_chakra(bytes, "fuzz.et");
    for (const ExecutionNode& node : trace.nodes)
      test::require(node.name < trace.names.size() && node.collective <= trace.collectives.size());
    test::require(!traced_network(trace, {}).text.empty());
  } catch (const InputError& error) {
    test::require(!error.diagnostics().empty());
  }
  return 0;
}

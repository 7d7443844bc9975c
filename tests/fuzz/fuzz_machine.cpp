// Fuzz target: what tools print of machines, from any bytes; what comes out is a cluster without mistakes or
// a refusal.
#include <cstdint>
#include <string>

#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/machines/readers.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const SourceText source{"fuzz.txt", std::string(reinterpret_cast<const char*>(data), size)};
  try {
    const Machine machine = read_machine(source);
    const ImportedCluster cluster = cluster_of(joined({machine, machine}), {});
    test::require(!cluster.text.empty());
  } catch (const InputError& error) {
    test::require(*error.what() != '\0');
  }
  return 0;
}

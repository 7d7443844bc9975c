// What the targets of the readers of machines share: any bytes are a machine that becomes a cluster without
// mistakes, or a refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/machines/readers.hpp"
#include "tests/fuzz/require.hpp"

namespace foretrain::test {

/// With the reader whatever the bytes look like, so that every one of them reaches it.
inline int fuzz_machine_reader(Machine (*read)(const SourceText&, Diagnostics&), const std::uint8_t* data,
                               std::size_t size) {
  const SourceText source{"fuzz.txt", std::string(reinterpret_cast<const char*>(data), size)};
  try {
    Machine machine = read_or_throw(source, read);
    if (machine.place.file.empty()) machine.place.file = source.name;
    const ImportedCluster cluster = cluster_of(joined({machine, machine}), {});
    require(!cluster.text.empty());
  } catch (const InputError& error) {
    require(*error.what() != '\0');
  }
  return 0;
}

}  // namespace foretrain::test

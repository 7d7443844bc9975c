// Fuzz target: program files from any bytes; one without mistakes expands, and its memory is counted.
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/scenario/schema/schema_program.hpp"
#include "sim/workload/program/expand_program.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using foretrain::test::require;
  const foretrain::SourceText source{"fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)};
  foretrain::Diagnostics diagnostics(source);
  const foretrain::Program program = read_program(source, diagnostics);
  if (!diagnostics.empty()) {
    require(!format(diagnostics.found()).empty());
    return 0;
  }
  for (const foretrain::ProgramRank& rank : program.ranks) {
    const foretrain::ExpandedRank expanded = expand_rank(rank);
    for (const foretrain::ProgramEvent& event : expanded.events) {
      const bool is_operator = event.row.kind == foretrain::ProgramRow::Kind::op;
      require(!is_operator || event.row.index < expanded.operators.size());
      require(is_operator || event.row.group < program.groups.size());
    }
    for (const foretrain::Operator& op : expanded.operators)
      require(std::isfinite(op.flops.at(1)) && std::isfinite(op.bytes.at(1)));
    require(memory_of(rank).total().count >= 0);
  }
  return 0;
}

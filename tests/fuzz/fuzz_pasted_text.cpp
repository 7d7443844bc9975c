// Fuzz target: texts of many tools, from any bytes: blocks in order that hold every line once, and machines
// that become a cluster or a refusal.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/pasted/pasted_text.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const SourceText source{"fuzz.txt", std::string(reinterpret_cast<const char*>(data), size)};
  int lines = 1, last = 0;
  LogLine line;
  for (LogLines all(source.text); all.next(line);) lines = line.number;
  for (const TextBlock& block : text_blocks(source.text)) {
    test::require(block.first_line >= 1 && block.first_line <= block.last_line && block.last_line <= lines);
    test::require(block.first_line >= last);
    last = block.first_line;
    const auto ends = std::ranges::count(block.text, '\n');
    test::require(ends <= block.last_line - block.first_line + 1);
  }
  try {
    const auto pasted = read_pasted_text(source);
    if (!pasted || pasted->machines.empty()) return 0;
    test::require(!cluster_of(joined(pasted->machines), {}).text.empty());
  } catch (const InputError& error) {
    test::require(*error.what() != '\0');
  }
  return 0;
}

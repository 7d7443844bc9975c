// Fuzz target: calls in a Python text and words of a command line, from any bytes.
#include <cstdint>
#include <string>

#include "sim/import/settings/readers.hpp"
#include "sim/import/settings/trees.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const SourceText source{"fuzz.py", std::string(reinterpret_cast<const char*>(data), size)};
  test::require(read_python_calls(source, python_call_names()).entries.size() <= 68);
  test::require(read_argument_tree(source).entries.size() <= kMostSettings + 1);
  read_environment_tree(source);
  Diagnostics diagnostics(source);
  read_json_tree(source, diagnostics);
  return 0;
}

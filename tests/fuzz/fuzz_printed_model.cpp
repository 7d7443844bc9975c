// Fuzz target: printed models of PyTorch, from any bytes.
#include <cstdint>
#include <string>

#include "sim/import/models/printed_modules.hpp"
#include "sim/import/models/readers.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const SourceText source{"fuzz", std::string(reinterpret_cast<const char*>(data), size)};
  if (!is_printed_model(source.text)) return 0;
  try {
    ModelImportOptions options;
    options.image = 28;
    test::require(!import_model(source, options).text.empty());
  } catch (const InputError& error) {
    test::require(*error.what() != '\0');
  }
  return 0;
}

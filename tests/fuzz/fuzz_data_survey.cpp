// The first bytes of any file have one format, and a name that can be shown.
#include <cstddef>
#include <cstdint>

#include "sim/base/printable.hpp"
#include "sim/import/data_survey.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  using foretrain::test::require;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view format = format_of_bytes(bytes);
  require(!format.empty() && is_printable(format));
  require(format_of_bytes(bytes) == format);
  return 0;
}

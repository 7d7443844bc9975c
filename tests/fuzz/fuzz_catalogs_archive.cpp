// Fuzz target: archives of catalogs from any bytes; what is read lies inside, under a plain name.
#include <cstdint>
#include <string_view>

#include "sim/scenario/toml/packed_files.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using foretrain::test::require;
  const std::string_view archive(reinterpret_cast<const char*>(data), size);
  const auto entries = foretrain::read_tar(archive, 100);
  if (!entries) return 0;
  require(entries->size() <= 100);
  for (const auto& entry : *entries) {
    require(!entry.name.empty() && entry.name.front() != '/');
    require(entry.text.empty() || (entry.text.data() >= archive.data() &&
                                   entry.text.data() + entry.text.size() <= archive.data() + archive.size()));
  }
  return 0;
}

// What every fuzz target of a network's file does: the file becomes a model file that is read without
// mistakes, or is refused in words.
#pragma once

#include <cstdint>
#include <string>

#include "sim/import/models/model_file.hpp"
#include "tests/fuzz/require.hpp"

namespace foretrain::test {

inline int fuzz_network(const std::uint8_t* data, std::size_t size) {
  const SourceText source{"fuzz", std::string(reinterpret_cast<const char*>(data), size)};
  try {
    require(!import_model(source, {}).text.empty());
  } catch (const InputError& error) {
    require(*error.what() != '\0');
  }
  return 0;
}

}  // namespace foretrain::test

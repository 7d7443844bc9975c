// The archive of catalogs in the data of a program of one file.
#include "sim/scenario/toml/packed_files.hpp"

asm(".section .rodata\n"
    "foretrain_catalogs_begin:\n"
    ".incbin \"" FORETRAIN_CATALOGS_TAR
    "\"\n"
    "foretrain_catalogs_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
__attribute__((visibility("hidden"))) extern const char foretrain_catalogs_begin[], foretrain_catalogs_end[];
}

namespace foretrain {

std::string_view packed_catalogs() {
  return {foretrain_catalogs_begin,
          static_cast<std::size_t>(foretrain_catalogs_end - foretrain_catalogs_begin)};
}

}  // namespace foretrain

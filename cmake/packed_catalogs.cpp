// The archive of catalogs in the data of a program of one file: packed by gzip, unpacked once when the first
// catalog is opened.
#include <string>

#include "sim/import/accounting/gzip.hpp"
#include "sim/scenario/toml/packed_files.hpp"

asm(".section .rodata\n"
    "foretrain_catalogs_begin:\n"
    ".incbin \"" FORETRAIN_CATALOGS
    "\"\n"
    "foretrain_catalogs_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
__attribute__((visibility("hidden"))) extern const char foretrain_catalogs_begin[], foretrain_catalogs_end[];
}

namespace foretrain {

std::string_view packed_catalogs() {
  constexpr std::size_t kMostBytes = 64u << 20;
  static const std::string archive =
      unpacked_gzip({foretrain_catalogs_begin,
                     static_cast<std::size_t>(foretrain_catalogs_end - foretrain_catalogs_begin)},
                    kMostBytes)
          .value_or("");
  return archive;
}

}  // namespace foretrain

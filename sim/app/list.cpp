// list: what the catalogs hold, one line each.
#include <algorithm>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/listing.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

const std::vector<std::string>& listable() {
  static const std::vector<std::string> nouns{"models",     "clusters",    "gpus",        "links",
                                              "strategies", "collectives", "transports",  "scenarios",
                                              "fabrics",    "datasets",    "calibrations"};
  return nouns;
}

void run_list(const ListCommand& command) {
  const std::vector<ListedEntry> entries = list_entries(command.what);
  std::size_t width = 0;
  for (const ListedEntry& entry : entries) width = std::max(width, entry.name.size());
  std::string out;
  for (const ListedEntry& entry : entries)
    out += fmt::format("{:<{}}  {}\n", entry.name, width, entry.summary);
  write_output("", out);
}

}  // namespace foretrain

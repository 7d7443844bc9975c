// Makers' words that tell nothing of the kind of GPU are left out of both names.
#include "sim/scenario/schema/recorded_gpu.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

std::set<std::string> words_of_gpu(const std::string& name) {
  static const std::set<std::string> kMakers{"nvidia",   "tesla", "geforce", "amd",
                                             "instinct", "gpu",   "quadro"};
  std::set<std::string> words;
  std::string word;
  for (const char c : name + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      if (!kMakers.contains(word)) words.insert(word);
      word.clear();
    }
  }
  return words;
}

std::string catalog_gpu(const std::string& name) {
  const std::vector<std::string> names = names_in(CatalogKind::gpus);
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  const std::set<std::string> words = words_of_gpu(name);
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& known) { return words_of_gpu(known) == words; });
  return found == names.end() ? name : *found;
}

}  // namespace

std::optional<Gpu> find_recorded_gpu(TableReader& table, std::string_view key, const std::string& name) {
  const auto source =
      find_named(CatalogKind::gpus, catalog_gpu(name), table.span_of(key), table.diagnostics());
  if (!source) return std::nullopt;
  Diagnostics own(*source);
  Gpu gpu = read_gpu(*source, own);
  table.diagnostics().include(own.found());
  if (!own.empty()) return std::nullopt;
  return gpu;
}

}  // namespace foretrain

// Reads the part of a cluster that a key names in a catalog: GPU, link, node template.
#pragma once

#include <map>
#include <string>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// Looks a part up in its catalog and reads it. Mistakes inside its file are shown there. Each name is looked
/// up once and reported once.
template <class Part>
class PartReader {
 public:
  using Reader = Part (*)(const SourceText&, Diagnostics&);
  PartReader(CatalogKind kind, Reader reader) : kind_(kind), reader_(reader) {}

  /// Returns the part that the key names, or an empty one after a reported mistake.
  Part read(TableReader& table, std::string_view key) {
    const auto name = table.string(key);
    if (!name) return {};
    const auto known = parts_.find(*name);
    if (known != parts_.end()) return known->second;
    const auto source = find_named(kind_, *name, table.span_of(key), table.diagnostics());
    if (!source) return parts_.emplace(*name, Part{}).first->second;
    Diagnostics own(*source);
    Part part = reader_(*source, own);
    table.diagnostics().include(own.found());
    return parts_.emplace(*name, std::move(part)).first->second;
  }

 private:
  CatalogKind kind_;
  Reader reader_;
  std::map<std::string, Part> parts_;
};

}  // namespace foretrain

// A file when there is one of that name, else an entry of the scenario catalog.
#include "sim/app/named_scenario.hpp"

#include "sim/scenario/catalog.hpp"

namespace foretrain {

SourceText open_scenario(const std::string& name) {
  if (auto found = open_named(CatalogKind::scenarios, name)) return *found;
  throw InputError("unknown scenario \"" + name + "\"", unknown_name_hint(CatalogKind::scenarios, name));
}

}  // namespace foretrain

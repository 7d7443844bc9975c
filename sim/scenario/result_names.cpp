// A stack of scopes, one for each use of a block that is being expanded. Scope 0 is the file, whose names
// stay as they are.
#include "sim/scenario/result_names.hpp"

#include <fmt/format.h>

namespace foretrain {

std::optional<std::string> ResultNames::define(std::string_view name) {
  Scope& scope = scopes_.back();
  std::string unique = scope.number == 0 ? std::string(name) : fmt::format("{}#{}", name, scope.number);
  if (!scope.names.try_emplace(std::string(name), unique).second) return std::nullopt;
  return unique;
}

std::string ResultNames::define_list(std::string_view name) {
  if (auto known = find(name)) return *known;
  return *define(name);
}

std::optional<std::string> ResultNames::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return found->second;
  }
  return std::nullopt;
}

std::vector<std::string> ResultNames::visible() const {
  std::vector<std::string> names;
  for (const Scope& scope : scopes_) {
    for (const auto& [name, unique] : scope.names) names.push_back(name);
  }
  return names;
}

}  // namespace foretrain

// Reading single values of a section into members that keep their default when the key is missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

template <typename Enum>
struct Choice {
  std::string name;
  Enum value;
};

template <typename Enum>
void choose(TableReader& reader, std::string_view key, const std::vector<Choice<Enum>>& choices, Enum& out) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.name);
  const auto found = reader.one_of(key, names);
  for (const auto& choice : choices) {
    if (found && choice.name == *found) out = choice.value;
  }
}

template <typename T>
void keep(std::optional<T> found, T& out) {
  if (found) out = *std::move(found);
}

/// A size of at least one byte.
inline void positive_size(TableReader& reader, std::string_view key, Bytes& out) {
  const auto found = reader.bytes(key);
  if (!found) return;
  out = *found;
  if (found->count == 0)
    reader.report(reader.span_of(key), reader.full_name(key) + " must be at least one byte");
}

inline void count(TableReader& reader, std::string_view key, std::int64_t least, std::int64_t most,
                  int& out) {
  if (const auto found = reader.integer(key, least, most)) out = static_cast<int>(*found);
}

}  // namespace foretrain

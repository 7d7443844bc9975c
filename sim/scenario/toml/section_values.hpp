// Reads single values of a section into members that keep their default when the key is missing.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// A word that a key may have, and its value.
template <typename Enum>
struct Choice {
  std::string name;
  Enum value;
};

/// Returns choices from names in the order of the enumerators.
template <typename Enum, std::size_t N>
std::vector<Choice<Enum>> choices_of(const std::array<std::string_view, N>& names) {
  std::vector<Choice<Enum>> out;
  for (std::size_t i = 0; i < N; ++i) out.push_back({std::string(names[i]), static_cast<Enum>(i)});
  return out;
}

/// Returns choices from values with their own names.
template <typename Enum, std::size_t N>
std::vector<Choice<Enum>> named(const std::array<Enum, N>& values) {
  std::vector<Choice<Enum>> out;
  for (const Enum value : values) out.push_back({std::string(name_of(value)), value});
  return out;
}

/// Sets `out` to the choice that the key names; an unknown name is reported.
template <typename Enum, typename Out>
void choose(TableReader& reader, std::string_view key, const std::vector<Choice<Enum>>& choices, Out& out) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.name);
  const auto found = reader.one_of(key, names);
  for (const auto& choice : choices) {
    if (found && choice.name == *found) out = choice.value;
  }
}

/// Assigns a value that was found.
template <typename T>
void keep(std::optional<T> found, T& out) {
  if (found) out = *std::move(found);
}

/// Reads an integer in [least, most] into `out`.
inline void count(TableReader& reader, std::string_view key, std::int64_t least, std::int64_t most,
                  int& out) {
  if (const auto found = reader.integer(key, least, most)) out = static_cast<int>(*found);
}

}  // namespace foretrain

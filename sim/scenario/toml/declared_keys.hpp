// Keys of a table, each declared once: its name, the values that it takes, the member that they go to, and
// its text on the reference page. Reader and reference follow from the same row, so they cannot contradict
// each other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/scenario/toml/section_values.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// The type of a key's value, and the function that moves it from the table into a Target. A missing key
/// changes nothing.
template <class Target>
struct Takes {
  /// The type in words: "integer", "size", or the names of a choice.
  std::string kind;
  std::function<void(TableReader& table, std::string_view key, Target& target)> read;
};

/// The fallback of a key that must be present.
inline constexpr std::string_view kRequired = "required";

/// A declared key of a section: its name, how its value is read, and its sentence on the reference page.
template <class Target>
struct Key {
  std::string_view name;
  Takes<Target> takes;
  /// An example value, as TOML.
  std::string_view example;
  /// The value that holds when the key is missing, in words.
  std::string_view fallback;
  std::string_view meaning;
};

template <class Target>
using Keys = std::vector<Key<Target>>;

/// The text of a key on the reference page.
struct DescribedKey {
  std::string name, kind, example, fallback, meaning;
};

/// The keys of a table on the reference page.
struct KeyTable {
  /// Heading, such as "`[fabric]`".
  std::string heading;
  /// One sentence on the table; may be empty.
  std::string about;
  std::vector<DescribedKey> keys;
};

/// Returns the reference page's rows of some keys, in their order.
template <class Target>
std::vector<DescribedKey> described(const Keys<Target>& keys) {
  std::vector<DescribedKey> out;
  for (const Key<Target>& key : keys)
    out.push_back({std::string(key.name), key.takes.kind, std::string(key.example), std::string(key.fallback),
                   std::string(key.meaning)});
  return out;
}

/// Reads the keys in their order and reports required keys that are missing. Checks of several keys together,
/// and finish(), are left to the caller.
template <class Target>
void read_keys(TableReader& table, const Keys<Target>& keys, Target& target) {
  for (const Key<Target>& key : keys) {
    if (key.fallback == kRequired) table.require(key.name, key.example);
    key.takes.read(table, key.name, target);
  }
}

/// Reads keys over values that exist already; no key is required.
template <class Target>
void read_keys_over(TableReader& table, const Keys<Target>& keys, Target& target) {
  for (const Key<Target>& key : keys) key.takes.read(table, key.name, target);
}

/// Turns keys of a part into keys of the whole: `part` is a function from Whole& to Part&.
template <class Whole, class Part, class PartOf>
Keys<Whole> keys_within(const Keys<Part>& keys, PartOf part) {
  Keys<Whole> out;
  for (const Key<Part>& key : keys) {
    const auto read = [inner = key.takes.read, part](TableReader& table, std::string_view name,
                                                     Whole& whole) { inner(table, name, part(whole)); };
    out.push_back({key.name, {key.takes.kind, read}, key.example, key.fallback, key.meaning});
  }
  return out;
}

/// Appends keys to others.
template <class Target>
Keys<Target> operator+(Keys<Target> keys, const Keys<Target>& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

/// The member at the end of a path of members, as in MemberPath<&Scenario::workload, &Workload::precision>.
template <auto First, auto... Rest>
struct MemberPath {
  template <class Member, class Of>
  static Of owner_of(Member Of::*);
  using Owner = decltype(owner_of(First));

  static auto& in(Owner& owner) {
    if constexpr (sizeof...(Rest) == 0)
      return owner.*First;
    else
      return MemberPath<Rest...>::in(owner.*First);
  }
};

/// Types of keys whose value goes straight into a member, or into an optional member. The template arguments
/// are the path to the member.
namespace takes {

template <auto... Path>
using Of = Takes<typename MemberPath<Path...>::Owner>;

/// Assigns a value that was found; otherwise the place keeps its value.
template <class Found, class Place>
void put(const std::optional<Found>& found, Place& place) {
  if (found) place = static_cast<Place>(*found);
}

/// true or false.
template <auto... Path>
Of<Path...> flag() {
  return {"true, false", [](TableReader& table, std::string_view key, auto& target) {
            put(table.boolean(key), MemberPath<Path...>::in(target));
          }};
}

/// An integer in [least, most].
template <auto... Path>
Of<Path...> integer(std::int64_t least, std::int64_t most) {
  return {"integer", [least, most](TableReader& table, std::string_view key, auto& target) {
            put(table.integer(key, least, most), MemberPath<Path...>::in(target));
          }};
}

/// A number in [least, most].
template <auto... Path>
Of<Path...> number(double least, double most) {
  return {"number", [least, most](TableReader& table, std::string_view key, auto& target) {
            put(table.number(key, least, most), MemberPath<Path...>::in(target));
          }};
}

/// One line of text. `kind` describes it on the reference page.
template <auto... Path>
Of<Path...> text(std::string kind = "text") {
  return {std::move(kind), [](TableReader& table, std::string_view key, auto& target) {
            put(table.string(key), MemberPath<Path...>::in(target));
          }};
}

/// A power with its unit.
template <auto... Path>
Of<Path...> power() {
  return {"power", [](TableReader& table, std::string_view key, auto& target) {
            put(table.watts(key), MemberPath<Path...>::in(target));
          }};
}

/// The delay of one message at a link or switch, in the range of latencies.
template <auto... Path>
Of<Path...> latency() {
  return {"time", [](TableReader& table, std::string_view key, auto& target) {
            put(table.time(key, kLatencyRange), MemberPath<Path...>::in(target));
          }};
}

/// A duration with its unit.
template <auto... Path>
Of<Path...> time() {
  return {"time", [](TableReader& table, std::string_view key, auto& target) {
            put(table.time(key), MemberPath<Path...>::in(target));
          }};
}

/// A duration above zero.
template <auto... Path>
Of<Path...> longer_time() {
  return {"time", [](TableReader& table, std::string_view key, auto& target) {
            const auto found = table.time(key);
            put(found, MemberPath<Path...>::in(target));
            if (found && *found == Time::zero())
              table.report(table.span_of(key),
                           fmt::format("{} must be longer than zero", table.full_name(key)));
          }};
}

/// A size of at least one byte.
template <auto... Path>
Of<Path...> size() {
  return {"size", [](TableReader& table, std::string_view key, auto& target) {
            const auto found = table.bytes(key);
            put(found, MemberPath<Path...>::in(target));
            if (found && found->count == 0)
              table.report(table.span_of(key), table.full_name(key) + " must be at least one byte");
          }};
}

/// A rate in bytes per second, above zero.
template <auto... Path>
Of<Path...> rate() {
  return {"rate", [](TableReader& table, std::string_view key, auto& target) {
            const auto found = table.byte_rate(key);
            put(found, MemberPath<Path...>::in(target));
            if (found && !(found->per_second > 0))
              table.report(table.span_of(key),
                           fmt::format("{} must be more than zero", table.full_name(key)));
          }};
}

/// A rate of at least one byte per second.
template <auto... Path>
Of<Path...> link_rate() {
  return {"rate", [](TableReader& table, std::string_view key, auto& target) {
            const auto found = table.byte_rate(key);
            put(found, MemberPath<Path...>::in(target));
            if (found && found->per_second < 1)
              table.report(table.span_of(key),
                           table.full_name(key) + " must be at least one byte per second");
          }};
}

/// Returns the names of a choice, separated by commas.
template <class Enum>
std::string names_of(const std::vector<Choice<Enum>>& choices) {
  std::string names;
  for (const Choice<Enum>& choice : choices) names += (names.empty() ? "" : ", ") + choice.name;
  return names;
}

/// One of several names.
template <auto... Path, class Enum>
Of<Path...> choice(std::vector<Choice<Enum>> choices) {
  std::string kind = names_of(choices);
  return {std::move(kind),
          [choices = std::move(choices)](TableReader& table, std::string_view key, auto& target) {
            std::optional<Enum> chosen;
            choose(table, key, choices, chosen);
            put(chosen, MemberPath<Path...>::in(target));
          }};
}

}  // namespace takes

}  // namespace foretrain

// The only door to yaml-cpp: YAML to plain values with places, and back, within limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// The largest text: what etcd, and so Kubernetes, takes of one object (1.5 MiB), rounded down.
inline constexpr std::size_t kLargestYaml = 1u << 20;
/// Deepest nesting, and most values with those that aliases repeat.
inline constexpr int kDeepestYaml = 64;
inline constexpr std::size_t kMostYamlValues = 50'000;

/// What is read at most.
struct YamlLimits {
  std::size_t bytes = kLargestYaml, values = kMostYamlValues;
};

/// A node of a YAML document with its place in the file.
struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, map, list };
  Kind kind = Kind::null;
  std::string text{};                                       ///< of a scalar
  std::vector<std::pair<std::string, YamlNode>> entries{};  ///< of a map, in the order of the text
  std::vector<YamlNode> items{};                            ///< of a list
  SourceSpan span{};
  bool is_quoted = false;  ///< written in quotes, so that no reader takes it for a number or a truth value

  /// The last entry of that key; a null node where there is none, or this is no map.
  const YamlNode& at(std::string_view key) const;
  /// The same through several maps, as in "spec/template/spec".
  const YamlNode& path(std::string_view keys) const;
  bool is_null() const { return kind == Kind::null; }
};

/// The documents of a text. Aliases stand for what their anchor names. Throws InputError with the place for
/// what is no YAML, too large, too deep, too many values, and for an alias inside of what it names.
std::vector<YamlNode> read_yaml(const SourceText& source, YamlLimits limits = {});

/// Block style; texts in quotes where they need them.
std::string write_yaml(const YamlNode& node);

YamlNode yaml_text(std::string text);
/// Of a field whose type is a string, such as a name: in quotes where it looks like a number or a truth
/// value.
YamlNode yaml_string(std::string text);
YamlNode yaml_map(std::vector<std::pair<std::string, YamlNode>> entries);
YamlNode yaml_list(std::vector<YamlNode> items);

}  // namespace foretrain

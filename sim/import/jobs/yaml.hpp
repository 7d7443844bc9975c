// Reads YAML into plain values with places, and writes it, within limits. Only this module uses yaml-cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Largest text in bytes: what etcd, and therefore Kubernetes, takes for one object (1.5 MiB), rounded down
/// to 1 MiB.
inline constexpr std::size_t kLargestYaml = 1u << 20;
/// Deepest nesting, and most values including those that aliases repeat.
inline constexpr int kDeepestYaml = 64;
inline constexpr std::size_t kMostYamlValues = 50'000;

/// The limits of one text, where a reader needs other ones.
struct YamlLimits {
  std::size_t bytes = kLargestYaml, values = kMostYamlValues;
};

/// A node of a YAML document with its place in the file. JSON is read too, as it is a subset of YAML.
struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, map, list };
  Kind kind = Kind::null;
  /// Text of a scalar, without quotes. Numbers and truth values are texts as well.
  std::string text{};
  /// Entries of a map, in the order of the text; keys may repeat.
  std::vector<std::pair<std::string, YamlNode>> entries{};
  /// Items of a list.
  std::vector<YamlNode> items{};
  SourceSpan span{};
  /// True for writing if the text needs quotes, so that no reader takes it for a number or a truth value.
  /// read_yaml() does not set it.
  bool is_quoted = false;

  /// Returns the last entry with that key; a null node where there is none, or where this is no map.
  const YamlNode& at(std::string_view key) const;
  /// Returns a value through several maps, as in "spec/template/spec"; a null node where any of them lacks
  /// its key.
  const YamlNode& path(std::string_view keys) const;
  bool is_null() const { return kind == Kind::null; }
};

/// Returns the documents of a text. Aliases are replaced by copies of what their anchor names.
/// Throws InputError with the place for text that is no YAML or beyond a limit, and for an alias inside of
/// what it names.
std::vector<YamlNode> read_yaml(const SourceText& source, YamlLimits limits = {});

/// Returns the text of a node in block style, with a line end.
std::string write_yaml(const YamlNode& node);

/// Returns a scalar that is written as it is.
YamlNode yaml_text(std::string text);
/// Returns a scalar of a field whose type is a string, such as a name: it is quoted where it looks like a
/// number or a truth value.
YamlNode yaml_string(std::string text);
/// Return a map and a list.
YamlNode yaml_map(std::vector<std::pair<std::string, YamlNode>> entries);
YamlNode yaml_list(std::vector<YamlNode> items);

}  // namespace foretrain

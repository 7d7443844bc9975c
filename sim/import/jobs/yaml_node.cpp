// Values of YAML: look-up and construction, without yaml-cpp.
#include <algorithm>
#include <utility>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/yaml.hpp"

namespace foretrain {

const YamlNode& YamlNode::at(std::string_view key) const {
  static const YamlNode none;
  // Keys may repeat, and the last one counts, as in most readers.
  const auto found =
      std::find_if(entries.rbegin(), entries.rend(), [key](const auto& entry) { return entry.first == key; });
  return found == entries.rend() ? none : found->second;
}

const YamlNode& YamlNode::path(std::string_view keys) const {
  // Keys are followed from the left; keys that hold a slash cannot be looked up this way.
  const std::size_t slash = keys.find('/');
  const YamlNode& inner = at(keys.substr(0, slash));
  return slash == std::string_view::npos ? inner : inner.path(keys.substr(slash + 1));
}

YamlNode yaml_text(std::string text) { return {YamlNode::Kind::scalar, std::move(text), {}, {}, {}}; }

YamlNode yaml_string(std::string text) {
  // YAML 1.1 reads these words as truth values or null, and texts of these characters may be read as numbers.
  static constexpr std::string_view kWords[] = {"",    "y",    "n",     "yes", "no",  "on",
                                                "off", "true", "false", "~",   "null"};
  const bool is_word = std::ranges::find(kWords, lower_case(text)) != std::end(kWords);
  const bool is_number = text.find_first_not_of("0123456789.+-_:eExXoabcdefABCDEF") == std::string::npos &&
                         text.find_first_of("0123456789") != std::string::npos;
  YamlNode node = yaml_text(std::move(text));
  node.is_quoted = is_word || is_number;
  return node;
}

YamlNode yaml_map(std::vector<std::pair<std::string, YamlNode>> entries) {
  return {YamlNode::Kind::map, {}, std::move(entries), {}, {}};
}
YamlNode yaml_list(std::vector<YamlNode> items) {
  return {YamlNode::Kind::list, {}, {}, std::move(items), {}};
}

}  // namespace foretrain

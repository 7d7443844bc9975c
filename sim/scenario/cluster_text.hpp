// Writer of cluster files: keys with comments in one column, lists that wrap, groups of links.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Returns a text in quotes, such as "gpu0".
std::string quoted_text(std::string_view text);
/// Returns a pair as a TOML list: ["gpu0", "cpu0"].
std::string device_pair(std::string_view a, std::string_view b);

/// Writes a cluster as a TOML file, key by key, with comments behind the values.
class ClusterText {
 public:
  ClusterText() = default;
  /// Sections are those of another kind of node: with "more_nodes.", "[node]" becomes "[more_nodes.node]".
  explicit ClusterText(std::string prefix) : prefix_(std::move(prefix)) {}
  /// Adds a comment on a line of its own.
  void remark(std::string_view text);
  /// Adds a heading such as [node], with an empty line before it.
  void section(std::string_view heading);
  /// As above, without the prefix.
  void raw_section(std::string_view heading);
  /// Adds a key. `value` is TOML already; the comment follows it on the line.
  void add(std::string_view key, std::string_view value, std::string_view comment = "");
  /// Adds a list with four items to a line.
  void add_list(std::string_view key, const std::vector<std::string>& items);
  /// Adds the head of a [[node.links]] table; its mesh or pairs follow.
  void add_links(std::string_view link, int count, std::string_view comment);
  /// Adds [node.host] with the values of `like`, scaled to `sockets` sockets. Each value is marked as
  /// assumed.
  void add_assumed_host(const NodeSpec& like, std::string_view like_name, int sockets);

  const std::string& text() const { return text_; }

 private:
  std::string within(std::string_view heading) const;

  std::string text_, prefix_;
};

/// Returns the node template of servers that usually have such a link between GPU and host; host and sockets
/// are taken from it.
std::string host_template_of(std::string_view host_link);
/// Returns the link of a GPU to its host: the one in its [ports], else the PCIe of its generation.
std::string host_link_of(const Gpu& gpu);
/// Returns the link between sockets of a node, nullptr when it has none.
const NodeLink* socket_link_of(const NodeSpec& node);

}  // namespace foretrain

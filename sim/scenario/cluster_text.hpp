// The text of a cluster file as it grows: keys with comments in one column, lists that wrap, groups of links.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// "gpu0" in quotes.
std::string quoted_text(std::string_view text);
/// ["gpu0", "cpu0"]
std::string device_pair(std::string_view a, std::string_view b);

/// Writes a cluster as a TOML file, key by key, with comments behind the values.
class ClusterText {
 public:
  ClusterText() = default;
  /// Sections are those of another kind of node: "[node]" becomes "[more_nodes.node]" with "more_nodes.".
  explicit ClusterText(std::string prefix) : prefix_(std::move(prefix)) {}
  /// One line of a comment of its own.
  void remark(std::string_view text);
  /// A heading such as [node], with an empty line before it.
  void section(std::string_view heading);
  /// The same without the prefix.
  void raw_section(std::string_view heading);
  /// `value` is TOML already. The comment stands behind it.
  void add(std::string_view key, std::string_view value, std::string_view comment = "");
  /// Four items to a line.
  void add_list(std::string_view key, const std::vector<std::string>& items);
  /// The head of a [[node.links]] table; its mesh or pairs follow.
  void add_links(std::string_view link, int count, std::string_view comment);
  /// [node.host] as that of `like` has it, scaled to so many sockets; each figure marked as assumed.
  void add_assumed_host(const NodeSpec& like, std::string_view like_name, int sockets);

  const std::string& text() const { return text_; }

 private:
  std::string within(std::string_view heading) const;

  std::string text_, prefix_;
};

/// The node template whose host and sockets servers with such a link between GPU and host usually have.
std::string host_template_of(std::string_view host_link);
/// What a GPU is plugged into where nobody says: its [ports], else the PCIe of its generation.
std::string host_link_of(const Gpu& gpu);
/// The link between sockets of a node, nullptr when it has none.
const NodeLink* socket_link_of(const NodeSpec& node);

}  // namespace foretrain

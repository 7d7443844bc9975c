// Lines of TOML in the layout of the catalog's own files.
#include "sim/scenario/cluster_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/scenario/schema/cluster_keys.hpp"

namespace foretrain {

namespace {

/// Column at which comments begin.
constexpr std::size_t kCommentColumn = 32;
constexpr std::size_t kItemsPerLine = 4;

}  // namespace

std::string quoted_text(std::string_view text) { return fmt::format("\"{}\"", text); }

std::string device_pair(std::string_view a, std::string_view b) {
  return fmt::format("[\"{}\", \"{}\"]", a, b);
}

void ClusterText::remark(std::string_view text) { text_ += fmt::format("# {}\n", text); }

/// Inserts the prefix behind the opening brackets of a heading.
std::string ClusterText::within(std::string_view heading) const {
  const std::size_t name = std::min(heading.find_first_not_of('['), heading.size());
  return fmt::format("{}{}{}", heading.substr(0, name), prefix_, heading.substr(name));
}

void ClusterText::section(std::string_view heading) { text_ += fmt::format("\n{}\n", within(heading)); }

void ClusterText::raw_section(std::string_view heading) { text_ += fmt::format("\n{}\n", heading); }

void ClusterText::add(std::string_view key, std::string_view value, std::string_view comment) {
  const std::string line = fmt::format("{} = {}", key, value);
  text_ += comment.empty() ? line + "\n" : fmt::format("{:<{}}# {}\n", line + " ", kCommentColumn, comment);
}

void ClusterText::add_list(std::string_view key, const std::vector<std::string>& items) {
  text_ += fmt::format("{} = [", key);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string_view gap = i % kItemsPerLine == 0 ? ",\n         " : ", ";
    text_ += (i == 0 ? "" : std::string(gap)) + items[i];
  }
  text_ += "]\n";
}

void ClusterText::add_links(std::string_view link, int count, std::string_view comment) {
  section("[[node.links]]");
  add("link", quoted_text(link), comment);
  if (count > 1) add("count", std::to_string(count));
}

void ClusterText::add_assumed_host(const NodeSpec& like, std::string_view like_name, int sockets) {
  const Host& host = like.host;
  text_ +=
      fmt::format("\n# assumed: the host of the node template {}\n{}\n", like_name, within("[node.host]"));
  for (const auto& family : host_families()) {
    if (family.value == host.family) add("family", quoted_text(family.name), "assumed");
  }
  // Cores and memory of the template are those of its whole node.
  add("cores", std::to_string(std::min(host.cores / like.cpus * sockets, 1024)),
      "assumed: of the whole node");
  add("slowdown", fmt::format("{:g}", host.slowdown),
      "assumed: single-thread time against a Zen 5 core, docs/models/host.md");
  add("memory", quoted_text(to_string(Bytes{host.memory.count / like.cpus * sockets})), "assumed");
  add("memory_bandwidth", quoted_text(to_string(host.memory_bandwidth)), "assumed: memcpy of one core");
}

std::string host_template_of(std::string_view host_link) {
  if (host_link.starts_with("nvlink_c2c")) return "gh200-4gpu";
  if (host_link.starts_with("pcie3")) return "pcie3-8gpu";
  return host_link.starts_with("pcie5") ? "pcie5-8gpu" : "pcie4-8gpu";
}

std::string host_link_of(const Gpu& gpu) {
  if (!gpu.ports.host.empty()) return gpu.ports.host;
  if (gpu.architecture >= Architecture::hopper) return "pcie5_x16";
  return gpu.architecture >= Architecture::ampere ? "pcie4_x16" : "pcie3_x16";
}

const NodeLink* socket_link_of(const NodeSpec& node) {
  const auto found =
      std::ranges::find(node.links, LinkKind::socket, [](const NodeLink& link) { return link.type.kind; });
  return found == node.links.end() ? nullptr : &*found;
}

}  // namespace foretrain

// Older files write an edge as a dotted name, such as "xpu.0.nvlink.nvsw.0"; newer ones as {ep1: {component:
// "xpu[0:8]"}, ep2: {…}, scheme: many2many, link: nvlink}.
// Slices are those of Python: the end is not included. Every end is bounded, so that a short file cannot
// stand for billions of edges.
#include "sim/import/machines/infragraph_edges.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Limit of a number, and of edges.
constexpr int kMostInfraNumbers = 10'000;
constexpr std::size_t kMostInfraEdges = 100'000;

/// Returns a number from 0 to the limit; `otherwise` when the text is none.
int infra_number(std::string_view text, int otherwise) {
  return static_cast<int>(
      std::clamp<std::int64_t>(integer_of(trimmed(text)).value_or(otherwise), 0, kMostInfraNumbers));
}

/// Reads both ends of "cpu.0.fabric.cpu.1" or "server.0.nic.0.eth1.leafsw.0.port.0". Returns false for other
/// texts.
bool take_dotted(const std::string& text, InfraEdge& edge) {
  const std::vector<std::string_view> parts = split_at(text, '.');
  if (parts.size() != 5 && parts.size() != 9) return false;
  const auto end = [&](std::size_t at, bool has_instance) {
    InfraEnd out;
    if (has_instance)
      out.instance = std::string(parts[at]), out.number = infra_number(parts[at + 1], 0), at += 2;
    out.component = std::string(parts[at]);
    out.index = infra_number(parts[at + 1], 0);
    return out;
  };
  const bool is_long = parts.size() == 9;
  edge = {end(0, is_long), end(is_long ? 5 : 3, is_long), std::string(parts[is_long ? 4 : 2])};
  return true;
}

/// Returns the item of a list that has this name; an empty node when there is none.
const YamlNode& named(const YamlNode& list, const std::string& name) {
  static const YamlNode none;
  for (const YamlNode& item : list.items) {
    if (item.at("name").text == name) return item;
  }
  return none;
}

/// Returns every end that one side of an edge stands for: the product of its instances and components.
std::vector<InfraEnd> ends_of(const YamlNode& infrastructure, const YamlNode& owner, const YamlNode& side) {
  const std::string instance_text = side.at("instance").text;
  // "cx5[0].port[0]" goes on inside of the component; the port does not matter here.
  const std::string component_text = side.at("component").text.substr(0, side.at("component").text.find('.'));
  const std::string instance_name = infra_slice_of(instance_text, 1).name;
  const InfraSlice instances =
      infra_slice_of(instance_text, infra_count(infrastructure.at("instances"), instance_name));
  const YamlNode& device =
      instance_text.empty() ? owner
                            : named(infrastructure.at("devices"),
                                    named(infrastructure.at("instances"), instance_name).at("device").text);
  const std::string component_name = infra_slice_of(component_text, 1).name;
  const InfraSlice components =
      infra_slice_of(component_text, infra_count(device.at("components"), component_name));
  std::vector<InfraEnd> ends;
  for (const int number : instances.numbers) {
    for (const int index : components.numbers) {
      if (ends.size() < kMostInfraEdges) ends.push_back({instances.name, number, components.name, index});
    }
  }
  return ends;
}

/// Lists the edges of one owner, up to the limit.
class EdgeList {
 public:
  EdgeList(const YamlNode& infrastructure, const YamlNode& owner, Diagnostics& diagnostics)
      : infrastructure_(infrastructure), owner_(owner), diagnostics_(diagnostics) {}

  /// Reads both notations; a file may hold either.
  std::vector<InfraEdge> edges() {
    for (const YamlNode& item : owner_.at("connections").items) {
      InfraEdge edge;
      if (!take_dotted(item.text, edge))
        diagnostics_.report(
            item.span, fmt::format("\"{}\" is no connection", shortened(item.text, 60)),
            "NAME.NUMBER.LINK.NAME.NUMBER, with the instance before each name between devices");
      else if (!add(std::move(edge), item.span))
        return std::move(edges_);
    }
    for (const YamlNode& item : owner_.at("edges").items) {
      if (!add_sides(item)) break;
    }
    return std::move(edges_);
  }

 private:
  /// Adds an edge. Returns false when there are too many, which is reported.
  bool add(InfraEdge edge, SourceSpan span) {
    if (edges_.size() >= kMostInfraEdges) {
      diagnostics_.report(span, fmt::format("more than {} edges", kMostInfraEdges));
      return false;
    }
    edges_.push_back(std::move(edge));
    return true;
  }

  /// Adds the edges that two sides and a scheme stand for: many2many, ring, or one to one.
  bool add_sides(const YamlNode& item) {
    const std::vector<InfraEnd> a = ends_of(infrastructure_, owner_, item.at("ep1")),
                                b = ends_of(infrastructure_, owner_, item.at("ep2"));
    const std::string& scheme = item.at("scheme").text;
    const std::string link = item.at("link").text;
    if (scheme == "many2many" || scheme == "ring") {
      for (const InfraEnd& one : a) {
        for (const InfraEnd& other : b) {
          // A ring joins each index to the next, and the last to the first.
          const bool is_next =
              scheme != "ring" ||
              (one.index + 1) % static_cast<int>(std::max<std::size_t>(a.size(), 1)) == other.index;
          if (one != other && is_next && !add({one, other, link}, item.span)) return false;
        }
      }
      return true;
    }
    // Otherwise the ends are joined one to one; a single end on one side is joined to all of the other.
    for (std::size_t i = 0; i < std::max(a.size(), b.size()) && !a.empty() && !b.empty(); ++i) {
      // Sides of different lengths are joined as far as the shorter one goes.
      if ((i >= a.size() && a.size() > 1) || (i >= b.size() && b.size() > 1)) break;
      if (!add({a[std::min(i, a.size() - 1)], b[std::min(i, b.size() - 1)], link}, item.span)) return false;
    }
    return true;
  }

  const YamlNode& infrastructure_;
  const YamlNode& owner_;
  Diagnostics& diagnostics_;
  std::vector<InfraEdge> edges_;
};

}  // namespace

InfraSlice infra_slice_of(const std::string& text, int count) {
  const std::size_t open = text.find('['), close = text.find(']');
  InfraSlice out{text.substr(0, open), {}};
  int first = 0, end = std::clamp(count, 0, kMostInfraNumbers), step = 1;
  // Parts are first, end and step, all of which may be missing.
  if (open != std::string::npos && close != std::string::npos && close > open + 1) {
    const auto parts = split_at(std::string_view(text).substr(open + 1, close - open - 1), ':');
    first = infra_number(parts[0], 0);
    end = parts.size() < 2 ? first + 1 : infra_number(parts[1], end);
    step = parts.size() < 3 ? 1 : std::max(infra_number(parts[2], 1), 1);
  }
  for (int i = first; i < end; i += step) out.numbers.push_back(i);
  return out;
}

int infra_count(const YamlNode& list, const std::string& name) {
  return std::max(infra_number(named(list, name).at("count").text, 1), 1);
}

std::vector<InfraEdge> infra_edges(const YamlNode& infrastructure, const YamlNode& owner,
                                   Diagnostics& diagnostics) {
  return EdgeList(infrastructure, owner, diagnostics).edges();
}

}  // namespace foretrain

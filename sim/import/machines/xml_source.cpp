// The walk keeps its own stack of open elements, because a hostile file may nest deeper than the program's
// stack.
#include "sim/import/machines/xml_source.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

namespace foretrain {

XmlSource::XmlSource(const SourceText& source, Diagnostics& diagnostics)
    : source_(source), diagnostics_(diagnostics), document_(std::make_unique<pugi::xml_document>()) {
  // The library copies the text, and offsets of elements refer to the original.
  const pugi::xml_parse_result result = document_->load_buffer(source.text.data(), source.text.size());
  if (!result)
    diagnostics.report(span_at(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0))),
                       fmt::format("the XML breaks here: {}", result.description()));
}

XmlSource::~XmlSource() = default;

pugi::xml_node XmlSource::root(const char* name) const { return document_->child(name); }

/// Finds the line by binary search over the beginnings of lines: a file with a million mistakes asks for a
/// million places.
SourceSpan XmlSource::span_at(std::size_t offset) const {
  if (line_starts_.empty()) {
    line_starts_.push_back(0);
    for (std::size_t end = source_.text.find('\n'); end != std::string::npos;
         end = source_.text.find('\n', end + 1))
      line_starts_.push_back(end + 1);
  }
  // The last line that begins at or before the offset holds it.
  const auto line = std::ranges::upper_bound(line_starts_, offset) - 1;
  return {static_cast<int>(line - line_starts_.begin()) + 1, static_cast<int>(offset - *line) + 1, 1};
}

SourceSpan XmlSource::span_of(const pugi::xml_node& node) const {
  return span_at(static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0)));
}

// Children are pushed in reverse, so that they are popped in the order of the text.
void XmlSource::walk(const pugi::xml_node& root, int of_root,
                     const std::function<int(const pugi::xml_node&, int)>& visit) const {
  struct Open {
    pugi::xml_node node;
    int of_parent, depth;
  };
  std::vector<Open> open;
  const auto add_children = [&](const pugi::xml_node& node, int value, int depth) {
    const std::size_t begin = open.size();
    for (const pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element) open.push_back({child, value, depth});
    }
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(begin), open.end());
  };
  add_children(root, of_root, 1);
  for (int count = 0; !open.empty(); ++count) {
    const Open next = open.back();
    open.pop_back();
    // The limit ends the walk as a whole, since a file beyond it is no machine.
    if (next.depth > kDeepestXml || count >= kMostXmlElements)
      return diagnostics_.report(
          span_of(next.node),
          fmt::format("more than {} elements, or nested deeper than {}", kMostXmlElements, kDeepestXml));
    add_children(next.node, visit(next.node, next.of_parent), next.depth + 1);
  }
}

std::string attribute_of(const pugi::xml_node& node, const char* name) {
  return std::string(std::string_view(node.attribute(name).value()).substr(0, 200));
}

}  // namespace foretrain

// A text as XML, with the place of every element, and limits against what nests or repeats without end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace pugi {
class xml_document;
class xml_node;
}  // namespace pugi

namespace foretrain {

/// Elements deeper than this are no machine.
inline constexpr int kDeepestXml = 256;
inline constexpr int kMostXmlElements = 1'000'000;

/// An XML file with places for messages. Size and depth are limited.
class XmlSource {
 public:
  /// Reports where the XML breaks; what stands before is there. Entities are not expanded by the library.
  XmlSource(const SourceText& source, Diagnostics& diagnostics);

  ~XmlSource();

  /// The outermost element of this name, or an empty node.
  pugi::xml_node root(const char* name) const;
  SourceSpan span_of(const pugi::xml_node& node) const;
  /// Calls `visit` for every element below `root`, parents first, siblings in order; what it gives for a
  /// parent is passed to its children. Too deep or too many: reported, and the rest left out.
  void walk(const pugi::xml_node& root, int of_root,
            const std::function<int(const pugi::xml_node& node, int of_parent)>& visit) const;

 private:
  SourceSpan span_at(std::size_t offset) const;

  const SourceText& source_;
  Diagnostics& diagnostics_;
  std::unique_ptr<pugi::xml_document> document_;
  mutable std::vector<std::size_t> line_starts_;  ///< found when the first place is asked for
};

/// The attribute as text of at most 200 characters.
std::string attribute_of(const pugi::xml_node& node, const char* name);

}  // namespace foretrain

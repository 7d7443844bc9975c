// An XML text with the place of every element and with limits, since files of others may nest or repeat
// without end.
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

/// Limits of depth and number of elements; files of real machines are far below both.
inline constexpr int kDeepestXml = 256;
inline constexpr int kMostXmlElements = 1'000'000;

/// A parsed XML file that gives places for messages. The source must outlive it. Not for use from several
/// threads, because places are found lazily.
class XmlSource {
 public:
  /// Parses the text. Where the XML breaks, the place is reported, and the elements before it stay usable.
  /// The parser (pugixml) does not expand entities that a file defines, so a file cannot grow while it is
  /// read.
  XmlSource(const SourceText& source, Diagnostics& diagnostics);

  /// Defined where xml_document is complete.
  ~XmlSource();

  /// Returns the outermost element of this name, or an empty node.
  pugi::xml_node root(const char* name) const;
  /// Returns line and column of an element. The first call scans the text; later ones take logarithmic time.
  SourceSpan span_of(const pugi::xml_node& node) const;
  /// Calls `visit` for every element below `root`, parents first and siblings in order. The value that it
  /// returns for a parent is passed to the children.
  /// Beyond kDeepestXml or kMostXmlElements the walk ends, and the place is reported.
  void walk(const pugi::xml_node& root, int of_root,
            const std::function<int(const pugi::xml_node& node, int of_parent)>& visit) const;

 private:
  /// Returns line and column of a byte of the text.
  SourceSpan span_at(std::size_t offset) const;

  const SourceText& source_;
  Diagnostics& diagnostics_;
  std::unique_ptr<pugi::xml_document> document_;
  /// Offsets at which lines begin; filled when the first place is asked for.
  mutable std::vector<std::size_t> line_starts_;
};

/// Returns the attribute as text, at most 200 bytes; empty when the element lacks it.
std::string attribute_of(const pugi::xml_node& node, const char* name);

}  // namespace foretrain

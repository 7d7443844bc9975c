// A document of headings, sentences and tables that can be written as Markdown or as one HTML page.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// A table. Invariant: every row has as many cells as the head.
struct DocumentTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

/// A section, written in the order of its members. Each may be empty; a section without any is left out.
struct DocumentSection {
  std::string heading;
  /// Paragraphs of text.
  std::vector<std::string> sentences{};
  DocumentTable table{};
  /// Items of a list.
  std::vector<std::string> items{};
};

/// A report of sections.
struct Document {
  std::string title;
  std::vector<DocumentSection> sections;
};

// Cells and sentences may hold any text: characters with a meaning in Markdown or HTML are escaped.

/// Returns the document as Markdown.
std::string write_markdown(const Document& document);
/// Returns the document as HTML5 without further files. Light and dark backgrounds both work.
std::string write_html_page(const Document& document);

}  // namespace foretrain

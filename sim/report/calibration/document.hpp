// A plain document of headings, sentences and tables, as Markdown and as one page of HTML.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// Rows have as many cells as the head.
struct DocumentTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

/// In the order of its members; each may be empty. A section without any is left out.
struct DocumentSection {
  std::string heading;
  std::vector<std::string> sentences{};  ///< a paragraph each
  DocumentTable table{};
  std::vector<std::string> items{};  ///< a list
};

/// A report as headings, paragraphs and tables, which Markdown and HTML are written from.
struct Document {
  std::string title;
  std::vector<DocumentSection> sections;
};

// Cells and sentences may hold anything: what Markdown and HTML would read as their own is escaped.

std::string write_markdown(const Document& document);
/// HTML5 that needs nothing else, readable on light and dark ground.
std::string write_html_page(const Document& document);

}  // namespace foretrain

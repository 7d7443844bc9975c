// Writes documents as Markdown and as HTML. Both walk the same sections. Columns of numbers are
// right-aligned, since tables are compared by column.
#include "sim/report/calibration/document.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/report/drawing/svg_label.hpp"

namespace foretrain {

namespace {

// The style uses system colours, so that the page follows the reader's colour scheme.
constexpr std::string_view kPageStyle =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;"
    "color-scheme:light dark;background:Canvas;color:CanvasText}"
    "table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}"
    "th,td{padding:.2em .8em;border-bottom:1px solid color-mix(in srgb,CanvasText 25%,Canvas);"
    "text-align:left;white-space:nowrap}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}";

bool is_empty(const DocumentSection& section) {
  return section.sentences.empty() && section.table.rows.empty() && section.items.empty();
}

/// Returns true when the cell begins as a number does, or is empty or "-".
bool is_figure(const std::string& cell) {
  return cell.empty() || cell == "-" || cell.find_first_of("0123456789") <= 1;
}

/// Returns for each column whether all of its cells are numbers.
std::vector<bool> figure_columns(const DocumentTable& table) {
  std::vector<bool> out(table.head.size(), true);
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] && is_figure(row[i]);
  return out;
}

/// Escapes characters that Markdown would interpret.
std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\|`*_<>[]").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// Returns the table with alignment; empty when it has no rows.
std::string markdown_table(const DocumentTable& table) {
  if (table.rows.empty()) return "";
  const std::vector<bool> figures = figure_columns(table);
  std::string out, rule;
  for (std::size_t i = 0; i < table.head.size(); ++i) {
    out += "| " + markdown_text(table.head[i]) + " ";
    rule += figures[i] ? "|---:" : "|---";
  }
  out += "|\n" + rule + "|\n";
  for (const auto& row : table.rows) {
    for (const std::string& cell : row) out += "| " + markdown_text(cell) + " ";
    out += "|\n";
  }
  return out + "\n";
}

/// Returns one row with cells of this tag (th or td); numbers have the class n.
std::string html_row(const std::vector<std::string>& cells, const std::vector<bool>& figures,
                     std::string_view tag) {
  std::string out = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += fmt::format("<{}{}>{}</{}>", tag, figures[i] ? " class=\"n\"" : "", xml_text(printable(cells[i])),
                       tag);
  return out + "</tr>\n";
}

/// Returns the table; empty when it has no rows.
std::string html_table(const DocumentTable& table) {
  if (table.rows.empty()) return "";
  const std::vector<bool> figures = figure_columns(table);
  std::string out = "<table>\n" + html_row(table.head, figures, "th");
  for (const auto& row : table.rows) out += html_row(row, figures, "td");
  return out + "</table>\n";
}

}  // namespace

// Headings, paragraphs, tables and lists are separated by empty lines, as Markdown needs.
std::string write_markdown(const Document& document) {
  std::string out = "# " + markdown_text(document.title) + "\n\n";
  for (const DocumentSection& section : document.sections) {
    if (is_empty(section)) continue;
    out += "## " + markdown_text(section.heading) + "\n\n";
    for (const std::string& sentence : section.sentences) out += markdown_text(sentence) + "\n\n";
    out += markdown_table(section.table);
    for (const std::string& item : section.items) out += "- " + markdown_text(item) + "\n";
    if (!section.items.empty()) out += "\n";
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

// The style is inside the page, so that it can be mailed as one file.
std::string write_html_page(const Document& document) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\"><style>{1}</style></head><body>\n<h1>{0}</h1>\n",
      xml_text(printable(document.title)), kPageStyle);
  for (const DocumentSection& section : document.sections) {
    if (is_empty(section)) continue;
    out += "<h2>" + xml_text(printable(section.heading)) + "</h2>\n";
    for (const std::string& sentence : section.sentences)
      out += "<p>" + xml_text(printable(sentence)) + "</p>\n";
    out += html_table(section.table);
    if (section.items.empty()) continue;
    out += "<ul>\n";
    for (const std::string& item : section.items) out += "<li>" + xml_text(printable(item)) + "</li>\n";
    out += "</ul>\n";
  }
  return out + "</body></html>\n";
}

}  // namespace foretrain

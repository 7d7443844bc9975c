// Texts of drawings, and labels of sizes on a logarithmic axis.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Returns a <text> element and a line end. `content` is inserted unchanged, so it must be escaped. `more`
/// holds further attributes with a leading blank.
std::string svg_label(double x, double y, std::string_view anchor, std::string_view content,
                      std::string_view more = "");
/// Returns the size of 2^power bytes, such as "64 KiB".
std::string size_label(int power);

// Escaping of texts in HTML and SVG.

/// Returns the text with & < > " as entities and other characters as in printable_lines(). Every parser
/// accepts the result, and line ends stay.
std::string xml_text(std::string_view text);

}  // namespace foretrain

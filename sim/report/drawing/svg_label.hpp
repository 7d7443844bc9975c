// Texts in drawings of sizes on a logarithmic axis.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// A <text> element with its line end; `content` is put in as it is, `more` are further attributes with a
/// leading blank.
std::string svg_label(double x, double y, std::string_view anchor, std::string_view content,
                      std::string_view more = "");
/// 2^power bytes: "64 KiB".
std::string size_label(int power);

// Any text inside HTML and SVG.

/// With & < > " as entities and all else as printable_lines(), so that every parser takes it and lines stay
/// lines.
std::string xml_text(std::string_view text);

}  // namespace foretrain

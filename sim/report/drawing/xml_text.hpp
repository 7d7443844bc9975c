// Any text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// With & < > " as entities and all else as printable_lines(), so that every parser takes it and lines stay
/// lines.
std::string xml_text(std::string_view text);

}  // namespace foretrain

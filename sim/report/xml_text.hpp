// Any text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// With & < > " as entities; control characters become spaces and what is no UTF-8 '?', so that every parser takes it.
std::string xml_text(std::string_view text);

}  // namespace foretrain

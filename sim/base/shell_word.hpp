// Declares the quoting of words for a shell.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Returns the word as it is where a shell takes it literally, otherwise in single quotes. An empty word
/// becomes two quotes.
std::string shell_word(std::string_view text);

}  // namespace foretrain

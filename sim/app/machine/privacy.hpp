// What must not stand in a file that is shared: who measured, on which host, and where.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// The user's name (but root), the host's, the home folder, and the given folders.
std::vector<std::string> private_words(const std::vector<std::string>& folders);

/// The first of the words that stands in the text as a word of its own; empty where none does.
std::string private_word_in(const std::string& text, const std::vector<std::string>& words);

/// The text without them: absolute paths become their last part, private words "…".
std::string shareable(const std::string& text, const std::vector<std::string>& words);

}  // namespace foretrain

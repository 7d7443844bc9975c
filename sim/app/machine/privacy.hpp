// Checks files that are shared for private words: who measured, on which host, and in which folder.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// Returns the user's name and home folder (unless that is root), the host's name, and the given folders.
std::vector<std::string> private_words(const std::vector<std::string>& folders);

/// Returns the first of the words that stands in the text as a whole word; empty when none does.
std::string private_word_in(const std::string& text, const std::vector<std::string>& words);

/// Returns the text with absolute paths shortened to their last part and private words replaced by "…".
std::string shareable(const std::string& text, const std::vector<std::string>& words);

}  // namespace foretrain

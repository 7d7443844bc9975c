// Words that the project does not use: tools/words_not_used.csv lists them with the word of the field.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace word_laws {

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = FORETRAIN_SOURCE_DIR;
const char* const kList = "tools/words_not_used.csv";

struct BannedWord {
  std::string word, instead, folder;
  std::string literal;  ///< a part that every match has: a cheap test before the pattern
  std::regex pattern;
};

/// The longest part of a pattern, before its first group, whose every letter must be there.
std::string literal_of(const std::string& word) {
  std::string best, run;
  for (std::size_t i = 0; i < word.size() && word[i] != '('; ++i) {
    const bool is_optional = i + 1 < word.size() && (word[i + 1] == '?' || word[i + 1] == '*');
    const bool is_plain = (word[i] >= 'a' && word[i] <= 'z') || word[i] == '_' || word[i] == ' ';
    if (is_plain && !is_optional)
      run += word[i];
    else
      run.clear();
    if (word[i] == '\\') ++i;
    if (run.size() > best.size()) best = run;
  }
  return best;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::vector<BannedWord> banned_words() {
  std::ifstream in(kRoot / kList);
  std::vector<BannedWord> words;
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with('#') || line.starts_with("word,") || line.empty()) continue;
    const std::size_t first = line.find(','), last = line.rfind(',');
    REQUIRE(first != last);
    BannedWord word{line.substr(0, first),
                    line.substr(first + 1, last - first - 1),
                    line.substr(last + 1),
                    literal_of(line.substr(0, first)),
                    {}};
    word.pattern = std::regex("\\b(?:" + word.word + ")\\b", std::regex::optimize);
    words.push_back(std::move(word));
  }
  return words;
}

/// The history keeps the words of its time, and this list has to name them.
bool is_searched(const std::string& path) {
  static const std::vector<std::string> ends{".cpp", ".hpp", ".inc", ".md"};
  const bool is_text = std::ranges::any_of(ends, [&](const std::string& end) { return path.ends_with(end); });
  return is_text && !path.starts_with("docs/history/") && path != "tests/laws/word_laws.cpp";
}

std::vector<std::string> searched_files() {
  std::vector<std::string> files{"README.md", "CONTRIBUTING.md"};
  for (const char* folder : {"sim", "docs", "tests", "calibrate"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string path = fs::relative(entry.path(), kRoot).string();
      if (entry.is_regular_file() && is_searched(path)) files.push_back(path);
    }
  }
  std::ranges::sort(files);
  return files;
}

std::string text_of(const std::string& path) {
  std::ifstream in(kRoot / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_lines(const std::string& path, const std::string& text, const BannedWord& word) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch found;
    if (line.find(word.literal) == std::string::npos || !std::regex_search(line, found, word.pattern))
      continue;
    FAIL_CHECK(path << ":" << number << ": \"" << found.str() << "\" is a private word: " << word.instead);
  }
}

}  // namespace

TEST_CASE("law: no name, comment, message or page uses a word that only this project understands") {
  const std::vector<BannedWord> words = banned_words();
  CHECK(words.size() >= 25);
  CHECK(std::regex_search(std::string("a " + words.front().word + " node"), words.front().pattern));
  CHECK(literal_of("the rooms?") == "the room");
  CHECK(literal_of("\\w*_doubts?") == "_doubt");
  for (const std::string& path : searched_files()) {
    const std::string text = lower_case(text_of(path));
    for (const BannedWord& word : words) {
      if (path.starts_with(word.folder) && text.find(word.literal) != std::string::npos)
        check_lines(path, text, word);
    }
  }
}

}  // namespace word_laws

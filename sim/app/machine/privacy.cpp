// Finds and removes names of people, hosts and folders. Names are compared as whole words, so that a host
// named "gpu" does not make every "gpus" private.
#include "sim/app/machine/privacy.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <pwd.h>
#include <unistd.h>

namespace foretrain {

namespace {

// Shorter names are ignored, as they would match too much.
constexpr std::size_t kShortestWord = 2;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Returns true for characters that a path in a text may have.
bool is_path_character(char c) {
  return is_word_character(c) || std::string_view("/.-+@~%").find(c) != std::string_view::npos;
}

/// Returns the index at which the word stands as a whole, from `from` on; npos: nowhere.
std::size_t find_word(const std::string& text, const std::string& word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]) || !is_word_character(word.front());
    const bool ends = end >= text.size() || !is_word_character(text[end]);
    if (begins && ends) return at;
  }
  return std::string::npos;
}

/// Shortens absolute paths to their last part: "/home/ann/runs/a.py" becomes "a.py". A slash inside a word,
/// as in images/s, is no path.
std::string without_paths(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = text[i] == '/' && (i == 0 || !is_path_character(text[i - 1])) &&
                        i + 1 < text.size() && is_word_character(text[i + 1]);
    if (!begins) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_path_character(text[end])) ++end;
    const std::string path = text.substr(i, end - i);
    out += path.substr(path.rfind('/') + 1);
    i = end;
  }
  return out;
}

}  // namespace

// Every word is listed once; the given folders come first.
std::vector<std::string> private_words(const std::vector<std::string>& folders) {
  std::vector<std::string> out;
  const auto add = [&out](std::string word) {
    // A folder matches with and without a slash at its end.
    while (word.size() > 1 && word.back() == '/') word.pop_back();
    if (word.size() >= kShortestWord && std::ranges::find(out, word) == out.end()) out.push_back(word);
  };
  for (const std::string& folder : folders) add(folder);
  // The superuser's name and home are the same everywhere and identify nobody.
  if (const char* home = std::getenv("HOME"); home != nullptr && std::string_view(home) != "/root") add(home);
  if (const passwd* user = ::getpwuid(::getuid()); user != nullptr && ::getuid() != 0) add(user->pw_name);
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) {
    const std::string name = host.data();
    add(name);
    // The short name of the host may stand alone as well.
    add(name.substr(0, name.find('.')));
  }
  return out;
}

std::string private_word_in(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (find_word(text, word, 0) != std::string::npos) return word;
  return "";
}

std::string shareable(const std::string& text, const std::vector<std::string>& words) {
  std::string out = without_paths(text);
  for (const std::string& word : words) {
    for (std::size_t at = find_word(out, word, 0); at != std::string::npos; at = find_word(out, word, at))
      out.replace(at, word.size(), "…"), at += std::string_view("…").size();
  }
  return out;
}

}  // namespace foretrain

// Line by line: outside a block the last line that is not empty is kept, for its comment; inside, lines are
// collected.
#include "tests/support/markdown.hpp"

#include <sstream>

namespace foretrain::test {

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos
             ? ""
             : std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

/// What stands between "<!--" and "-->" when the line is nothing else.
std::string comment_in(const std::string& line) {
  if (!line.starts_with("<!--") || !line.ends_with("-->") || line.size() < 7) return "";
  return trimmed(std::string_view(line).substr(4, line.size() - 7));
}

}  // namespace

std::vector<FencedBlock> fenced_blocks(std::string_view page) {
  std::vector<FencedBlock> blocks;
  std::istringstream lines{std::string(page)};
  std::string line, above;
  bool inside = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string text = trimmed(line);
    if (text.starts_with("```")) {
      inside = !inside;
      if (inside)
        blocks.push_back({number, text.substr(3, text.find_first_of(" {", 3) - 3), comment_in(above), ""});
      above.clear();
    } else if (inside) {
      blocks.back().text += line + "\n";
    } else if (!text.empty()) {
      above = text;
    }
  }
  return blocks;
}

std::vector<std::string> command_lines(std::string_view text) {
  std::vector<std::string> commands;
  std::istringstream lines{std::string(text)};
  std::string line;
  while (std::getline(lines, line)) {
    std::string command = trimmed(line);
    if (command.starts_with("$ ")) command.erase(0, 2);
    if (!command.starts_with("foretrain ")) continue;
    while (command.ends_with('\\') && std::getline(lines, line)) {
      command.pop_back();
      command += trimmed(line);
    }
    commands.push_back(command);
  }
  return commands;
}

std::vector<Picture> pictures(std::string_view page) {
  constexpr std::string_view kMark = "image: ";
  std::vector<Picture> found;
  std::istringstream lines{std::string(page)};
  std::string line, above;
  while (std::getline(lines, line)) {
    const std::size_t begin = line.find("]("), end = line.rfind(".svg)");
    const std::string note = comment_in(above);
    if (note.starts_with(kMark) && begin != std::string::npos && end != std::string::npos && begin < end)
      found.push_back({note.substr(kMark.size()), line.substr(begin + 2, end + 4 - (begin + 2))});
    above = line;
  }
  return found;
}

}  // namespace foretrain::test

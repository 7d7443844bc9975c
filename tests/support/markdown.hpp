// The fenced blocks of a Markdown page, the command lines in them, and the pictures that a command draws.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain::test {

struct FencedBlock {
  int line = 0;          ///< of the opening fence, from 1
  std::string language;  ///< the first word after the fence, as in "console"
  std::string
      note;  ///< what stands in an HTML comment on the nearest line above that is not empty; else empty
  std::string text;  ///< with its newlines, without the fences
};

/// All blocks in order. A fence is a line of three or more backticks, perhaps indented; a block that is not
/// closed ends with the page.
std::vector<FencedBlock> fenced_blocks(std::string_view page);

/// The lines that begin with "foretrain " or "$ foretrain ", without the "$ "; a backslash at the end joins
/// the next line.
std::vector<std::string> command_lines(std::string_view text);

struct Picture {
  std::string command;  ///< begins with "foretrain "
  std::string file;     ///< as the page names it
};

/// The pictures on the line below <!-- image: COMMAND -->.
std::vector<Picture> pictures(std::string_view page);

}  // namespace foretrain::test

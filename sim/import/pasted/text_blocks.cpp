// Cuts a pasted text into blocks, in one pass over the lines. A boundary (prompt, heading, fence) closes the
// open block; a mark, a line that only one tool prints, tells what the open block is. A heading of a table
// (its upper edge, a date) has two lines at most and belongs to the table below it.
#include "sim/import/pasted/text_blocks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/pasted/line_marks.hpp"

namespace foretrain {

namespace {

/// Bytes of a prompt, and of a command that is kept, at most.
constexpr std::size_t kLongestPrompt = 120, kLongestCommand = 200;
/// Lines above a mark that belong to it, at most.
constexpr int kHeadingLines = 2;

/// Names by BlockKind, in its order.
constexpr std::array<std::string_view, 17> kBlockNames{"text",
                                                       "nvidia-smi",
                                                       "nvidia-smi -L",
                                                       "nvidia-smi -q",
                                                       "nvidia-smi topo -m",
                                                       "nvidia-smi topo -p2p",
                                                       "rocm-smi --showtopo",
                                                       "lspci",
                                                       "lscpu",
                                                       "ibstat",
                                                       "scontrol",
                                                       "sinfo",
                                                       "ibnetdiscover",
                                                       "NCCL_DEBUG=INFO",
                                                       "print(model)",
                                                       "training log",
                                                       "nccl-tests"};

bool has_letter(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

/// Returns whether a text can stand before $, # or % in a prompt: "(base) user@host:~/dir" or "[user@host
/// dir]". Empty text can, too.
bool is_prompt_head(std::string_view head) {
  std::string_view text = trimmed(head);
  if (text.starts_with('(')) text = trimmed(text.substr(std::min(text.find(')'), text.size() - 1) + 1));
  if (text.empty()) return true;
  const std::size_t at = text.find('@');
  return at != std::string_view::npos && at > 0 && at + 1 < text.size() &&
         text.find_first_of("=,;\"") == std::string_view::npos;
}

/// Returns whether a line is a fence of Markdown.
bool is_fence(std::string_view line) { return line.starts_with("```") || line.starts_with("~~~"); }

/// Returns the title in "## lscpu", "=== lscpu ===" or "--- lscpu ---"; empty for other lines. A ruler
/// without letters is no heading.
std::string_view heading_in(std::string_view line) {
  std::string_view text = trimmed(line);
  constexpr std::string_view kMarks = "#=-*";
  if (text.empty() || kMarks.find(text.front()) == std::string_view::npos) return {};
  const char mark = text.front();
  const std::size_t count = std::min(text.find_first_not_of(mark), text.size());
  const bool is_long = count >= 3 || (mark == '#' && count == 2);
  if (!is_long || count == text.size()) return {};
  text.remove_prefix(count);
  if (mark == '#' && !text.starts_with(' ')) return {};
  while (!text.empty() && text.back() == mark) text.remove_suffix(1);
  text = trimmed(text);
  return has_letter(text) ? text.substr(0, kLongestCommand) : std::string_view();
}

/// Returns whether lines of this kind are spread over a text among others, as those of a log are.
bool is_stream(BlockKind kind) {
  return kind == BlockKind::nccl_log || kind == BlockKind::training_log || kind == BlockKind::bench_log;
}

/// Cuts one text. `block_` is the open block; its kind stays unknown until a mark comes.
class BlockCutter {
 public:
  std::vector<TextBlock> cut(std::string_view text) {
    LogLines lines(text);
    LogLine line, next;
    for (bool has_line = lines.next(line); has_line;) {
      const bool has_next = lines.next(next);
      take(line, has_next ? std::string_view(next.text) : std::string_view());
      std::swap(line, next);
      has_line = has_next;
    }
    close();
    std::ranges::stable_sort(blocks_, {}, &TextBlock::first_line);
    return std::move(blocks_);
  }

 private:
  /// Takes one line: closes the open block where the line does not belong to it, and adds the line.
  void take(const LogLine& line, std::string_view next) {
    const BlockKind mark = mark_of_line(line.text, next);
    if (mark == BlockKind::unknown && begins_anew(line)) return;
    const bool is_known = block_.kind != BlockKind::unknown;
    const bool goes_with = mark == block_.kind || mark == BlockKind::unknown ||
                           // rocm-smi prints matrices that look like those of nvidia-smi.
                           (block_.kind == BlockKind::rocm_topology && mark == BlockKind::matrix);
    const bool is_left = is_known && mark == BlockKind::unknown && !goes_on(block_.kind, line.text);
    if ((is_known && !goes_with) || is_left) close();
    if (!is_known && mark != BlockKind::unknown && !is_heading_of(mark)) close();
    if (mark != BlockKind::unknown)
      block_.kind = block_.kind == BlockKind::rocm_topology ? block_.kind : mark;
    append(line);
  }

  /// Returns whether a line is a prompt, a heading or a fence, and closes the block if so. Such lines are in
  /// no block.
  bool begins_anew(const LogLine& line) {
    std::string command;
    if (is_fence(trimmed(line.text))) {
      // The heading above a fence names what is in it.
      std::string above = block_.text.empty() ? block_.command : "";
      close();
      block_.command = std::move(above);
      return true;
    }
    bool is_prompt = prompted_command(line.text, command);
    // "# word" may be root's prompt, a heading or a comment of the tool above.
    const bool is_certain = is_prompt && !trimmed(line.text).starts_with("# ");
    if (!is_prompt) command = heading_in(line.text), is_prompt = !command.empty();
    if (!is_prompt || (!is_certain && goes_on(block_.kind, line.text))) return false;
    close();
    block_.command = std::move(command);
    block_.is_typed = is_certain;
    return true;
  }

  /// Returns whether the lines before a mark belong to it: all of them below a prompt, otherwise only a
  /// table's date and upper edge.
  bool is_heading_of(BlockKind mark) const {
    const bool is_table = mark == BlockKind::gpu_table || mark == BlockKind::slurm_table;
    return !block_.command.empty() || (is_table && block_.last_line - block_.first_line < kHeadingLines);
  }

  /// Adds a line. Empty lines in between are kept, so that line numbers within the block stay right.
  void append(const LogLine& line) {
    if (block_.text.empty() && trimmed(line.text).empty()) return;
    if (block_.first_line == 0) block_.first_line = line.number;
    const int behind = block_.text.empty() ? 0 : line.number - block_.last_line;
    block_.text.append(static_cast<std::size_t>(behind), '\n');
    // A progress bar draws over its line, and each drawing has the number of the line.
    if (behind == 0 && !block_.text.empty()) block_.text += '\r';
    block_.text += line.text;
    block_.last_line = std::max(block_.last_line, line.number);
  }

  /// Closes the open block. A log of a kind that is already there continues that block.
  void close() {
    TextBlock done = std::move(block_);
    block_ = {};
    if (trimmed(done.text).empty()) return;
    done.text += '\n';
    const auto stream = streams_.find(done.kind);
    if (is_stream(done.kind) && stream != streams_.end()) return go_on(blocks_[stream->second], done);
    // Beyond the limit everything goes on in the last block, so nothing is lost.
    if (blocks_.size() >= kMostTextBlocks) return go_on(blocks_.back(), done);
    if (is_stream(done.kind)) streams_[done.kind] = blocks_.size();
    blocks_.push_back(std::move(done));
  }

  /// Appends a block to another one, with empty lines for what stands between them.
  static void go_on(TextBlock& block, const TextBlock& more) {
    if (more.first_line == block.last_line) block.text.back() = '\r';
    block.text.append(static_cast<std::size_t>(std::max(more.first_line - block.last_line - 1, 0)), '\n');
    block.text += more.text;
    block.last_line = std::max(block.last_line, more.last_line);
  }

  TextBlock block_;
  std::vector<TextBlock> blocks_;
  // Index of each log's block by its kind.
  std::map<BlockKind, std::size_t> streams_;
};

}  // namespace

std::string_view name_of(BlockKind kind) { return kBlockNames[static_cast<std::size_t>(kind)]; }

/// Signs of prompts are looked for near the begin of a line only, since they may stand in any text.
bool prompted_command(std::string_view line, std::string& command) {
  std::string_view text = trimmed(line);
  if (text.starts_with(">>> ")) return command = text.substr(4, kLongestCommand), true;
  for (const std::string_view sign : {"$ ", "# ", "% "}) {
    const std::size_t at = text.substr(0, kLongestPrompt).find(sign);
    if (at == std::string_view::npos || !is_prompt_head(text.substr(0, at))) continue;
    // "# word" alone is a comment or a heading, not root's prompt.
    if (sign == "% " && trimmed(text.substr(0, at)).empty()) continue;
    command = trimmed(text.substr(at + 2)).substr(0, kLongestCommand);
    return true;
  }
  const bool is_bare = (text.ends_with('$') || text.ends_with('#')) && text.size() < kLongestPrompt &&
                       holds(text, "@") && is_prompt_head(text.substr(0, text.size() - 1));
  if (is_bare) command.clear();
  return is_bare;
}

std::vector<TextBlock> text_blocks(std::string_view text) { return BlockCutter().cut(text); }

}  // namespace foretrain

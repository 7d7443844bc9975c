// The command paste: reads a text with the output of several tools and prints a table with one row for each
// block. Below stand contradictions between blocks and the next command to run.
//
// `foretrain paste FILE` and `foretrain FILE` do the same. Nothing is written but the table and the notes
// below it.
#include <algorithm>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/imported_cluster.hpp"
#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/pasted/pasted_text.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

namespace {

// Largest number of blocks in the table; the others are counted.
constexpr std::size_t kMostShownBlocks = 40;

/// Returns true for a scenario or cluster file with another ending: it has a heading such as [model] on a
/// line of its own.
bool is_scenario(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const std::string_view word = trimmed(line.text);
    if (word == "[model]" || word == "[cluster]" || word == "[run]" || word == "[node]") return true;
  }
  return false;
}

/// Returns the lines of the block, such as "3-17".
std::string lines_of(const BlockFinding& block) {
  return block.first_line == block.last_line ? fmt::format("{}", block.first_line)
                                             : fmt::format("{}-{}", block.first_line, block.last_line);
}

/// Returns the table. Columns: lines of the text; the tool that printed them, or the typed command; what they
/// state.
std::string block_rows(const PastedText& pasted) {
  std::string out = fmt::format("{:<12} {:<20} {}\n", "lines", "printed by", "what it says");
  std::size_t shown = 0;
  for (const BlockFinding& block : pasted.findings) {
    // A block that no reader and no prompt identifies has nothing to show.
    if (block.kind == BlockKind::unknown && block.command.empty()) continue;
    if (shown++ >= kMostShownBlocks) continue;
    const std::string by = block.kind == BlockKind::unknown ? shortened(printable(block.command), 20)
                                                            : std::string(name_of(block.kind));
    out += fmt::format("{:<12} {:<20} {}\n", lines_of(block), by,
                       block.what.empty() ? "no reader takes it" : shortened(block.what, 120));
  }
  if (shown > kMostShownBlocks)
    out += fmt::format("and {}\n", counted(static_cast<std::int64_t>(shown - kMostShownBlocks), "block"));
  return out;
}

/// Returns contradictions between blocks as warnings.
std::string row_warnings(const PastedText& pasted) {
  std::string out;
  for (const MachineWarning& doubt : pasted.doubts)
    out += fmt::format("warning: {}: {}\n  hint: {}\n", to_string(doubt.place), doubt.what, doubt.hint);
  return out;
}

/// Returns what the machine is and which commands make a cluster file of it. When blocks contradict each
/// other so that no machine results, the message says why.
std::string machine_rows(const std::string& file, const PastedText& pasted) {
  if (pasted.machines.empty()) return "";
  const std::string name = printable(file);
  try {
    // The imported file marks what it assumes; its first line describes the machine.
    const ImportedCluster cluster = cluster_of_read({pasted.machines, pasted.doubts, {}}, {});
    const bool is_assumed = cluster.text.find("# assumed: nearest to") != std::string::npos;
    return fmt::format(
        "\n{}\nnote: `foretrain topology import {} -o mine.toml` writes this machine as a cluster "
        "file.\nnote: `foretrain topology questions {}` names the commands that settle what is still "
        "assumed.\n",
        cluster.text.substr(2, cluster.text.find(',') - 2) +
            (is_assumed ? ". No block names the GPU: this one is assumed." : "."),
        name, name);
  } catch (const InputError& error) {
    return fmt::format("\n{}", error.what());
  }
}

}  // namespace

// A text in which no tool is recognised is wrong input (exit code 1).
void run_paste(const std::string& file) {
  const SourceText source = read_machine_text(file);
  const auto pasted = read_pasted_text(source, 1);
  if (!pasted)
    throw InputError({{source.name,
                       {},
                       "",
                       "no tool that is known printed this text",
                       "as nvidia-smi, lscpu, sinfo, NCCL_DEBUG=INFO, print(model) or a training log do"}});
  std::string out = block_rows(*pasted) + row_warnings(*pasted) + machine_rows(file, *pasted);
  for (const std::string& note : pasted->notes) out += fmt::format("note: {}\n", printable_lines(note));
  write_output("", printable_lines(out));
}

// The caller then runs `paste` in place of `predict`.
bool is_pasted_file(const std::string& file) {
  try {
    const SourceText source = read_machine_text(file);
    return !is_job_script(source.text) && !is_scenario(source.text) && is_pasted_text(source.text, 1);
  } catch (const InputError&) {
    // The file is too large to be pasted output.
    return false;
  }
}

}  // namespace foretrain

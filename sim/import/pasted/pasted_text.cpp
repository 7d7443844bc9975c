// Reads a pasted text of many tools: it gives each block to the reader of its tool and compares what they
// say.
//
// Blocks are read apart, so line numbers in their results are shifted to those of the text. Logs of NCCL are
// padded with empty lines instead, because their lines are spread over the text. Mistakes of all blocks are
// collected and thrown together.
#include "sim/import/pasted/pasted_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/pasted/nccl_log.hpp"
#include "sim/import/pasted/pasted_rate.hpp"

namespace foretrain {

namespace {

using MachineReader = Machine (*)(const SourceText&, Diagnostics&);

// Finds the format by itself, where a block may have one of several.
Machine read_any_machine(const SourceText& source, Diagnostics&) { return read_machine(source); }

/// Reads a log of NCCL without requiring that it tells of a node: other blocks do.
Machine read_any_nccl_log(const SourceText& source, Diagnostics&) { return machine_of_nccl_log(source); }

/// Returns the reader for blocks of a kind; nullptr where they tell of no machine.
MachineReader reader_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::gpu_table:
      return read_gpu_table;
    case BlockKind::gpu_list:
      return read_gpu_list;
    case BlockKind::gpu_query:
      return read_gpu_query;
    case BlockKind::matrix:
      return read_topology_matrix;
    case BlockKind::peer_table:
      return read_peer_table;
    case BlockKind::pci_list:
      return read_lspci;
    case BlockKind::processor_list:
      return read_processor_list;
    case BlockKind::adapters:
      return read_ib_adapters;
    case BlockKind::slurm_table:
      return read_slurm_table;
    case BlockKind::nccl_log:
      return read_any_nccl_log;
    case BlockKind::rocm_topology:
    case BlockKind::slurm_records:
    case BlockKind::network:
      return read_any_machine;
    case BlockKind::unknown:
    case BlockKind::printed_model:
    case BlockKind::training_log:
    case BlockKind::bench_log:
      return nullptr;
  }
  return nullptr;
}

/// Returns the machine in words, with its parts counted: "4 GPUs, NVIDIA A100-SXM4-80GB, 64 cores".
std::string machine_in_words(const Machine& machine) {
  std::vector<std::string> facts;
  const auto add = [&facts](std::string fact) { facts.push_back(std::move(fact)); };
  if (gpus_of(machine) > 0) add(counted(gpus_of(machine), "GPU"));
  if (machine.has_no_gpu || (machine.lists_devices && gpus_of(machine) == 0)) add("no GPU");
  if (!machine.gpu_product.empty()) add(printable(machine.gpu_product));
  if (machine.gpu_memory.count > 0) add(to_string(machine.gpu_memory) + " each");
  if (machine.tells_nvlinks) add(machine.nvlinks.empty() ? "no NVLinks" : "NVLinks");
  if (machine.cores > 0) add(counted(machine.cores, "core"));
  if (!machine.cpu_model.empty()) add(printable(machine.cpu_model));
  if (const auto ports = machine.of_kind(PartKind::adapter); !ports.empty())
    add(counted(static_cast<std::int64_t>(ports.size()), "adapter"));
  if (machine.fabric.nodes > 0) add(counted(machine.fabric.nodes, "node"));
  if (!machine.sockets_on.empty()) add("sockets on " + printable(machine.sockets_on));
  return facts.empty() ? "nothing about a node" : fmt::format("{}", fmt::join(facts, ", "));
}

/// Reads the blocks of one text. `source` and `blocks` must outlive the object.
class PasteReader {
 public:
  PasteReader(const SourceText& source, const std::vector<TextBlock>& blocks)
      : source_(source), blocks_(blocks) {}

  PastedText read() {
    for (const TextBlock& block : blocks_) take(block);
    if (!mistakes_.empty()) throw InputError(std::move(mistakes_));
    add_unread();
    compare_all();
    // Matrices place devices. Where files place equally many, the first one counts, so matrices go in front.
    std::stable_partition(out_.machines.begin(), out_.machines.end(),
                          [](const Machine& one) { return one.tells_nvlinks; });
    return std::move(out_);
  }

 private:
  /// Takes one block: reads it, or notes which command reads it, or that none does.
  void take(const TextBlock& block) {
    BlockFinding finding{
        block.kind, block.first_line, block.last_line, block.is_typed ? block.command : "", {}};
    if (const MachineReader reader = reader_of(block.kind); reader != nullptr)
      finding.what = read_block(block, reader);
    else
      finding.what = block.kind != BlockKind::unknown ? handled_by_others(block) : measured_in(block);
    if (finding.what.empty()) note_unread(block);
    if (has_words(block)) out_.findings.push_back(std::move(finding));
  }

  /// Returns whether a block has a letter or digit; others are rulers and need no note.
  static bool has_words(const TextBlock& block) {
    return std::ranges::any_of(block.text,
                               [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
  }

  /// Reads a block of a machine. Of equal blocks the first one is read.
  std::string read_block(const TextBlock& block, MachineReader reader) {
    if (!seen_.insert(block.text).second) return "the same again";
    if (seen_.size() > kMostMachineBlocks) {
      ++left_out_;
      return "left out";
    }
    const bool is_padded = block.kind == BlockKind::nccl_log;
    const int before = block.first_line - 1;
    const SourceText text{source_.name, is_padded
                                            ? std::string(static_cast<std::size_t>(before), '\n') + block.text
                                            : block.text};
    try {
      Machine machine = read_or_throw(text, reader);
      machine.format = name_of(block.kind);
      if (machine.place.file.empty()) machine.place.file = source_.name;
      if (!is_padded) shift(machine, before);
      out_.machines.push_back(std::move(machine));
      return is_padded ? nccl_words(text) : machine_in_words(out_.machines.back());
    } catch (const InputError& error) {
      for (Diagnostic mistake : error.diagnostics()) {
        if (mistake.span.line > 0 && !is_padded) mistake.span.line += before;
        if (mistake.span.line == 0) mistake.span = {block.first_line, 1, 1};
        mistakes_.push_back(std::move(mistake));
      }
      return "mistakes";
    }
  }

  /// Returns what NCCL says without its place, which the block has already.
  static std::string nccl_words(const SourceText& text) {
    const std::string words = in_words(nccl_log_of(text));
    const std::size_t begin = words.find("): ");
    return begin == std::string::npos ? "nothing about a node" : words.substr(begin + 3);
  }

  /// Moves the places of a machine by the lines before its block.
  static void shift(Machine& machine, int lines) {
    machine.place.line = std::max(machine.place.line, 1) + lines;
    for (MachineWarning& doubt : machine.doubts)
      if (doubt.place.line > 0) doubt.place.line += lines;
  }

  /// Returns what `calibrate fit` would read of the text below a prompt; empty: nothing.
  std::string measured_in(const TextBlock& block) {
    if (!block.is_typed || ++looked_at_ > kMostMachineBlocks) return "";
    for (const LogFormat& format : log_formats()) {
      if (format.place != LogPlace::mixed || !format.recognises(block.text)) continue;
      out_.notes.push_back(fmt::format("{}: measurements of {}: `foretrain calibrate fit` reads this file",
                                       place_of(block), format.name));
      return fmt::format("measurements of {}", format.name);
    }
    return "";
  }

  std::string place_of(const TextBlock& block) const {
    return fmt::format("{}:{}", printable(source_.name), block.first_line);
  }

  /// Returns what a block is that another command reads, and notes that command.
  std::string handled_by_others(const TextBlock& block) {
    const std::string file = printable(source_.name);
    if (block.kind == BlockKind::printed_model) {
      out_.notes.push_back(
          fmt::format("{}: the printed model: `foretrain model import {}` makes a model file of it",
                      place_of(block), file));
      return "a network, layer by layer";
    }
    if (block.kind == BlockKind::bench_log) {
      out_.notes.push_back(fmt::format("{}: measured collectives: `foretrain calibrate fit` reads this file",
                                       place_of(block)));
      return "measured collectives";
    }
    const std::optional<PastedRate> rate = pasted_rate(block.text, 0);
    if (!rate) return "losses or memory, and no rate";
    out_.notes.push_back(
        fmt::format("{}: {}: `foretrain measured add {} --model NAME --cluster NAME --gpus N` calibrates "
                    "predictions to it",
                    place_of(block), in_words(*rate), file));
    return in_words(*rate);
  }

  /// Notes a block that no reader takes: one below a command by the command's name; other text is counted.
  void note_unread(const TextBlock& block) {
    if (!has_words(block)) return;
    const int lines = block.last_line - block.first_line + 1;
    if (block.is_typed && unread_commands_.size() < kMostUnread) {
      unread_commands_.push_back(fmt::format("{}: no reader takes the {} of `{}`", place_of(block),
                                             counted(lines, "line"), printable(block.command)));
      return;
    }
    unread_lines_ += lines;
    ++unread_places_;
    if (first_unread_.empty())
      first_unread_ =
          fmt::format("{}: \"{}\"", place_of(block),
                      shortened(printable(trimmed(block.text.substr(0, block.text.find('\n')))), 60));
  }

  /// Adds the notes about all that was not read.
  void add_unread() {
    if (left_out_ > 0)
      out_.notes.push_back(fmt::format("{} behind the first {} are left out", counted(left_out_, "block"),
                                       kMostMachineBlocks));
    for (std::string& unread : unread_commands_) out_.notes.push_back(std::move(unread));
    if (unread_lines_ > 0)
      out_.notes.push_back(fmt::format("no reader takes {} in {}; the first is {}",
                                       counted(unread_lines_, "line"), counted(unread_places_, "place"),
                                       first_unread_));
  }

  /// Compares one fact of all blocks with the first that gives it; the first difference becomes a warning.
  /// Numbers of GPUs and their product are compared where machines are joined.
  template <class Value, class Text>
  void compare(Value Machine::*member, std::string_view what, Text text,
               bool (*is_other)(const Value&, const Value&)) {
    const Machine* first = nullptr;
    for (const Machine& machine : out_.machines) {
      // A matrix shows the cores of sockets with GPUs, and only those of a job's share.
      if (machine.*member == Value{} || machine.format == name_of(BlockKind::matrix)) continue;
      if (first == nullptr) first = &machine;
      if (!is_other(first->*member, machine.*member)) continue;
      out_.doubts.push_back(
          {machine.place,
           fmt::format("{} says {} {}, {} in {} says {}", machine.format, text(machine.*member), what,
                       first->format, to_string(first->place), text(first->*member)),
           "cut out the block of another machine, or what a job's limits hide"});
      return;
    }
  }

  void compare_all() {
    const auto number = [](int value) { return fmt::format("{}", value); };
    const auto size = [](const Bytes& value) { return to_string(value); };
    // Twice as many are hardware threads.
    compare<int>(
        &Machine::cores, "cores", number,
        +[](const int& a, const int& b) { return a != b && a != 2 * b && b != 2 * a; });
    compare<int>(
        &Machine::sockets, "sockets", number, +[](const int& a, const int& b) { return a != b; });
    constexpr auto is_other_size = +[](const Bytes& a, const Bytes& b) {
      return std::abs(static_cast<double>(a.count) / static_cast<double>(b.count) - 1) > 0.1;
    };
    compare<Bytes>(&Machine::gpu_memory, "of memory of a GPU", size, is_other_size);
    compare<Bytes>(&Machine::memory, "of memory of a node", size, is_other_size);
    settle_cores();
  }

  /// Takes the number of cores from lscpu where it is there: affinities and jobs see a part of them.
  void settle_cores() {
    const auto counted_by = [](const Machine& one) {
      return one.format == name_of(BlockKind::processor_list);
    };
    const auto found = std::ranges::find_if(out_.machines, counted_by);
    if (found == out_.machines.end()) return;
    for (Machine& machine : out_.machines) {
      if (machine.cores > 0) machine.cores = found->cores;
      if (machine.sockets > 0 && found->sockets > 0) machine.sockets = found->sockets;
    }
  }

  /// Commands without a reader that are named; more are counted.
  static constexpr std::size_t kMostUnread = 10;

  const SourceText& source_;
  const std::vector<TextBlock>& blocks_;
  PastedText out_;
  std::vector<Diagnostic> mistakes_;
  std::vector<std::string> unread_commands_;
  std::set<std::string_view> seen_;
  std::int64_t left_out_ = 0;
  std::size_t looked_at_ = 0;
  std::int64_t unread_lines_ = 0, unread_places_ = 0;
  std::string first_unread_;
};

/// Returns whether blocks of at least so many tools are there.
bool are_of_tools(const std::vector<TextBlock>& blocks, std::size_t least) {
  std::set<BlockKind> kinds;
  for (const TextBlock& block : blocks) {
    if (block.kind != BlockKind::unknown) kinds.insert(block.kind);
  }
  return kinds.size() >= least;
}

}  // namespace

bool is_pasted_text(std::string_view text, std::size_t least_tools) {
  return are_of_tools(text_blocks(text), least_tools);
}

std::optional<PastedText> read_pasted_text(const SourceText& source, std::size_t least_tools) {
  const std::vector<TextBlock> blocks = text_blocks(source.text);
  if (!are_of_tools(blocks, least_tools)) return std::nullopt;
  return PasteReader(source, blocks).read();
}

}  // namespace foretrain

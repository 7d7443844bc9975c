// Recognises which tool prints a line. Cheap tests come first: a pasted text may have a hundred thousand
// lines, and most of them are of no tool.
#include "sim/import/pasted/line_marks.hpp"

#include <algorithm>
#include <cctype>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/training_rate.hpp"
#include "sim/import/machines/lspci_devices.hpp"
#include "sim/import/machines/readers.hpp"

namespace foretrain {

namespace {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

/// Returns whether a line is a module that opens, "Net(" alone in its line.
bool opens_module(std::string_view line) {
  return line.size() > 1 && line.size() < 200 && line.ends_with('(') &&
         std::isalpha(static_cast<unsigned char>(line.front())) != 0 &&
         std::ranges::all_of(line.substr(0, line.size() - 1), is_word_character);
}

/// Returns whether a line is a module within another one: "  (conv1): Conv2d(1, 32, …)".
bool is_submodule(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::size_t close = text.find("): ");
  return line.starts_with(" ") && text.starts_with('(') && close != std::string_view::npos && close < 200 &&
         holds(text.substr(close), "(");
}

/// Returns the begin of a row or heading of a matrix, without the bars of Markdown; empty for other lines.
std::string matrix_words(std::string_view line) {
  std::string_view text = trimmed(line);
  if (text.starts_with('|')) text = trimmed(text.substr(1));
  const bool is_gpu = text.starts_with("GPU") && is_digit_at(text, 3);
  if (!is_gpu && !text.starts_with("NIC") && !text.starts_with("mlx")) return "";
  std::string plain(text.substr(0, 400));
  std::ranges::replace(plain, '|', ' ');
  return plain;
}

/// Tells rows of `topo -m`, "GPU0   X   NV12 …" or "mlx5_0  PIX …", from rows of `topo -p2p`, "GPU0   X
/// CNS".
BlockKind kind_of_row(std::string_view line) {
  const std::string plain = matrix_words(line);
  const Words words = words_of(plain, 3);
  // Words for paths between devices, and words for peer access.
  if (words.size() < 2) return BlockKind::unknown;
  constexpr std::string_view kCells[] = {"X", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC", "PSB"};
  constexpr std::string_view kPeers[] = {"OK", "CNS", "GNS", "TNS", "NS", "DR"};
  const auto is_of = [](const auto& cells, std::string_view word) {
    return std::ranges::find(cells, word) != std::end(cells);
  };
  if (is_of(kPeers, words[1]) || (words[1] == "X" && words.size() > 2 && is_of(kPeers, words[2])))
    return BlockKind::peer_table;
  const bool is_nvlink = words[1].starts_with("NV") && is_digit_at(words[1], 2);
  return is_nvlink || is_of(kCells, words[1]) ? BlockKind::matrix : BlockKind::unknown;
}

/// Returns the kind of a line of a matrix. A heading of columns is the same for both tools, so its first row
/// decides.
BlockKind kind_of_matrix_line(std::string_view line, std::string_view next) {
  const std::string plain = matrix_words(line);
  const Words words = words_of(plain, 2);
  const bool is_heading =
      words.size() == 2 && words[0] == "GPU0" &&
      (words[1] == "GPU1" || words[1] == "CPU" || words[1] == "NIC0" || words[1].starts_with("mlx"));
  return plain.empty() ? BlockKind::unknown : kind_of_row(is_heading ? next : line);
}

/// Returns whether a line is of `nvidia-smi -L`: "GPU 0: NVIDIA A100-SXM4-80GB (UUID: …)".
bool is_gpu_line(std::string_view line) {
  return line.starts_with("GPU ") && is_digit_at(line, 4) && holds(line, "(UUID");
}

/// Returns whether a line is of lspci: a line of its list begins with an address, a line of its tree with the
/// root.
bool is_pci_line(std::string_view line) {
  if (line.starts_with("-[") || line.starts_with("-+-[")) return holds(line, "]") && holds(line, ":");
  const bool may_begin = line.size() > 9 && std::isxdigit(static_cast<unsigned char>(line[0])) != 0 &&
                         (line[2] == ':' || line[4] == ':');
  LspciDevice device;
  return may_begin && lspci_line(line, device);
}

/// Returns whether a line is of lscpu.
bool is_processor_line(std::string_view line) {
  return line.starts_with("Architecture: ") || line.starts_with("CPU op-mode(s):") ||
         line.starts_with("Thread(s) per core:") || line.starts_with("Core(s) per socket:");
}

/// Returns whether a line is of ibstat, ibstatus or ibv_devinfo.
bool is_adapter_line(std::string_view line) {
  return line.starts_with("CA '") || line.starts_with("Infiniband device '") || line.starts_with("hca_id:");
}

/// Returns whether a line is of scontrol.
bool is_slurm_record(std::string_view line) {
  return line.starts_with("NodeName=") || line.starts_with("PartitionName=") ||
         line.starts_with("SwitchName=");
}

/// Returns whether a line has a training rate, or a loss with a number behind it. The search for words comes
/// first, because the search for rates is slow.
bool is_training_line(std::string_view line) {
  const bool may_be =
      holds(line, "/") || holds(line, "_per_") || holds(line, " per ") || holds(line, "hroughput");
  bool stands = false;
  if (may_be && training_rate_in(line, stands)) return true;
  const std::size_t loss = std::min(line.find("loss"), line.find("Loss"));
  return loss != std::string_view::npos && line.size() < 2000 &&
         std::ranges::any_of(line.substr(loss), [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns whether a line is of nccl-tests.
bool is_bench_line(std::string_view line) {
  return line.starts_with("# nThread ") || line.starts_with("# nccl-tests version");
}

/// Returns whether a line without a rate belongs to a training log by its words.
bool has_training_word(std::string_view line) {
  const std::string text = lower_case(line.substr(0, 400));
  for (const std::string_view word : {"epoch", "step", "iter", "%|", "accuracy", "batch", " mem",
                                      "world size", "number of gpus", "num gpus", "per device"})
    if (holds(text, word)) return true;
  return false;
}

/// Returns whether a line is indented.
bool is_indented_line(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

/// Returns whether a line is a row or an edge of a table.
bool is_table_line(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.starts_with('|') || text.starts_with('+');
}

/// Returns whether a line belongs to the legend below a matrix.
bool is_legend(std::string_view line) {
  return line.starts_with("Legend") || line.starts_with("NIC Legend") || is_indented_line(line);
}

}  // namespace

/// The order matters where lines of two tools look alike: a GPU of `-L` begins as a row of a matrix does.
BlockKind mark_of_line(std::string_view line, std::string_view next) {
  const std::string_view text = trimmed(line);
  if (text.size() < 4) return BlockKind::unknown;
  if (holds(text, " NCCL INFO ") || holds(text, " NCCL WARN ") || text.starts_with("NCCL version "))
    return BlockKind::nccl_log;
  if (text.starts_with("| NVIDIA-SMI ")) return BlockKind::gpu_table;
  if (holds(text, "NVSMI LOG=")) return BlockKind::gpu_query;
  if (is_gpu_line(text)) return BlockKind::gpu_list;
  if (const BlockKind kind = kind_of_matrix_line(line, next); kind != BlockKind::unknown) return kind;
  if (holds(text, "ROCm System Management Interface")) return BlockKind::rocm_topology;
  if (is_pci_line(line)) return BlockKind::pci_list;
  if (is_processor_line(text)) return BlockKind::processor_list;
  if (is_adapter_line(text)) return BlockKind::adapters;
  if (is_slurm_record(text)) return BlockKind::slurm_records;
  if ((holds(text, "PARTITION") || holds(text, "NODELIST")) && text.size() < 2000 && is_slurm_table(line))
    return BlockKind::slurm_table;
  if (text.starts_with("vendid=0x")) return BlockKind::network;
  if (opens_module(line) && is_submodule(next)) return BlockKind::printed_model;
  if (is_bench_line(text)) return BlockKind::bench_log;
  return is_training_line(line) ? BlockKind::training_log : BlockKind::unknown;
}

/// Tools whose output has no common form of line take all lines up to the next mark.
bool goes_on(BlockKind kind, std::string_view line) {
  const bool is_blank = trimmed(line).empty();
  switch (kind) {
    case BlockKind::gpu_table:
      return is_table_line(line) || is_blank;
    case BlockKind::gpu_list:
      return is_indented_line(line) || is_blank || line.starts_with("Link ");
    case BlockKind::gpu_query:
      return is_indented_line(line) || is_blank || holds(line, " : ");
    case BlockKind::peer_table:
    case BlockKind::matrix:
      return is_legend(line) || is_blank || is_table_line(line);
    case BlockKind::rocm_topology:
      return true;
    case BlockKind::pci_list:
      return is_indented_line(line) || is_blank || is_table_line(line) || line.starts_with('\\');
    case BlockKind::processor_list:
      return holds(line, ":") || is_indented_line(line);
    case BlockKind::adapters:
      return is_indented_line(line) || is_blank || holds(line, ":");
    case BlockKind::slurm_records:
      return is_indented_line(line) || is_blank;
    case BlockKind::slurm_table:
      return !is_blank;
    case BlockKind::network:
      return true;
    case BlockKind::printed_model:
      return is_indented_line(line) || line.starts_with(')');
    case BlockKind::training_log:
      return has_training_word(line);
    case BlockKind::bench_log:
      return line.starts_with('#') || is_indented_line(line) || is_blank;
    case BlockKind::nccl_log:
    case BlockKind::unknown:
      return false;
  }
  return false;
}

}  // namespace foretrain

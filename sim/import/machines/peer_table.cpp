// Reader of nvidia-smi topo -p2p r|w|n|a: for each pair of GPUs OK, or the reason why not, as in " GPU0 X OK
// NS".
#include <algorithm>
#include <array>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"

namespace foretrain {

namespace {

/// Words for refusals: not supported, by chipset, by topology or by GPU; disabled; unknown; not available.
constexpr std::array<std::string_view, 7> kRefusals{"NS", "CNS", "TNS", "GNS", "DR", "U", "NA"};

/// The meaning of a line: whether it is a row of the table, and whether it refuses a pair.
struct PeerRow {
  bool is_row = false, refuses = false;
};

/// Reads "GPU0 X OK NS …". A line with any other word is no row.
PeerRow peer_row_of(std::string_view line) {
  const Words words = words_of(line);
  PeerRow row;
  if (words.size() < 3 || !words[0].starts_with("GPU") || !integer_of(words[0].substr(3))) return row;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool refuses = std::ranges::find(kRefusals, words[i]) != kRefusals.end();
    if (words[i] != "X" && words[i] != "OK" && !refuses) return {};
    row.is_row = row.is_row || words[i] != "X";
    row.refuses = row.refuses || refuses;
  }
  return row;
}

}  // namespace

bool is_peer_table(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (peer_row_of(line.text).is_row) return true;
  }
  return false;
}

/// Takes one refused pair for all pairs: NCCL's rings pass through every GPU.
Machine read_peer_table(const SourceText& source, Diagnostics&) {
  Machine machine;
  machine.peer_access = true;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    const PeerRow row = peer_row_of(line.text);
    if (!row.is_row) continue;
    if (machine.place.line == 0) machine.place = {source.name, line.number};
    if (row.refuses) machine.peer_access = false;
    const auto gpu = integer_of(words_of(line.text)[0].substr(3)).value_or(0);
    // The rows are numbered from 0, so the highest number gives the count.
    if (gpu < 1000) machine.gpu_count = std::max(machine.gpu_count, static_cast<int>(gpu) + 1);
  }
  return machine;
}

}  // namespace foretrain

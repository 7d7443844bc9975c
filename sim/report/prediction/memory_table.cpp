// Writes the memory of one GPU as a table, with a row for each class of tensors and a column for each phase
// of a step.
//
// "Allocated" is the sum of the rows in each phase. Reserved memory is what PyTorch's allocator holds, and
// nvidia-smi shows the context and libraries as well.
#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

/// Returns one line; "-" stands for no bytes.
std::string memory_line(std::string_view name, const std::array<Bytes, 3>& held) {
  const auto cell = [](Bytes bytes) { return bytes.count > 0 ? to_string(bytes) : std::string("-"); };
  return fmt::format("{:<30} {:>10} {:>10} {:>10}\n", name, cell(held[0]), cell(held[1]), cell(held[2]));
}

}  // namespace

// The last line compares the table with what PyTorch and nvidia-smi report.
std::string write_memory_ledger(const Prediction& prediction) {
  const PredictionPoint& p = prediction.points.back();
  // Networks that are cut and ranks that are not alike have no such table.
  if (!p.ledger) return {};
  const MemoryLedger& ledger = *p.ledger;
  std::string out = fmt::format(
      "\nMemory per GPU on {}, at the fullest moment of each phase\n{:<30} {:>10} {:>10} {:>10}\n",
      counted(p.gpus, "GPU"), "", "forward", "backward", "optimizer");
  for (const MemoryRow& row : ledger.rows) out += memory_line(row.tensors, row.held);
  out += memory_line("allocated", ledger.allocated);
  return out + fmt::format("PyTorch reserves {}, and nvidia-smi shows {}.\n", to_string(ledger.reserved),
                           to_string(ledger.shown));
}

}  // namespace foretrain

// Reads the table that nvidia-smi prints without options. A GPU has two rows:
//
//   |   0  NVIDIA A100-SXM...  On   | 00000000:3B:00.0 Off |                    0 |
//   | N/A   34C    P0    54W / 400W |      0MiB / 81920MiB |      0%      Default |
//
// Taken are products, PCI addresses and memory of the GPUs. How GPUs are joined is not in the table, nor are
// sockets, which are guessed from the addresses with a remark. Loads, temperatures and processes are skipped.
// A table without a GPU is reported.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// GPUs of one table, at most.
constexpr std::size_t kMostTableGpus = 1000;
/// Bus number from which a GPU counts to the second socket: with two sockets, firmware gives the second one
/// the upper half of the buses.
constexpr long kUpperBuses = 0x80;
/// Largest relative difference between printed memory and data sheet; drivers show less than the sheet.
constexpr double kNearMemory = 0.12;

/// One GPU of the table.
struct TableGpu {
  int line = 0;
  std::string product, bus;
  // Memory in MiB; 0: not read.
  std::int64_t mebibytes = 0;
};

/// Returns the cells of "| a | b | c |"; none for a line that does not begin with a bar.
std::vector<std::string_view> table_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  std::string_view rest = trimmed(line);
  if (!rest.starts_with('|')) return cells;
  rest.remove_prefix(1);
  while (!rest.empty() && cells.size() < 8) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    cells.push_back(trimmed(rest.substr(0, bar)));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return cells;
}

/// Returns the PCI address in a cell, "0000:3b:00.0" for "00000000:3B:00.0 Off"; empty for other cells.
std::string bus_in_cell(std::string_view cell) {
  const Words words = words_of(cell, 1);
  if (words.empty()) return "";
  const std::string_view word = words.front();
  const auto is_part = [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
  };
  const bool is_address = std::ranges::count(word, ':') == 2 && std::ranges::count(word, '.') == 1 &&
                          std::ranges::all_of(word, is_part) && word.size() >= 12 && word.size() <= 20;
  if (!is_address) return "";
  const std::size_t colon = word.find(':');
  return lower_case(word.substr(colon > 4 ? colon - 4 : 0));
}

/// Returns the product in "0  NVIDIA A100-SXM4-80GB   On"; nothing where no number leads. The last word is
/// the state of persistence mode.
std::optional<std::string> product_in_cell(std::string_view cell) {
  Words words = words_of(cell, 12);
  if (words.size() < 2 || !integer_of(words.front())) return std::nullopt;
  words.erase(words.begin());
  const std::string_view last = words.back();
  if (words.size() > 1 && (last == "On" || last == "Off" || last == "N/A")) words.pop_back();
  return fmt::format("{}", fmt::join(words, " ")).substr(0, 200);
}

/// Returns the total in "0MiB / 24576MiB", in MiB; 0 for other cells.
std::int64_t total_memory_in(std::string_view cell) {
  const std::size_t slash = cell.find('/');
  if (slash == std::string_view::npos || !holds(cell, "MiB")) return 0;
  return std::clamp<std::int64_t>(integer_behind(cell, "/").value_or(0), 0, 1 << 28);
}

/// Returns whether a catalog's name may be the cut one: all of its words stand in the name, the last one in
/// part.
bool may_be(const std::string& name, const std::vector<std::string>& cut) {
  const std::vector<std::string> words = product_words(name);
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const bool is_there = std::ranges::any_of(words, [&](const std::string& word) {
      return i + 1 == cut.size() ? word.starts_with(cut[i]) : word == cut[i];
    });
    if (!is_there) return false;
  }
  return !cut.empty();
}

/// Returns the whole name for one that the table cuts, such as "NVIDIA A100-SXM...": the only GPU of the
/// catalog that has these words and this memory. Otherwise the printed name without the dots.
std::string whole_product(const TableGpu& gpu) {
  if (!gpu.product.ends_with("..")) return gpu.product;
  const std::string cut = gpu.product.substr(0, gpu.product.find(".."));
  const std::vector<std::string> words = product_words(cut);
  std::vector<std::string> fitting;
  for (const std::string& name : names_in(CatalogKind::gpus)) {
    if (!may_be(name, words)) continue;
    const Gpu known = open_value(CatalogKind::gpus, name, read_gpu);
    const double share = static_cast<double>(gpu.mebibytes << 20) / static_cast<double>(known.memory.count);
    if (gpu.mebibytes == 0 || std::abs(share - 1) < kNearMemory) fitting.push_back(name);
  }
  return fitting.size() == 1 ? fitting.front() : cut;
}

/// Returns the GPUs of the first table in a text.
std::vector<TableGpu> table_gpus(const SourceText& source) {
  std::vector<TableGpu> gpus;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    const std::vector<std::string_view> cells = table_cells(line.text);
    if (cells.size() < 2) continue;
    const auto product = product_in_cell(cells[0]);
    const std::string bus = bus_in_cell(cells[1]);
    const auto is_again = [&bus](const TableGpu& gpu) { return gpu.bus == bus; };
    if (product && !bus.empty()) {
      // An address that comes again begins the next table of a longer log.
      if (gpus.size() >= kMostTableGpus || std::ranges::any_of(gpus, is_again)) break;
      gpus.push_back({line.number, *product, bus, 0});
    } else if (const std::int64_t total = total_memory_in(cells[1]);
               total > 0 && !gpus.empty() && gpus.back().mebibytes == 0) {
      gpus.back().mebibytes = total;
    }
  }
  return gpus;
}

/// Returns whether an address lies in the upper half of the buses of PCI domain 0.
bool is_upper_bus(const std::string& bus) {
  const std::size_t colon = bus.find(':');
  return bus.starts_with("0000:") &&
         std::strtol(bus.substr(colon + 1, 2).c_str(), nullptr, 16) >= kUpperBuses;
}

/// Places the GPUs at one or two sockets by their addresses.
void place_by_bus(Machine& machine, const std::vector<TableGpu>& gpus) {
  std::map<bool, int> socket_of;
  for (const bool upper : {false, true}) {
    if (std::ranges::none_of(gpus, [&](const TableGpu& gpu) { return is_upper_bus(gpu.bus) == upper; }))
      continue;
    socket_of[upper] = static_cast<int>(machine.parts.size());
    machine.parts.push_back({PartKind::socket, -1});
  }
  for (const TableGpu& gpu : gpus) {
    MachinePart part{PartKind::gpu, socket_of.at(is_upper_bus(gpu.bus)), whole_product(gpu), gpu.bus};
    machine.parts.push_back(std::move(part));
  }
}

}  // namespace

bool is_gpu_table(std::string_view text) {
  return holds(text, "| NVIDIA-SMI ") && (holds(text, "Bus-Id") || holds(text, "Driver Version"));
}

Machine read_gpu_table(const SourceText& source, Diagnostics& diagnostics) {
  const std::vector<TableGpu> gpus = table_gpus(source);
  Machine machine;
  if (gpus.empty()) {
    diagnostics.report({}, "the table of nvidia-smi has no row of a GPU",
                       "the table was cut: paste all of it");
    return machine;
  }
  machine.place = {source.name, gpus.front().line};
  place_by_bus(machine, gpus);
  machine.gpu_product = machine.parts[static_cast<std::size_t>(machine.of_kind(PartKind::gpu).front())].name;
  machine.gpu_memory = Bytes{gpus.front().mebibytes << 20};
  // A cluster file has one kind of GPU per kind of node, so one remark about a second product is enough.
  for (const TableGpu& gpu : gpus) {
    if (gpu.product == gpus.front().product || !machine.remarks.empty()) continue;
    machine.remarks.push_back(fmt::format("\"{}\" stands beside \"{}\": one kind of GPU stands for both",
                                          gpu.product, gpus.front().product));
  }
  machine.remarks.push_back("nvidia-smi tells no sockets: buses from 80 on are taken for the second one's");
  return machine;
}

}  // namespace foretrain

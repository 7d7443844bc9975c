// A card in the wrong slot and a link that was not trained show as figures below those of the data sheet.
#include "sim/import/machines/machine_warnings.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Accepted shares of the memory in the data sheet. Drivers show less than the data sheet, and ECC takes a
/// sixteenth on older boards.
/// A share beyond them means another product.
constexpr double kLeastMemory = 0.88, kMostMemory = 1.1;

/// PCIe generation and lanes of a card.
struct SlotOfProduct {
  int generation = 0, lanes = 0;
};

/// Reads a link of the catalog: "pcie4_x16" is 4 and 16; zeros for a link that is no PCIe.
SlotOfProduct slot_of(std::string_view link) {
  if (!link.starts_with("pcie")) return {};
  return {static_cast<int>(integer_of(link.substr(4, link.find('_') - 4)).value_or(0)),
          static_cast<int>(integer_of(text_behind(link, "_x")).value_or(0))};
}

/// Returns "gpu1, gpu3", or "every GPU" when all of them are listed.
std::string named_gpus(const std::vector<int>& gpus, int of) {
  if (static_cast<int>(gpus.size()) == of) return of == 1 ? "gpu0" : "every GPU";
  std::string out;
  for (const int gpu : gpus) out += fmt::format("{}gpu{}", out.empty() ? "" : ", ", gpu);
  return out;
}

/// Compares one machine with the data sheet of its GPU.
class ProductCheck {
 public:
  ProductCheck(const Machine& machine, const Gpu& gpu) : machine_(machine), gpu_(gpu) {}

  std::vector<MachineWarning> all() {
    check_slots();
    check_nvlinks();
    check_memory();
    return std::move(doubts_);
  }

 private:
  /// Adds a warning at the place of the machine's devices.
  void doubt(std::string what, std::string hint) {
    doubts_.push_back({machine_.place, std::move(what), std::move(hint)});
  }

  /// Compares PCIe slots; GPUs with the same slot share a warning.
  void check_slots() {
    // GPUs of a POWER9 hang at NVLinks; their PCIe is not used.
    if (machine_.family == HostFamily::power9) return;
    const SlotOfProduct best = slot_of(gpu_.ports.host);
    const std::vector<int> gpus = machine_.of_kind(PartKind::gpu);
    std::map<std::pair<int, int>, std::vector<int>> below;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const MachinePart& part = machine_.parts[static_cast<std::size_t>(gpus[i])];
      const bool is_below = (part.lanes > 0 && part.lanes < best.lanes) ||
                            (part.generation > 0 && part.generation < best.generation);
      if (is_below) below[{part.generation, part.lanes}].push_back(static_cast<int>(i));
    }
    for (const auto& [slot, numbers] : below)
      doubt(fmt::format("{} {} PCIe {} x{}, {} takes {} x{}",
                        named_gpus(numbers, static_cast<int>(gpus.size())),
                        numbers.size() == 1 || numbers.size() == gpus.size() ? "has" : "have", slot.first,
                        slot.second, gpu_.name, best.generation, best.lanes),
            "an older server, a slot with fewer lanes, or lanes that did not train; the file has what is "
            "there");
  }

  /// Compares the NVLinks of each GPU with the product's. Both ends of a link count it.
  /// POWER9 uses links for the host, and AMD's counts are set from the catalog, so neither is compared.
  void check_nvlinks() {
    const int gpus = gpus_of(machine_);
    if (!machine_.tells_nvlinks || machine_.nvlinks.empty() || machine_.family == HostFamily::power9 ||
        is_amd(gpu_.architecture))
      return;
    std::vector<int> counts(static_cast<std::size_t>(gpus), 0);
    for (const MachineNvlinks& link : machine_.nvlinks) {
      for (const int end : {link.gpu, link.other}) {
        if (end >= 0 && end < gpus) counts[static_cast<std::size_t>(end)] += link.count;
      }
    }
    std::map<int, std::vector<int>> below;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const int count = counts[static_cast<std::size_t>(gpu)];
      if (count < gpu_.ports.nvlinks) below[count].push_back(gpu);
    }
    for (const auto& [count, numbers] : below)
      doubt(fmt::format("{} {} {} of the {} of {}", named_gpus(numbers, gpus),
                        numbers.size() == 1 || static_cast<int>(numbers.size()) == gpus ? "has" : "have",
                        count, counted(gpu_.ports.nvlinks, "NVLink"), gpu_.name),
            "`nvidia-smi nvlink -s` shows which are down; boards for some markets have fewer");
  }

  /// Compares the memory that the driver shows.
  void check_memory() {
    const double share =
        static_cast<double>(machine_.gpu_memory.count) / static_cast<double>(gpu_.memory.count);
    if (machine_.gpu_memory.count > 0 && (share < kLeastMemory || share > kMostMemory))
      doubt(fmt::format("the driver shows {} of memory, {} has {}", to_string(machine_.gpu_memory), gpu_.name,
                        to_string(gpu_.memory)),
            "another product of that name, or a slice of it: --gpu NAME says which");
  }

  const Machine& machine_;
  const Gpu& gpu_;
  std::vector<MachineWarning> doubts_;
};

}  // namespace

std::vector<MachineWarning> warnings_against(const Machine& machine, const Gpu& gpu) {
  return ProductCheck(machine, gpu).all();
}

}  // namespace foretrain

// Tables of PCI numbers, of GPUs and of adapters, from the PCI ID repository (pci-ids.ucw.cz) and the
// makers' documentation.
// A GPU without a row is recognised by its product or by the nearest entry of the catalog.
#include "sim/import/machines/pci_devices.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/cluster_text.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// A PCI number with the catalog's name of the GPU.
struct GpuModel {
  std::string_view device, gpu;
};

/// GPUs by PCI number; vendor 10de is NVIDIA, 1002 is AMD. Where two entries of the catalog are the same
/// board, one of them has a row.
constexpr GpuModel kGpuModels[] = {{"10de:102d", "k80"},
                                   {"10de:15f7", "p100-pcie-12gb"},
                                   {"10de:15f8", "p100-pcie-16gb"},
                                   {"10de:15f9", "p100-sxm2-16gb"},
                                   {"10de:1bb3", "p4"},
                                   {"10de:1b38", "p40"},
                                   {"10de:1b06", "gtx-1080ti"},
                                   {"10de:1e02", "titan-rtx"},
                                   {"10de:2206", "rtx-3080"},
                                   {"10de:2236", "a10"},
                                   {"10de:1db1", "v100-sxm2-16gb"},
                                   {"10de:1db4", "v100-pcie-16gb"},
                                   {"10de:1db5", "v100-sxm2-32gb"},
                                   {"10de:1db6", "v100-pcie-32gb"},
                                   {"10de:1db8", "v100-sxm3-32gb"},
                                   {"10de:1eb8", "t4"},
                                   {"10de:1e04", "rtx-2080ti"},
                                   {"10de:1e07", "rtx-2080ti"},
                                   {"10de:1e30", "rtx-8000"},
                                   {"10de:1e78", "rtx-8000"},
                                   {"10de:20b0", "a100-sxm4-40gb"},
                                   {"10de:20b2", "a100-sxm4-80gb"},
                                   {"10de:20b3", "a100-sxm4-64gb"},
                                   {"10de:20b5", "a100-pcie-80gb"},
                                   {"10de:20f1", "a100-pcie-40gb"},
                                   {"10de:20f3", "a100-sxm4-80gb"},
                                   {"10de:20b7", "a30"},
                                   {"10de:2235", "a40"},
                                   {"10de:2237", "a10g"},
                                   {"10de:2230", "rtx-a6000"},
                                   {"10de:2231", "rtx-a5000"},
                                   {"10de:2204", "rtx-3090"},
                                   {"10de:2684", "rtx-4090"},
                                   {"10de:26b1", "rtx-6000-ada"},
                                   {"10de:26b5", "l40"},
                                   {"10de:26b9", "l40s"},
                                   {"10de:27b8", "l4"},
                                   {"10de:2330", "h100-sxm5-80gb"},
                                   {"10de:2331", "h100-pcie-80gb"},
                                   {"10de:2335", "h200-sxm-141gb"},
                                   {"10de:2324", "h800-sxm-80gb"},
                                   {"10de:2342", "gh200-96gb"},
                                   {"10de:2901", "b200-sxm-180gb"},
                                   {"10de:2941", "gb200-186gb"},
                                   {"1002:738c", "mi100"},
                                   {"1002:7408", "mi250x"},
                                   {"1002:740c", "mi250x"},
                                   {"1002:740f", "mi210"},
                                   {"1002:74a0", "mi300a"},
                                   {"1002:74a1", "mi300x"},
                                   {"1002:74a5", "mi325x"}};

/// Adapters by PCI number; vendor 15b3 is Mellanox (NVIDIA), 1d0f Amazon, 8086 Cornelis (Intel), 17db Cray
/// (HPE).
constexpr AdapterModel kAdapterModels[] = {
    {"15b3:1003", "ib_fdr", "ConnectX-3"},      {"15b3:1007", "ib_fdr", "ConnectX-3 Pro"},
    {"15b3:1011", "ib_fdr", "Connect-IB"},      {"15b3:1013", "ib_edr", "ConnectX-4"},
    {"15b3:1014", "ib_edr", "ConnectX-4 VF"},   {"15b3:1015", "roce_25", "ConnectX-4 Lx"},
    {"15b3:1017", "ib_edr", "ConnectX-5"},      {"15b3:1018", "ib_edr", "ConnectX-5 VF"},
    {"15b3:1019", "ib_edr", "ConnectX-5 Ex"},   {"15b3:101a", "ib_edr", "ConnectX-5 Ex VF"},
    {"15b3:101b", "ib_hdr", "ConnectX-6"},      {"15b3:101c", "ib_hdr", "ConnectX-6 VF"},
    {"15b3:101d", "roce_100", "ConnectX-6 Dx"}, {"15b3:101e", "ib_ndr", "ConnectX VF"},
    {"15b3:1021", "ib_ndr", "ConnectX-7"},      {"1d0f:efa0", "efa_100", "EFA"},
    {"1d0f:efa1", "efa_100", "EFA 1.5"},        {"1d0f:efa2", "efa_400_p5", "EFA 2"},
    {"8086:24f0", "opa100", "Omni-Path"},       {"8086:24f1", "opa100", "Omni-Path"},
    {"17db:0501", "slingshot11", "Cassini"}};

/// Rates of ports in Gb/s, with the links of the catalog for InfiniBand and for Ethernet.
struct PortRate {
  double gbps;
  std::string_view infiniband, ethernet;
};
constexpr PortRate kPortRates[] = {{1, "", "eth_1_tcp"},          {10, "", "eth_10_tcp"},
                                   {25, "", "roce_25"},           {40, "ib_fdr", "roce_40_cx3"},
                                   {56, "ib_fdr", "roce_40_cx3"}, {100, "ib_edr", "roce_100"},
                                   {200, "ib_hdr", "roce_200"},   {400, "ib_ndr", "roce_400"}};

/// Returns all entries of the catalog but CPU cores.
std::vector<Gpu> catalog_gpus() {
  std::vector<Gpu> gpus;
  for (const std::string& name : names_in(CatalogKind::gpus))
    gpus.push_back(open_value(CatalogKind::gpus, name, read_gpu));
  std::erase_if(gpus, [](const Gpu& gpu) { return gpu.architecture == Architecture::cpu; });
  return gpus;
}

/// NVIDIA assigns device numbers by chip: the first two digits give the compute capability of a board that
/// has no row.
struct ChipNumbers {
  std::string_view digits;
  double compute_capability;
};
constexpr ChipNumbers kChipNumbers[] = {
    {"0f", 3.0}, {"10", 3.5}, {"11", 3.0}, {"13", 5.2}, {"17", 5.2},  {"15", 6.0}, {"1b", 6.1}, {"1c", 6.1},
    {"1d", 7.0}, {"1e", 7.5}, {"1f", 7.5}, {"21", 7.5}, {"20", 8.0},  {"22", 8.6}, {"24", 8.6}, {"25", 8.6},
    {"23", 9.0}, {"26", 8.9}, {"27", 8.9}, {"28", 8.9}, {"29", 10.0}, {"2b", 12.0}};

/// Words by which sites ask for a generation, with its compute capability.
struct GenerationWord {
  std::string_view word;
  double compute_capability;
};
constexpr GenerationWord kGenerationWords[] = {{"kepler", 3.7}, {"pascal", 6.0},    {"volta", 7.0},
                                               {"turing", 7.5}, {"ampere", 8.0},    {"lovelace", 8.9},
                                               {"hopper", 9.0}, {"blackwell", 10.0}};

/// Returns the compute capability of a product that is only the word of a generation, such as "volta"; 0 for
/// others.
double stated_generation(std::string_view product) {
  const std::string word = lower_case(product);
  const auto found = std::ranges::find(kGenerationWords, word, &GenerationWord::word);
  return found == std::end(kGenerationWords) ? 0 : found->compute_capability;
}

/// Returns the compute capability: as given, else by the word of a generation, else by the chip; 0 when
/// unknown.
double compute_capability_of(const GpuTraits& traits) {
  if (traits.compute_capability > 0 || !traits.pci_device.starts_with("10de:"))
    return traits.compute_capability > 0 ? traits.compute_capability : stated_generation(traits.product);
  const std::string_view digits = std::string_view(traits.pci_device).substr(5, 2);
  const auto found = std::ranges::find(kChipNumbers, digits, &ChipNumbers::digits);
  return found == std::end(kChipNumbers) ? 0 : found->compute_capability;
}

/// The kinds that most nodes have, in the order of their numbers; they decide between entries that are
/// equally near.
constexpr std::string_view kUsualKinds[] = {"a100-sxm4-40gb", "h100-sxm5-80gb", "v100-sxm2-16gb",
                                            "a100-pcie-40gb", "v100-pcie-16gb", "t4",
                                            "l40s",           "rtx-3090"};

/// Returns the PCIe generation of an entry, from the digit in "pcie4_x16"; 0 when the GPU hangs at another
/// link.
int generation_of(const Gpu& gpu) {
  const std::string link = host_link_of(gpu);
  return link.starts_with("pcie") ? link[4] - '0' : 0;
}

/// Returns how far an entry of the catalog is from the known facts; 0 is nearest.
/// The weights fall with the strength of the evidence: the generation of the chip (1000), PCIe (100), a
/// bridge where links are wired (50), NVLinks (1), and what is usual (0.01).
double distance(const Gpu& gpu, const GpuTraits& traits) {
  const auto usual = std::ranges::find(kUsualKinds, gpu.name);
  double out = 0.01 * static_cast<double>(usual - std::begin(kUsualKinds));
  if (const double capability = compute_capability_of(traits); capability > 0)
    out += 1000 * std::abs(gpu.compute_capability - capability);
  if (traits.generation > 0) out += 100 * std::abs(generation_of(gpu) - traits.generation);
  if (gpu.ports.bridged && traits.is_wired) out += 50;
  const int nvlinks = gpu.ports.bridged && traits.is_wired ? 0 : gpu.ports.nvlinks;
  if (traits.nvlinks >= 0) return out + std::abs(nvlinks - traits.nvlinks);
  // Boards of eight GPUs have NVLinks; for fewer GPUs nothing is known.
  return out + (traits.gpus_of_node >= 8 && (nvlinks == 0 || gpu.ports.bridged) ? 1 : 0);
}

/// Returns the nearest of the entries as an assumption.
RecognisedGpu nearest_of(std::vector<Gpu> gpus, const GpuTraits& traits, std::string because) {
  const auto nearest =
      std::ranges::min_element(gpus, {}, [&](const Gpu& gpu) { return distance(gpu, traits); });
  return {nearest->name, std::move(because), true};
}

/// Returns the number of an AMD product: 50 for "AMD Instinct MI50"; 0 for other products.
int amd_number(std::string_view product) {
  const std::vector<std::string> words = product_words(product);
  if (words.size() != 1 || !words.front().starts_with("mi")) return 0;
  int number = 0;
  const std::string& word = words.front();
  std::from_chars(word.data() + 2, word.data() + word.size(), number);
  return std::clamp(number, 0, 10'000);
}

/// Returns AMD's entry whose number is nearest, on a logarithmic scale.
RecognisedGpu nearest_of_amd(std::vector<Gpu> gpus, const GpuTraits& traits) {
  std::erase_if(gpus, [](const Gpu& gpu) { return !is_amd(gpu.architecture); });
  const int wanted = amd_number(traits.product);
  const auto ratio = [wanted](const Gpu& gpu) {
    return std::abs(std::log(static_cast<double>(std::max(amd_number(gpu.name), 1)) / wanted));
  };
  return {std::ranges::min_element(gpus, {}, ratio)->name, "\"" + traits.product + "\"", true};
}

/// Throws InputError for a product that the catalog lacks, when no other fact tells its generation.
void refuse_unknown_product(const std::vector<Gpu>& gpus, const GpuTraits& traits) {
  const bool is_known = compute_capability_of(traits) > 0 || traits.nvlinks >= 0 || traits.generation > 0 ||
                        !traits.pci_device.empty() || stated_generation(traits.product) > 0;
  if (traits.product.empty() || is_known) return;
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus) names.push_back(gpu.name);
  const std::vector<std::string> near = nearest_names(lower_case(product_alone(traits.product)), names);
  throw InputError(
      fmt::format("no GPU of the catalog is called \"{}\"", printable(shortened(traits.product, 60))),
      near.empty() ? "--gpu NAME says which it is: one of `foretrain list gpus`, or a file"
                   : fmt::format("--gpu NAME says which it is, as in --gpu {}", fmt::join(near, ", ")));
}

/// Returns the known facts in words, for the comment behind the GPU.
std::string what_is_known(const GpuTraits& traits) {
  std::vector<std::string> facts;
  if (!traits.product.empty()) facts.push_back("\"" + traits.product + "\"");
  if (!traits.pci_device.empty()) facts.push_back("PCI " + traits.pci_device);
  if (traits.compute_capability > 0)
    facts.push_back(fmt::format("compute capability {:.1f}", traits.compute_capability));
  if (traits.nvlinks >= 0) facts.push_back(fmt::format("{} NVLinks", traits.nvlinks));
  if (traits.generation > 0) facts.push_back(fmt::format("PCIe {}", traits.generation));
  return facts.empty() ? "what most nodes have: no file names it" : fmt::format("{}", fmt::join(facts, ", "));
}

}  // namespace

const AdapterModel* adapter_of(std::string_view pci_device) {
  const auto found = std::ranges::find(kAdapterModels, pci_device, &AdapterModel::device);
  return found == std::end(kAdapterModels) ? nullptr : found;
}

std::string network_of(std::string_view pci_device, double gbps, bool is_ethernet_port) {
  const AdapterModel* model = adapter_of(pci_device);
  const bool is_mellanox = pci_device.empty() || pci_device.starts_with("15b3:");
  // Mellanox's adapters run InfiniBand and Ethernet, so the rate decides for them alone.
  if (model != nullptr && (gbps <= 0 || !is_mellanox)) return std::string(model->network);
  for (const PortRate& rate : kPortRates) {
    if (std::abs(gbps - rate.gbps) > 0.05 * rate.gbps) continue;
    const bool is_ethernet = is_ethernet_port || rate.infiniband.empty() || !is_mellanox ||
                             (model != nullptr && model->network.starts_with("roce"));
    return std::string(is_ethernet ? rate.ethernet : rate.infiniband);
  }
  return "";
}

std::string nearest_network(double gbps, bool is_ethernet) {
  const auto ratio = [gbps](const PortRate& rate) { return std::abs(std::log(rate.gbps / gbps)); };
  const PortRate& nearest = *std::ranges::min_element(kPortRates, {}, ratio);
  return std::string(is_ethernet || nearest.infiniband.empty() ? nearest.ethernet : nearest.infiniband);
}

std::string nearest_socket_network(double gbps) {
  constexpr int kSocketRates[] = {1, 10, 20, 25, 50, 100};
  constexpr double kUsualRate = 10;
  const auto ratio = [rate = gbps > 0 ? gbps : kUsualRate](int candidate) {
    return std::abs(std::log(candidate / rate));
  };
  return fmt::format("eth_{}_tcp", *std::ranges::min_element(kSocketRates, {}, ratio));
}

bool is_product(const Gpu& gpu, std::string_view product) { return is_product_named(gpu.name, product); }

std::vector<std::string> gpu_names_among(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  if (words.empty()) return out;
  const std::vector<Gpu> gpus = catalog_gpus();
  std::ranges::copy_if(words, std::back_inserter(out), [&gpus](const std::string& word) {
    // The word must name a product on its own: its first part has letters and digits, as in "v100-32g".
    const std::string first = word.substr(0, word.find_first_of("-_"));
    const bool has_letter =
        std::ranges::any_of(first, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
    const bool has_digit =
        std::ranges::any_of(first, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
    return has_letter && has_digit && std::ranges::any_of(gpus, [&](const Gpu& gpu) {
             return is_product(gpu, first) && is_product(gpu, word);
           });
  });
  return out;
}

RecognisedGpu recognised_gpu(const GpuTraits& traits) {
  std::vector<Gpu> gpus = catalog_gpus();
  const auto model = std::ranges::find(kGpuModels, traits.pci_device, &GpuModel::device);
  // A board in the table is certain, if the catalog still has it.
  if (model != std::end(kGpuModels) && std::ranges::find(gpus, model->gpu, &Gpu::name) != gpus.end())
    return {std::string(model->gpu), "PCI " + traits.pci_device};
  if (traits.pci_device.starts_with("1002:"))
    std::erase_if(gpus, [](const Gpu& gpu) { return !is_amd(gpu.architecture); });
  std::vector<Gpu> alike;
  for (const Gpu& gpu : gpus) {
    if (is_product(gpu, product_alone(traits.product))) alike.push_back(gpu);
  }
  // A product with several entries, such as sizes of memory, is decided by the other facts.
  if (alike.size() == 1) return {alike.front().name, "\"" + traits.product + "\""};
  if (alike.empty() && amd_number(traits.product) > 0) return nearest_of_amd(std::move(gpus), traits);
  if (alike.empty()) refuse_unknown_product(gpus, traits);
  return nearest_of(alike.empty() ? std::move(gpus) : std::move(alike), traits, what_is_known(traits));
}

}  // namespace foretrain

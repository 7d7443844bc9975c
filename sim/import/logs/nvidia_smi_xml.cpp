// Reader of nvidia-smi -q -x as a log: it gives facts about GPUs and driver, and no measurements.
// A PCIe link that is narrower or slower than it could be becomes a remark among the skipped lines. The
// reader of machines (sim/import/machines/gpu_query.cpp) takes the same file as a description of a node.
#include <algorithm>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// Returns the text at a path below an element; empty for N/A.
std::string text_at(const pugi::xml_node& node, const char* path) {
  const std::string text(trimmed(node.first_element_by_path(path).text().get()));
  return text == "N/A" || text == "[N/A]" ? "" : text.substr(0, 200);
}

/// Returns the first text that is there: names of elements changed between versions of the driver.
std::string first_of(const pugi::xml_node& node, std::initializer_list<const char*> paths) {
  for (const char* path : paths) {
    if (std::string text = text_at(node, path); !text.empty()) return text;
  }
  return "";
}

/// Returns the line of an element. Linear in the text, so it is called for few elements.
int line_of_node(const std::string& text, const pugi::xml_node& node) {
  const auto end =
      std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0)), text.size());
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

/// Returns the number at the beginning of "16x" or "4"; 0 when there is none.
std::int64_t count_of(const std::string& text) { return integer_behind(text, "").value_or(0); }

/// Compares width and generation of a GPU's link in use with the most that it can do.
void compare_link(const pugi::xml_node& gpu, int index, const std::string& text, SampleSheet& sheet) {
  const pugi::xml_node link = gpu.first_element_by_path("pci/pci_gpu_link_info");
  const auto width = count_of(text_at(link, "link_widths/current_link_width")),
             widest = count_of(text_at(link, "link_widths/max_link_width"));
  const auto generation = count_of(first_of(link, {"pcie_gen/current_link_gen"})),
             newest = count_of(first_of(link, {"pcie_gen/max_link_gen"}));
  if (width > 0 && width < widest)
    sheet.skip(line_of_node(text, link),
               fmt::format("remark: GPU {} has {} of {} PCIe lanes", index, width, widest));
  if (generation > 0 && generation < newest)
    sheet.skip(line_of_node(text, link),
               fmt::format("remark: GPU {} runs PCIe {} of {}; idle GPUs do", index, generation, newest));
  if (widest > 0) sheet.state("pcie", fmt::format("gen {} x{}", newest, widest));
}

}  // namespace

bool is_nvidia_smi_xml(std::string_view text) { return holds(text.substr(0, 4000), "<nvidia_smi_log"); }

void read_nvidia_smi_xml(const SourceText& source, const LogHints&, SampleSheet& sheet) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(source.text.data(), source.text.size());
  const pugi::xml_node log = document.child("nvidia_smi_log");
  if (!result)
    sheet.skip(1 + static_cast<int>(std::count(
                       source.text.begin(),
                       source.text.begin() + std::min<std::ptrdiff_t>(result.offset, std::ssize(source.text)),
                       '\n')),
               fmt::format("the XML ends or breaks here: {}", result.description()));
  sheet.state("driver", text_at(log, "driver_version"));
  sheet.state("cuda", text_at(log, "cuda_version"));
  sheet.state("date", text_at(log, "timestamp"));
  sheet.state("gpus", text_at(log, "attached_gpus"));
  int index = 0;
  for (const pugi::xml_node& gpu : log.children("gpu")) {
    sheet.state("gpu", text_at(gpu, "product_name"));
    sheet.state("power_limit",
                first_of(gpu, {"gpu_power_readings/current_power_limit", "gpu_power_readings/power_limit",
                               "power_readings/current_power_limit", "power_readings/power_limit"}));
    sheet.state("clock_sm_max", text_at(gpu, "max_clocks/sm_clock"));
    sheet.state("clock_sm", text_at(gpu, "clocks/sm_clock"));
    sheet.state("clock_memory", text_at(gpu, "clocks/mem_clock"));
    // The limit keeps a file with countless <gpu> elements from quadratic time.
    if (index < 1000) compare_link(gpu, index++, source.text, sheet);
  }
}

}  // namespace foretrain

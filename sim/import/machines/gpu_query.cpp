// Reader of nvidia-smi -q, as text ("Product Name : Tesla V100-SXM2-32GB") or XML (-q -x), and of nvidia-smi
// -L ("GPU 0: Tesla V100-SXM2-32GB (UUID: GPU-…)").
// Products, memory, PCIe lanes and MIG mode are taken. The files do not show where the GPUs hang, so the GPUs
// are only counted.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/machines/xml_source.hpp"

namespace foretrain {

namespace {

/// Limit of GPUs in one file.
constexpr int kMostQueriedGpus = 1000;

/// Keeps the first product. A node with several kinds is described by the first one, and a remark names the
/// other.
void take_product(Machine& machine, std::string_view product) {
  const std::string name(trimmed(product).substr(0, 200));
  if (name.empty() || name == "N/A") return;
  if (machine.gpu_product.empty()) machine.gpu_product = name;
  if (machine.gpu_product != name && machine.remarks.empty())
    machine.remarks.push_back(
        fmt::format("\"{}\" beside \"{}\": one kind of GPU stands for both", name, machine.gpu_product));
}

/// Returns the number at the beginning of "16x" or "81920 MiB"; 0 for "N/A".
std::int64_t leading_number(std::string_view value) {
  const std::size_t digits = std::min(value.find_first_not_of("0123456789"), value.size());
  return integer_of(value.substr(0, digits)).value_or(0);
}

/// The facts of one GPU of the listing besides its product. Lanes are those in use and the most that the card
/// has.
struct QueriedGpu {
  FactPlace place;
  std::int64_t lanes = 0, most_lanes = 0, mebibytes = 0;
  bool is_sliced = false;
};

/// Adds the facts of a GPU, with warnings about missing lanes and about MIG.
/// Idle GPUs lower the speed of their link but not its width, so only the width is judged.
void judge_query(Machine& machine, const QueriedGpu& gpu, int number) {
  if (machine.gpu_memory.count == 0)
    machine.gpu_memory = Bytes{std::clamp<std::int64_t>(gpu.mebibytes, 0, 1 << 28) << 20};
  if (gpu.lanes > 0 && gpu.lanes < gpu.most_lanes && gpu.most_lanes <= 32)
    machine.doubts.push_back(
        {gpu.place, fmt::format("gpu{} trained {} of its {} PCIe lanes", number, gpu.lanes, gpu.most_lanes),
         "reseat the card or its riser; right where the slot has no more"});
  if (gpu.is_sliced)
    machine.doubts.push_back({gpu.place, fmt::format("gpu{} is cut into slices (MIG)", number),
                              "this file describes the whole GPU; a job in a slice has a share of it"});
}

/// Reads the element <gpu> of the XML.
QueriedGpu gpu_of_xml(const pugi::xml_node& gpu, FactPlace place) {
  const pugi::xml_node widths = gpu.child("pci").child("pci_gpu_link_info").child("link_widths");
  return {std::move(place), leading_number(widths.child("current_link_width").text().get()),
          leading_number(widths.child("max_link_width").text().get()),
          leading_number(gpu.child("fb_memory_usage").child("total").text().get()),
          std::string_view(gpu.child("mig_mode").child("current_mig").text().get()) == "Enabled"};
}

/// Reads the indented text, in which values stand below headings: "Link Width", then "Max : 16x". Headings
/// are lines without " : ".
class QueryText {
 public:
  explicit QueryText(Machine& machine) : machine_(machine) {}

  /// Ends the GPU before and begins the next.
  void begin_gpu(FactPlace place) {
    end_gpu();
    gpu_ = QueriedGpu{std::move(place)};
    ++number_;
  }
  /// Takes a line. Keys such as "Max" and "Total" mean something only below their heading, so the last
  /// heading is kept.
  void take(const LogLine& line, const std::string& file) {
    const std::size_t colon = line.text.find(" : ");
    if (colon == std::string::npos) {
      heading_ = std::string(trimmed(line.text)).substr(0, 100);
      return;
    }
    const std::string_view key = trimmed(std::string_view(line.text).substr(0, colon));
    const std::string_view value = trimmed(std::string_view(line.text).substr(colon + 3));
    if (heading_ == "Link Width" && key == "Max") gpu_.most_lanes = leading_number(value);
    if (heading_ == "Link Width" && key == "Current") {
      gpu_.lanes = leading_number(value);
      gpu_.place = {file, line.number};
    }
    if (heading_ == "FB Memory Usage" && key == "Total") gpu_.mebibytes = leading_number(value);
    if (heading_.starts_with("MIG Mode") && key == "Current") gpu_.is_sliced = value == "Enabled";
  }
  /// Judges the open GPU, if any. Call it once more at the end of the text.
  void end_gpu() {
    if (number_ >= 0) judge_query(machine_, gpu_, number_);
  }

 private:
  Machine& machine_;
  QueriedGpu gpu_;
  std::string heading_;
  int number_ = -1;
};

/// Reads the XML of nvidia-smi -q -x.
Machine read_query_xml(const SourceText& source, Diagnostics& diagnostics) {
  const XmlSource xml(source, diagnostics);
  const pugi::xml_node log = xml.root("nvidia_smi_log");
  Machine machine;
  machine.place = {source.name, xml.span_of(log).line};
  for (const pugi::xml_node gpu : log.children("gpu")) {
    if (++machine.gpu_count > kMostQueriedGpus) break;
    take_product(machine, gpu.child("product_name").text().get());
    judge_query(machine, gpu_of_xml(gpu, {source.name, xml.span_of(gpu).line}), machine.gpu_count - 1);
  }
  if (machine.gpu_count == 0) diagnostics.report(xml.span_of(log), "no <gpu> in this log");
  return machine;
}

/// Reads the text of nvidia-smi -q. "Product Name" is the first fact of a GPU and begins it.
Machine read_query_text(const SourceText& source) {
  Machine machine;
  QueryText gpus(machine);
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    gpus.take(line, source.name);
    if (!holds(line.text, "Product Name")) continue;
    if (machine.gpu_count++ == 0) machine.place = {source.name, line.number};
    gpus.begin_gpu({source.name, line.number});
    take_product(machine, text_behind(line.text, ":"));
    if (machine.gpu_count > kMostQueriedGpus) break;
  }
  gpus.end_gpu();
  return machine;
}

/// Returns the product in a line such as "GPU 3: Tesla V100-SXM2-32GB (UUID: GPU-…)"; empty for other lines.
std::string_view listed_product(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::size_t colon = text.find(':'), uuid = text.find("(UUID");
  if (!text.starts_with("GPU ") || colon == std::string_view::npos || uuid == std::string_view::npos ||
      uuid < colon)
    return "";
  return integer_of(text.substr(4, colon - 4)) ? trimmed(text.substr(colon + 1, uuid - colon - 1)) : "";
}

}  // namespace

bool is_gpu_query(std::string_view text) {
  return holds(text.substr(0, 4000), "<nvidia_smi_log") ||
         (holds(text, "Product Name") && holds(text, "Attached GPUs"));
}

Machine read_gpu_query(const SourceText& source, Diagnostics& diagnostics) {
  const bool is_xml = holds(std::string_view(source.text).substr(0, 4000), "<nvidia_smi_log");
  return is_xml ? read_query_xml(source, diagnostics) : read_query_text(source);
}

bool is_gpu_list(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (!listed_product(line.text).empty()) return true;
  }
  return false;
}

/// Some commands repeat the list, so a line counts only if its number is the next one.
Machine read_gpu_list(const SourceText& source, Diagnostics&) {
  Machine machine;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    const std::string_view product = listed_product(line.text);
    if (product.empty() || integer_behind(line.text, "GPU").value_or(-1) != machine.gpu_count) continue;
    if (machine.gpu_count++ == 0) machine.place = {source.name, line.number};
    take_product(machine, product);
    if (machine.gpu_count >= kMostQueriedGpus) break;
  }
  return machine;
}

}  // namespace foretrain

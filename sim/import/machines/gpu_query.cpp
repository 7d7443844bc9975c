// nvidia-smi -q, as text or XML: products, PCI numbers and lanes of the GPUs; where they hang is not in it.
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

constexpr int kMostQueriedGpus = 1000;

/// Products as they are listed; a node with several kinds is described by the first.
void take_product(Machine& machine, std::string_view product) {
  const std::string name(trimmed(product).substr(0, 200));
  if (name.empty() || name == "N/A") return;
  if (machine.gpu_product.empty()) machine.gpu_product = name;
  if (machine.gpu_product != name && machine.remarks.empty())
    machine.remarks.push_back(
        fmt::format("\"{}\" beside \"{}\": one kind of GPU stands for both", name, machine.gpu_product));
}

Machine read_query_xml(const SourceText& source, Diagnostics& diagnostics) {
  const XmlSource xml(source, diagnostics);
  const pugi::xml_node log = xml.root("nvidia_smi_log");
  Machine machine;
  machine.place = {source.name, xml.span_of(log).line};
  for (const pugi::xml_node gpu : log.children("gpu")) {
    if (++machine.gpu_count > kMostQueriedGpus) break;
    take_product(machine, gpu.child("product_name").text().get());
  }
  if (machine.gpu_count == 0) diagnostics.report(xml.span_of(log), "no <gpu> in this log");
  return machine;
}

Machine read_query_text(const SourceText& source) {
  Machine machine;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    if (!holds(line.text, "Product Name")) continue;
    if (machine.gpu_count++ == 0) machine.place = {source.name, line.number};
    take_product(machine, text_behind(line.text, ":"));
    if (machine.gpu_count > kMostQueriedGpus) break;
  }
  return machine;
}

/// "GPU 3: Tesla V100-SXM2-32GB (UUID: GPU-…)" → the product; empty for other lines.
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

/// Lists are repeated by some commands; only the first of each number counts.
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

// The node of a cluster file, and node templates.
//
// A node with a template starts from the template: keys replace its values, and links are added to its links.
// If `nics` or `nics_at` is set, it describes the connections of all NICs anew, and the template's are
// dropped. A link group looks like this:
// [[node.links]]
// link = "nvlink3"
// mesh = ["gpu0", "gpu1", "gpu2", "gpu3"]
#include <array>

#include <fmt/format.h>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/cpu_models.hpp"
#include "sim/scenario/schema/cluster_tables.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

const std::vector<Choice<HostFamily>>& host_families() {
  using enum HostFamily;
  static const std::vector<Choice<HostFamily>> names{{"intel_broadwell", intel_broadwell},
                                                     {"intel_skylake", intel_skylake},
                                                     {"intel_sapphire_rapids", intel_sapphire_rapids},
                                                     {"intel_emerald_rapids", intel_emerald_rapids},
                                                     {"amd", amd},
                                                     {"power9", power9},
                                                     {"arm", arm}};
  return names;
}

namespace {

/// Distances between GPU and NIC that GPUDirect may be limited to.
constexpr std::array<PathClass, 5> kReaches{PathClass::pix, PathClass::pxb, PathClass::pxn, PathClass::phb,
                                            PathClass::sys};

/// Keys of [node.host].
const Keys<Host>& host_keys() {
  static const Keys<Host> keys{
      {"cpu", takes::text<&Host::cpu>(), "\"2x AMD EPYC 7H12\"", "none",
       "as lscpu prints it, with a number of sockets in front; one of `list cpus` says how fast the host "
       "updates and how fast one thread is"},
      {"family", takes::choice<&Host::family>(host_families()), "\"amd\"", "intel_skylake",
       "what NCCL tells apart when it books the link between sockets and chooses protocols"},
      {"cores", takes::integer<&Host::cores>(1, 1024), "40", kRequired, "of the whole node"},
      {"slowdown", takes::number<&Host::slowdown>(0.1, 20), "2.0",
       "that of `cpu` in `list cpus`, else required",
       "single-thread time / that of the reference core (Zen 5 at about 4 GHz), docs/models/host.md"},
      {"memory",
       {"size", [](TableReader& table, std::string_view key,
                   Host& host) { takes::put(table.bytes(key), host.memory); }},
       "\"384 GiB\"",
       "unknown",
       "of the node"},
      {"memory_bandwidth", takes::rate<&Host::memory_bandwidth>(), "\"10 GBps\"", kRequired,
       "one core's memcpy, for pinning batches"},
      {"nvme_read", takes::rate<&Host::nvme_read>(), "\"6 GBps\"", "unknown",
       "of all drives of the node that offload swaps to"},
      {"nvme_write", takes::rate<&Host::nvme_write>(), "\"3 GBps\"", "unknown", "the same, written"},
      {"power", takes::power<&Host::power_w>(), "\"800 W\"", "unknown",
       "of a working node without its GPUs"}};
  return keys;
}

/// Numbers of devices.
Keys<NodeSpec> count_keys() {
  return {
      {"gpus", takes::integer<&NodeSpec::gpus>(1, kMostGpusPerNode), "4", kRequired, "GPUs of a node"},
      {"cpus", takes::integer<&NodeSpec::cpus>(1, kMostCpusPerNode), "2", "1",
       "sockets, or NUMA domains with PCIe lanes of their own"},
      {"switches", takes::integer<&NodeSpec::switches>(0, kMostSwitchesPerNode), "2", "0", "PCIe switches"},
      {"nvswitches", takes::integer<&NodeSpec::nvswitches>(0, kMostSwitchesPerNode), "1", "0",
       "NVSwitches; those of a board may be one device"},
      {"nics", takes::integer<&NodeSpec::nics>(0, kMostNicsPerNode), "2", "0",
       "adapters, where links name their places; see nics_at"}};
}

/// Keys on what devices of the node can do.
Keys<NodeSpec> behaviour_keys() {
  return {{"peer_access", takes::flag<&NodeSpec::peer_access>(), "false", "true",
           "GPUs read each other over PCIe; otherwise traffic goes through host memory"},
          {"gpudirect", takes::flag<&NodeSpec::gpudirect>(), "false", "true",
           "adapters reach GPU memory (GPUDirect RDMA); otherwise messages go through host memory"},
          {"multicast", takes::flag<&NodeSpec::multicast>(), "true", "false",
           "NVSwitches reduce and multicast (NVLink SHARP, Hopper and later)"},
          {"gpudirect_reach", takes::choice<&NodeSpec::gpudirect_reach>(named(kReaches)), "\"PHB\"", "PXB",
           "the farthest adapter that does (NCCL_NET_GDR_LEVEL)"}};
}

/// Returns whether a link ends at a NIC.
bool touches_nic(const NodeLink& link) { return link.a.starts_with("nic") || link.b.starts_with("nic"); }

}  // namespace

/// The numbers are read before the links, whose ends are devices such as "gpu3".
const Keys<NodeReader>& NodeReader::device_keys() {
  static const Keys<NodeReader> keys =
      keys_within<NodeReader>(count_keys(), [](NodeReader& reader) -> NodeSpec& { return reader.node_; });
  return keys;
}

/// The order matters: `nic_link` is read before `nics_at`, which uses it.
const Keys<NodeReader>& NodeReader::other_keys() {
  const auto of_node = [](NodeReader& reader) -> NodeSpec& { return reader.node_; };
  static const Keys<NodeReader> keys =
      Keys<NodeReader>{{"gpu",
                        {"name or path",
                         [](TableReader& table, std::string_view key, NodeReader& node) {
                           if (table.has(key)) node.node_.gpu = node.gpus_.read(table, key);
                         }},
                        "\"a100-sxm4-40gb\"",
                        kRequired,
                        "one of `list gpus`, or a file"},
                       {"gpu_clock",
                        {"number",
                         [](TableReader& table, std::string_view key, NodeReader& node) {
                           node.node_.gpu.sustained_clock *= table.number(key, 0.1, 1).value_or(1);
                         }},
                        "0.9",
                        "1",
                        "what a power limit leaves of the GPU's clock"}} +
      keys_within<NodeReader>(behaviour_keys(), of_node) +
      Keys<NodeReader>{
          {"host",
           {"table",
            [](TableReader& table, std::string_view key, NodeReader& node) { node.read_host(table, key); }},
           "[host]",
           kRequired,
           "`[node.host]`, below"},
          {"links",
           {"list of tables",
            [](TableReader& table, std::string_view key, NodeReader& node) { node.read_links(table, key); }},
           "[[links]]",
           kRequired,
           "`[[node.links]]`, below; added to those of a template"},
          {"nic_link",
           {"name or path", [](TableReader& table, std::string_view key,
                               NodeReader& node) { node.nic_link_ = node.links_.read(table, key); }},
           "\"pcie4_x16\"",
           "required with nics_at",
           "between an adapter and its place"},
          {"nics_at",
           {"list of devices", [](TableReader& table, std::string_view key,
                                  NodeReader& node) { node.read_nic_places(table, key); }},
           "[\"cpu0\"]",
           "none",
           "one adapter at each of these places: a CPU or a PCIe switch"}};
  return keys;
}

/// `link` and `count` are read before the lists that use them.
const Keys<NodeReader::LinkGroup>& NodeReader::group_keys() {
  static const Keys<LinkGroup> keys{
      {"link",
       {"name or path", [](TableReader& table, std::string_view key,
                           LinkGroup& group) { group.type = group.node.links_.read(table, key); }},
       "\"pcie4_x16\"",
       kRequired,
       "one of `list links`, or a file"},
      {"count", takes::integer<&LinkGroup::count>(1, 1024), "4", "1",
       "parallel links between the two devices of a pair; their bandwidths add"},
      {"mesh",
       {"list of devices", [](TableReader& table, std::string_view key,
                              LinkGroup& group) { group.node.add_mesh(table, key, group); }},
       "[\"gpu0\", \"gpu1\"]",
       "none",
       "links every pair of them"},
      {"pairs",
       {"list of pairs", [](TableReader& table, std::string_view key,
                            LinkGroup& group) { group.node.add_pairs(table, key, group); }},
       "[[\"gpu0\", \"cpu0\"]]",
       "none",
       "links the pairs named; devices are gpu0, cpu0, switch0, nvswitch0, nic0, and so on"}};
  return keys;
}

/// A node has three tables: the node, its host, and its groups of links.
std::vector<KeyTable> node_key_tables() {
  return {{"`[node]`",
           "`node = \"dgx-a100\"` takes a template of `list nodes` as it is; `template` in the table begins "
           "with one, and then nothing is required. A template's own file has these keys without `node.`, "
           "and `description`.",
           described(NodeReader::device_keys() + NodeReader::other_keys())},
          {"`[node.host]`", "The CPU side of a node.", described(host_keys())},
          {"`[[node.links]]`", "Groups of connections inside a node; each has either mesh or pairs.",
           described(NodeReader::group_keys())}};
}

/// A node is read in two steps: the numbers of devices first, everything else second.
NodeSpec NodeReader::read(const Table& table, std::string path) {
  const std::size_t before = diagnostics_.found().size();
  TableReader reader(table, path, diagnostics_);
  start(reader, path.empty());
  read_part(reader, path, device_keys());
  // Mistakes in the numbers of devices make names in links unreliable.
  knows_devices_ = diagnostics_.found().size() == before;
  read_part(reader, path, other_keys());
  reader.finish();
  return std::move(node_);
}

/// Reads keys; a message names "[[links]]" of a template, but "[[node.links]]" of a cluster.
void NodeReader::read_part(TableReader& reader, const std::string& path, const Keys<NodeReader>& keys) {
  for (const Key<NodeReader>& key : keys) {
    const std::size_t brackets = path.empty() ? 0 : key.example.find_first_not_of('[');
    const bool is_below = brackets > 0;
    if (!from_template_ && key.fallback == kRequired)
      reader.require(key.name, is_below ? fmt::format("{}{}.{}", key.example.substr(0, brackets), path,
                                                      key.example.substr(brackets))
                                        : std::string(key.example));
    key.takes.read(reader, key.name, *this);
  }
}

/// Sets the values with which the node begins: those of the template, whose links get the place of
/// `template`.
void NodeReader::start(TableReader& reader, bool is_template) {
  from_template_ = !is_template && reader.has("template");
  if (from_template_) node_ = templates_.read(reader, "template");
  // Faults of the template's links are shown where the template is named.
  for (NodeLink& link : node_.links) link.span = reader.span_of("template");
  if (!from_template_) node_.gpus = 1;
  reader.string(is_template ? "description" : "template");
}

/// With a template no key is required.
void NodeReader::read_host(TableReader& reader, std::string_view key) {
  const Table* table = reader.table(key);
  if (table == nullptr) return;
  TableReader host(*table, reader.full_name(key), diagnostics_);
  if (from_template_)
    read_keys_over(host, host_keys(), node_.host);
  else
    read_keys(host, host_keys(), node_.host);
  take_speed_of_cpu(host);
  host.finish();
}

/// A CPU of the catalog determines the speed of one thread, also if the file names another CPU than its
/// template.
void NodeReader::take_speed_of_cpu(TableReader& host) {
  if (host.has("slowdown")) return;
  const CpuModel* cpu = host.has("cpu") ? find_cpu(node_.host.cpu) : nullptr;
  if (cpu != nullptr)
    node_.host.slowdown = cpu->slowdown;
  else if (!from_template_)
    host.require("slowdown", "2.0");
}

/// NICs that the file describes replace those of the template.
void NodeReader::read_links(TableReader& reader, std::string_view key) {
  if (reader.has("nics") || reader.has("nics_at")) std::erase_if(node_.links, touches_nic);
  const Array* tables = reader.array(key, kMostNodeLinks);
  if (tables == nullptr) return;
  for (const Value& value : *tables) {
    const Table* table = std::get_if<Table>(&value.data);
    if (table != nullptr)
      read_link_group(*table, value.span, reader.full_name(key));
    else
      reader.report(value.span, fmt::format("{} holds tables", reader.full_name(key)),
                    fmt::format("write [[{}]]", reader.full_name(key)));
  }
}

/// Adds NICs and their links: nics_at = ["switch0", "cpu1"] is two NICs; nic_link names the link of each.
void NodeReader::read_nic_places(TableReader& reader, std::string_view key) {
  const auto places = reader.strings(key, kMostNicsPerNode);
  if (!places) knows_devices_ = knows_devices_ && !reader.has(key);
  if (!places) return;
  // A stated number of NICs must fit the list.
  if (reader.has("nics") && node_.nics != static_cast<int>(places->size()))
    reader.report(reader.span_of("nics"),
                  fmt::format("{} does not fit {}, which has {} entries", reader.full_name("nics"),
                              reader.full_name("nics_at"), places->size()),
                  "leave it out: the list says how many there are");
  if (!reader.has("nic_link")) reader.require("nic_link", "\"pcie4_x16\"");
  node_.nics = static_cast<int>(places->size());
  // Without a link the NICs are counted, but not connected.
  if (nic_link_.name.empty()) return;
  for (std::size_t i = 0; i < places->size(); ++i)
    add_link(reader, {fmt::format("nic{}", i), (*places)[i], nic_link_, 1, reader.span_of(key)});
}

/// Both lists, or none of them, are a mistake; the group is read all the same, to report others.
void NodeReader::read_link_group(const Table& table, SourceSpan span, std::string path) {
  TableReader reader(table, std::move(path), diagnostics_);
  LinkGroup group{*this};
  if (reader.has("mesh") == reader.has("pairs"))
    reader.report(span,
                  reader.has("mesh") ? "a group of links has mesh or pairs, not both"
                                     : "a group of links needs mesh or pairs",
                  R"(mesh = ["gpu0", "gpu1"] links every pair, pairs = [["gpu0", "cpu0"]] the pairs named)");
  const std::size_t before = node_.links.size();
  read_keys(reader, group_keys(), group);
  reader.finish();
  // If both lists are given, neither is used: links of both would be there twice.
  if (reader.has("mesh") && reader.has("pairs")) node_.links.resize(before);
}

/// The limit holds for all groups together.
void NodeReader::add_link(TableReader& reader, NodeLink link) {
  if (node_.links.size() < kMostNodeLinks) return node_.links.push_back(std::move(link));
  reader.report(link.span, fmt::format("a node may have at most {} links", kMostNodeLinks));
}

/// The number of links is quadratic in the devices.
void NodeReader::add_mesh(TableReader& reader, std::string_view key, const LinkGroup& group) {
  const auto devices = reader.strings(key, kMostGpusPerNode);
  if (!devices) return;
  for (std::size_t a = 0; a < devices->size(); ++a) {
    for (std::size_t b = a + 1; b < devices->size(); ++b)
      add_link(reader, {(*devices)[a], (*devices)[b], group.type, group.count, reader.span_of(key)});
  }
}

/// Each pair is checked on its own, so that one wrong pair does not hide the rest.
void NodeReader::add_pairs(TableReader& reader, std::string_view key, const LinkGroup& group) {
  const Array* pairs = reader.array(key, kMostNodeLinks);
  if (pairs == nullptr) return;
  for (const Value& value : *pairs) {
    if (const auto pair = read_pair(reader, value))
      add_link(reader, {pair->first, pair->second, group.type, group.count, value.span});
  }
}

/// Whether the devices exist is checked later, with the whole node.
std::optional<std::pair<std::string, std::string>> read_pair(TableReader& reader, const Value& value) {
  const Array* pair = std::get_if<Array>(&value.data);
  const bool two = pair != nullptr && pair->size() == 2;
  const std::string* a = two ? std::get_if<std::string>(&(*pair)[0].data) : nullptr;
  const std::string* b = two ? std::get_if<std::string>(&(*pair)[1].data) : nullptr;
  if (a != nullptr && b != nullptr) return std::pair(*a, *b);
  reader.report(value.span, "a pair is two device names", R"(as in ["gpu0", "cpu0"])");
  return std::nullopt;
}

/// A template is checked as a cluster of one node without a network.
NodeSpec read_node_template(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  ClusterSpec alone;
  alone.node = NodeReader(diagnostics).read(table, "");
  alone.fabric.kind = "none";
  // The node is checked only if its text had no mistake.
  if (!diagnostics.empty()) return alone.node;
  for (const ClusterFault& fault : check(alone)) {
    if (diagnostics.found().size() >= Diagnostics::kMostDiagnostics) break;
    const SourceSpan span =
        fault.link >= 0 ? alone.node.links[static_cast<std::size_t>(fault.link)].span : SourceSpan{};
    diagnostics.report(span, fault.message, fault.hint);
  }
  return alone.node;
}

}  // namespace foretrain

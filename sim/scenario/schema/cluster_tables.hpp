// The readers of a cluster file's tables: node, its host and links, fabric, storage, site.
#pragma once

#include "sim/scenario/schema/cluster_keys.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/part_reader.hpp"

namespace foretrain {

/// Largest number of links that a node or an `explicit` fabric may list.
inline constexpr std::size_t kMostNodeLinks = 4096, kMostGraphLinks = 100'000;

/// Reads the keys of a node over the values that `node` has already. Without a template, the keys that every
/// node needs are required. A reader is used for one node.
class NodeReader {
 public:
  explicit NodeReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  /// Reads a table. `path` is the table's name; it is empty for a template's document, which may have
  /// `description` but not `template`.
  NodeSpec read(const Table& table, std::string path);
  /// Returns whether the numbers of devices were read without a mistake. They determine which names a link
  /// may have.
  bool knows_devices() const { return knows_devices_; }

 private:
  /// A table of [[node.links]] while it is read.
  struct LinkGroup {
    NodeReader& node;
    LinkType type{};
    int count = 1;
  };
  /// Keys with numbers of devices; links refer to these devices, so they are read first.
  static const Keys<NodeReader>& device_keys();
  /// All other keys of a node.
  static const Keys<NodeReader>& other_keys();
  /// Keys of [[node.links]].
  static const Keys<LinkGroup>& group_keys();
  friend std::vector<KeyTable> node_key_tables();

  /// Sets the values with which the node begins: those of its template, or the defaults.
  void start(TableReader& reader, bool is_template);
  /// Reads some keys, and reports missing ones under the name of the table that the file has.
  void read_part(TableReader& reader, const std::string& path, const Keys<NodeReader>& keys);
  /// Reads the table of the host.
  void read_host(TableReader& reader, std::string_view key);
  /// Takes the speed of one thread from the catalog of CPUs, or requires it.
  void take_speed_of_cpu(TableReader& host);
  /// Reads the groups of links; whoever describes NICs replaces the links of the template's NICs.
  void read_links(TableReader& reader, std::string_view key);
  /// Adds a NIC and a link for each place.
  void read_nic_places(TableReader& reader, std::string_view key);
  /// Reads one group; exactly one of mesh and pairs must be present.
  void read_link_group(const Table& table, SourceSpan span, std::string path);
  /// Adds a link; reports more than kMostNodeLinks.
  void add_link(TableReader& reader, NodeLink link);
  /// Adds a link between every two devices of a list.
  void add_mesh(TableReader& reader, std::string_view key, const LinkGroup& group);
  /// Adds a link for each pair of a list.
  void add_pairs(TableReader& reader, std::string_view key, const LinkGroup& group);

  Diagnostics& diagnostics_;
  /// The node so far, and the link between NICs and their places.
  NodeSpec node_;
  LinkType nic_link_{};
  /// Values come from a template; numbers of devices have no mistake.
  bool from_template_ = false, knows_devices_ = true;
  /// Parts of the node by name; each is read once.
  PartReader<Gpu> gpus_{CatalogKind::gpus, read_gpu};
  PartReader<LinkType> links_{CatalogKind::links, read_link_type};
  PartReader<NodeSpec> templates_{CatalogKind::nodes, read_node_template};
};

/// Reads the table [fabric] of a document; the fabric is "none" when there is no table.
FabricSpec read_fabric(TableReader& document);  // schema_fabric.cpp

/// Reads the tables [storage.KIND] of a document. Kinds without a table are not in the result.
std::vector<StorageSpec> read_storage(TableReader& document);  // schema_storage.cpp

/// Reads the table [site] of a document: how jobs get the cluster. There is no batch system when there is no
/// table.
Site read_site(TableReader& document);  // schema_site.cpp

/// Reads two device names in square brackets; reports anything else and returns nullopt.
std::optional<std::pair<std::string, std::string>> read_pair(TableReader& reader, const Value& value);

}  // namespace foretrain

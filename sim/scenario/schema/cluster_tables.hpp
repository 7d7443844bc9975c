// The tables of a cluster file: node, its host and links, fabric.
#pragma once

#include "sim/scenario/schema/cluster_keys.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/part_reader.hpp"

namespace foretrain {

/// Most links a node or an `explicit` fabric may list.
inline constexpr std::size_t kMostNodeLinks = 4096, kMostGraphLinks = 100'000;

/// Reads the keys of a node over what `node` holds already. With nothing in it, the keys that every node
/// needs are required.
class NodeReader {
 public:
  explicit NodeReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  /// `path` is the table's name, empty for a template's document, where `description` may stand and
  /// `template` may not.
  NodeSpec read(const Table& table, std::string path);
  /// Whether the numbers of devices were read without a mistake: they say which names a link may have.
  bool knows_devices() const { return knows_devices_; }

 private:
  struct LinkGroup {
    NodeReader& node;
    LinkType type{};
    int count = 1;
  };
  static const Keys<NodeReader>& device_keys();
  static const Keys<NodeReader>& other_keys();
  static const Keys<LinkGroup>& group_keys();
  friend std::vector<KeyTable> node_key_tables();

  void start(TableReader& reader, bool is_template);
  void read_part(TableReader& reader, const std::string& path, const Keys<NodeReader>& keys);
  void read_host(TableReader& reader, std::string_view key);
  void take_speed_of_cpu(TableReader& host);
  void read_links(TableReader& reader, std::string_view key);
  void read_nic_places(TableReader& reader, std::string_view key);
  void read_link_group(const Table& table, SourceSpan span, std::string path);
  void add_link(TableReader& reader, NodeLink link);
  void add_mesh(TableReader& reader, std::string_view key, const LinkGroup& group);
  void add_pairs(TableReader& reader, std::string_view key, const LinkGroup& group);

  Diagnostics& diagnostics_;
  NodeSpec node_;
  LinkType nic_link_{};
  bool from_template_ = false, knows_devices_ = true;
  PartReader<Gpu> gpus_{CatalogKind::gpus, read_gpu};
  PartReader<LinkType> links_{CatalogKind::links, read_link_type};
  PartReader<NodeSpec> templates_{CatalogKind::nodes, read_node_template};
};

/// Reads the table [fabric] of a document; the fabric "none" when there is none.
FabricSpec read_fabric(TableReader& document);  // schema_fabric.cpp

/// Reads the tables [storage.KIND] of a document.
std::vector<StorageSpec> read_storage(TableReader& document);  // schema_storage.cpp

/// Reads the table [site] of a document: how jobs get the cluster; no batch system when there is none.
Site read_site(TableReader& document);  // schema_site.cpp

/// Two device names in square brackets; reports anything else and returns nothing.
std::optional<std::pair<std::string, std::string>> read_pair(TableReader& reader, const Value& value);

}  // namespace foretrain

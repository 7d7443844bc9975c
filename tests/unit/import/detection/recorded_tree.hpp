// A folder that looks like the sys/ and proc/ of a machine, made file by file; it goes away at the end.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <stdlib.h>

namespace foretrain::test {

/// What a device tells of its link: both widths, both speeds.
struct RecordedLink {
  int lanes = 16, most_lanes = 16;
  std::string speed = "16.0 GT/s PCIe", most_speed = "16.0 GT/s PCIe";
};

class RecordedTree {
 public:
  RecordedTree() {
    std::string name = (std::filesystem::temp_directory_path() / "foretrain-tree-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = name;
  }
  ~RecordedTree() { std::filesystem::remove_all(root_); }
  RecordedTree(const RecordedTree&) = delete;
  RecordedTree& operator=(const RecordedTree&) = delete;

  std::string root() const { return root_.string(); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::create_symlink(target, root_ / path);
  }

  /// `nodes` NUMA nodes of a package each, with two threads on each of their cores.
  void processors(int nodes, int cores_per_node, const std::string& cpuinfo) const {
    const int cores = nodes * cores_per_node;
    for (int node = 0; node < nodes; ++node) {
      const int first = node * cores_per_node, last = first + cores_per_node - 1;
      write(fmt::format("sys/devices/system/node/node{}/cpulist", node),
            fmt::format("{}-{},{}-{}", first, last, first + cores, last + cores));
    }
    for (int thread = 0; thread < 2 * cores; ++thread) {
      const std::string topology = fmt::format("sys/devices/system/cpu/cpu{}/topology/", thread);
      write(topology + "core_cpus_list", fmt::format("{},{}", thread % cores, thread % cores + cores));
      write(topology + "physical_package_id", std::to_string(thread % cores / cores_per_node));
    }
    write("sys/devices/system/node/online", "0");  // no folder of a node
    write("proc/cpuinfo", cpuinfo);
  }

  /// A device or bridge below `above`, which is a path under sys/devices; its own path.
  std::string pci(const std::string& above, const std::string& address, const std::string& pci_class,
                  const std::string& id, int numa, const RecordedLink& of_link = {}) const {
    const std::string path = above + "/" + address, folder = "sys/devices/" + path + "/";
    write(folder + "class", pci_class);
    write(folder + "vendor", "0x" + id.substr(0, 4));
    write(folder + "device", "0x" + id.substr(5));
    write(folder + "numa_node", std::to_string(numa));
    write(folder + "current_link_width", std::to_string(of_link.lanes));
    write(folder + "max_link_width", std::to_string(of_link.most_lanes));
    write(folder + "current_link_speed", of_link.speed);
    write(folder + "max_link_speed", of_link.most_speed);
    link("sys/bus/pci/devices/" + address, "../../../devices/" + path);
    return path;
  }

  void rdma(const std::string& device, const std::string& name, const std::string& rate,
            const std::string& state) const {
    const std::string path = device + "/infiniband/" + name;
    write("sys/devices/" + path + "/ports/1/rate", rate);
    write("sys/devices/" + path + "/ports/1/state", state);
    link("sys/class/infiniband/" + name, "../../devices/" + path);
  }

  void net(const std::string& device, const std::string& name, const std::string& megabits,
           const std::string& state) const {
    const std::string path = device + "/net/" + name;
    write("sys/devices/" + path + "/speed", megabits);
    write("sys/devices/" + path + "/operstate", state);
    link("sys/class/net/" + name, "../../devices/" + path);
  }

 private:
  std::filesystem::path root_;
};

inline constexpr const char* kEpyc =
    "processor : 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 49\nmodel name\t: AMD EPYC 7742 64-Core Processor";
inline constexpr const char* kIceLake =
    "processor : 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 106\nmodel name\t: Intel(R) Xeon(R) Gold 6342";
inline constexpr const char* kBridgeClass = "0x060400";
inline constexpr const char* kGpuClass = "0x030200";
inline constexpr const char* kInfinibandClass = "0x020700";
inline constexpr const char* kEthernetClass = "0x020000";

}  // namespace foretrain::test

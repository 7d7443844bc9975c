// The cluster of a made scenario: GPUs on PCIe or NVLink, adapters, and a network of any kind.
#include "tests/fuzz/scenarios/made_cluster.hpp"

#include <fmt/format.h>

namespace foretrain::test {

namespace {

std::string_view gpu_on(bool nvlink, Choices& choices) {
  return nvlink ? choices.one_of({"v100-sxm2-32gb", "a100-sxm4-40gb", "h100-sxm5-80gb", "p100-sxm2-16gb"})
                : choices.one_of(
                      {"v100-pcie-16gb", "a100-pcie-40gb", "t4", "k80", "rtx-3090", "h100-pcie-80gb"});
}

std::string list_of(std::string_view noun, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += fmt::format("{}\"{}{}\"", i > 0 ? ", " : "", noun, i);
  return list;
}

/// Every GPU, and every adapter, at the CPU whose turn it is.
std::string pairs_with_cpus(std::string_view noun, int count, int cpus) {
  std::string pairs;
  for (int i = 0; i < count; ++i)
    pairs += fmt::format("{}[\"{}{}\", \"cpu{}\"]", i > 0 ? ", " : "", noun, i, i % cpus);
  return pairs;
}

std::string node_links(const MadeCluster& made, bool nvlink, int cpus, int nics, Choices& choices) {
  const std::string_view pcie = choices.one_of({"pcie3_x16", "pcie4_x16", "pcie4_x8"});
  std::string text = fmt::format("[[node.links]]\nlink = \"{}\"\npairs = [{}]\n", pcie,
                                 pairs_with_cpus("gpu", made.gpus_per_node, cpus));
  if (nics > 0)
    text += fmt::format("[[node.links]]\nlink = \"{}\"\npairs = [{}]\n", pcie,
                        pairs_with_cpus("nic", nics, cpus));
  if (cpus == 2) text += "[[node.links]]\nlink = \"upi_10_4\"\npairs = [[\"cpu0\", \"cpu1\"]]\n";
  if (!nvlink || made.gpus_per_node == 1) return text;
  const std::string_view link = choices.one_of({"nvlink2", "nvlink3"});
  return text + fmt::format("[[node.links]]\nlink = \"{}\"\ncount = {}\nmesh = [{}]\n", link,
                            choices.between(1, 3), list_of("gpu", made.gpus_per_node));
}

/// What only the kind has.
std::string fabric_options(std::string_view kind, int nodes, Choices& choices) {
  const int leaf = choices.between(1, 2);
  if (kind == "fat_tree" || kind == "rail_optimized")
    return fmt::format("nodes_per_leaf = {}\nuplinks_per_leaf = {}\n", leaf, choices.between(1, 2));
  if (kind == "dragonfly")
    return fmt::format("groups = {}\nrouters_per_group = 2\nnodes_per_router = 1\nglobal_links = {}\n",
                       (nodes + 1) / 2, choices.between(1, 2));
  if (kind == "torus") return fmt::format("dimensions = [{}]\n", nodes);
  return {};
}

std::string fabric_of(MadeCluster& made, Units units, Choices& choices) {
  if (made.nodes == 1) return {};
  made.fabric = choices.one_of({"star", "fat_tree", "rail_optimized", "dragonfly", "torus"});
  std::string text =
      fmt::format("[fabric]\nkind = \"{}\"\nlink = \"{}\"\nswitch_latency = \"{}\"\n", made.fabric,
                  choices.one_of({"ib_hdr100", "ib_edr", "ib_ndr", "eth_10_tcp", "eth_1_tcp", "roce_100",
                                  "efa_100", "slingshot11"}),
                  units == Units::usual ? "0.3 us" : "300 ns");
  text += fabric_options(made.fabric, made.nodes, choices);
  if (choices.one_in(3)) text += fmt::format("background_load = 0.{}\n", choices.between(0, 4));
  if (choices.one_in(4)) text += "ecmp = \"flow\"\n";
  return text;
}

}  // namespace

MadeCluster make_cluster(Choices& choices, Units units) {
  MadeCluster made;
  made.nodes = choices.between(1, 5), made.gpus_per_node = choices.between(1, 4);
  const bool nvlink = choices.one_in(2);
  const int cpus = choices.between(1, 2), nics = made.nodes > 1 ? choices.between(1, 2) : 0;
  const std::string_view gpu = gpu_on(nvlink, choices);
  made.text = fmt::format("nodes = {}\n[node]\ngpus = {}\ngpu = \"{}\"\ncpus = {}\nnics = {}\n", made.nodes,
                          made.gpus_per_node, gpu, cpus, nics);
  if (choices.one_in(3)) made.text += "peer_access = false\n";
  if (choices.one_in(3)) made.text += "gpudirect = false\n";
  const std::string_view family =
      choices.one_of({"intel_skylake", "amd", "intel_broadwell", "power9", "arm"});
  const int cores = choices.between(4, 40), tenths = choices.below(10);
  made.text += fmt::format(
      "[node.host]\nfamily = \"{}\"\ncores = {}\nslowdown = 1.{}\nmemory = \"{}\"\nmemory_bandwidth = "
      "\"{}\"\n",
      family, cores, tenths, units == Units::usual ? "256 GiB" : "262144 MiB",
      units == Units::usual ? "8 GBps" : "64 Gbps");
  made.text += node_links(made, nvlink, cpus, nics, choices);
  made.text += fabric_of(made, units, choices);
  return made;
}

}  // namespace foretrain::test

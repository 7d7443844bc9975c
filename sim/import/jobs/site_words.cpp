// The table has a row for each word; the user guides of the centres say what each word is.
// Words that mean different things at different centres (gpu, batch, regular) have no row.
#include "sim/import/jobs/site_words.hpp"

#include <algorithm>
#include <iterator>

namespace foretrain {

namespace {

/// Short names for the table.
constexpr BatchSystem kGe = BatchSystem::grid_engine, kPbs = BatchSystem::pbs;

/// The columns are batch system, word, GPUs and CPU cores.
constexpr SiteWord kSiteWords[] = {
    // ABCI 2.0, resource types (docs.abci.ai/v2/en/job-execution): V100 and A100 nodes.
    {kGe, "rt_F", 4, 40},
    {kGe, "rt_G.large", 4, 20},
    {kGe, "rt_G.small", 1, 5},
    {kGe, "rt_C.large", 0, 20},
    {kGe, "rt_C.small", 0, 5},
    {kGe, "rt_AF", 8, 72},
    {kGe, "rt_AG.small", 1, 9},
    {kGe, "rt_M.large", 0, 8},
    {kGe, "rt_M.small", 0, 4},
    // TSUBAME 4.0, resource types (t4.gsic.titech.ac.jp/docs/handbook.en/jobs): H100 nodes with 192 cores.
    {kGe, "node_f", 4, 192},
    {kGe, "node_h", 2, 96},
    {kGe, "node_q", 1, 48},
    {kGe, "gpu_1", 1, 8},
    {kGe, "cpu_160", 0, 160},
    {kGe, "cpu_80", 0, 80},
    {kGe, "cpu_40", 0, 40},
    {kGe, "cpu_16", 0, 16},
    {kGe, "cpu_8", 0, 8},
    {kGe, "cpu_4", 0, 4},
    // TSUBAME 3.0, resource types (t3.gsic.titech.ac.jp/docs/handbook.en/jobs): P100 nodes with 28 cores.
    {kGe, "f_node", 4, 28},
    {kGe, "h_node", 2, 14},
    {kGe, "q_node", 1, 7},
    {kGe, "s_gpu", 1, 2},
    {kGe, "s_core", 0, 1},
    {kGe, "q_core", 0, 4},
    // ABCI 3.0, queues (docs.abci.ai/v3/en/job-execution): H200 nodes with 192 CPUs.
    {kPbs, "rt_HF", 8, 192},
    {kPbs, "rt_HG", 1, 16},
    {kPbs, "rt_HC", 0, 32},
    // Gadi, queues (opus.nci.org.au: Gadi Queue Limits): GPUs and CPUs of a node.
    {kPbs, "gpuvolta", 4, 48},
    {kPbs, "dgxa100", 8, 128},
    {kPbs, "gpuhopper", 4, 48},
    // Miyabi-G, queues (Miyabi System User's Guide): one GH200 a node.
    {kPbs, "regular-g", 1, 72},
    {kPbs, "short-g", 1, 72},
    {kPbs, "debug-g", 1, 72},
    {kPbs, "interact-g", 1, 72},
    // ALCF, the host property system=… (docs.alcf.anl.gov): whole nodes; Polaris 4 A100 and 32 cores, Sophia
    // 8 A100 and 128.
    {kPbs, "polaris", 4, 32},
    {kPbs, "sophia", 8, 128},
};

}  // namespace

std::span<const SiteWord> site_words() { return kSiteWords; }

const SiteWord* find_site_word(BatchSystem system, std::string_view word) {
  const auto found = std::ranges::find_if(
      kSiteWords, [&](const SiteWord& row) { return row.system == system && row.word == word; });
  return found == std::end(kSiteWords) ? nullptr : &*found;
}

}  // namespace foretrain

// Reads environment variables of Horovod, NCCL, BytePS, TensorFlow and OpenMP (horovod/common/common.h and
// the user guides of each), as a file or as a job script sets them:
//
//   export NCCL_ALGO=Ring
//   HOROVOD_FUSION_THRESHOLD=67108864
//
// It also reads horovodrun's own file (horovod/runner/common/util/config_parser.py). Variables that are not
// in the tables have no known influence.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Largest value of strategy.cpu_threads.
constexpr double kMostHostThreads = 1024;

/// Variables that one row describes whole.
constexpr KeyRule kEnvironmentRules[] = {
    // Horovod.
    {"HOROVOD_FUSION_THRESHOLD", KeyReads::bytes, "strategy.fusion_threshold"},
    {"HOROVOD_CYCLE_TIME", KeyReads::milliseconds, "strategy.cycle_time"},
    {"HOROVOD_CACHE_CAPACITY", KeyReads::integer, "strategy.cache_capacity"},
    {"HOROVOD_BATCH_D2D_MEMCOPIES", KeyReads::flag, "strategy.batch_copies"},
    {"HOROVOD_HIERARCHICAL_ALLREDUCE", KeyReads::flag, "strategy.hierarchical_allreduce"},
    {"HOROVOD_TORUS_ALLREDUCE", KeyReads::flag, "strategy.torus_allreduce"},
    {"HOROVOD_HIERARCHICAL_ALLGATHER", KeyReads::unmodelled, {}, "all-gathers over shared memory", "0"},
    {"HOROVOD_AUTOTUNE",
     KeyReads::unmodelled,
     {},
     "threshold and cycle time change while the run goes on",
     "0"},
    {"HOROVOD_NUM_NCCL_STREAMS", KeyReads::unmodelled, {}, "messages in several streams", "1"},
    {"HOROVOD_DISABLE_GROUP_FUSION", KeyReads::usual},
    {"HOROVOD_ENABLE_ASYNC_COMPLETION",
     KeyReads::unmodelled,
     {},
     "the background thread does not wait for messages",
     "0"},
    {"HOROVOD_ENABLE_XLA_OPS", KeyReads::unmodelled, {}, "collectives inside of XLA", "0"},
    {"HOROVOD_TIMELINE", KeyReads::unmodelled, {}, "writing the timeline costs time"},
    {"HOROVOD_GPU_OPERATIONS", KeyReads::unmodelled, {}, "collectives that are not NCCL's", "NCCL"},
    {"HOROVOD_GPU_ALLREDUCE", KeyReads::unmodelled, {}, "all-reduces that are not NCCL's", "NCCL"},
    {"HOROVOD_GPU_BROADCAST", KeyReads::nothing},
    {"HOROVOD_GPU_ALLGATHER", KeyReads::nothing},
    {"HOROVOD_ADASUM_MPI_CHUNK_SIZE", KeyReads::nothing},
    {"HOROVOD_THREAD_AFFINITY", KeyReads::nothing},
    // NCCL, with the newer names of its limits (CTAs).
    {"NCCL_MIN_NCHANNELS", KeyReads::integer, "nccl.min_channels"},
    {"NCCL_MIN_CTAS", KeyReads::integer, "nccl.min_channels"},
    {"NCCL_MAX_NCHANNELS", KeyReads::integer, "nccl.max_channels"},
    {"NCCL_MAX_CTAS", KeyReads::integer, "nccl.max_channels"},
    {"NCCL_NTHREADS", KeyReads::integer, "nccl.threads"},
    {"NCCL_BUFFSIZE", KeyReads::bytes, "nccl.buffer"},
    {"NCCL_COLLNET_ENABLE", KeyReads::flag, "nccl.collnet"},
    {"NCCL_P2P_DISABLE", KeyReads::inverse, "nccl.p2p"},
    {"NCCL_PXN_DISABLE", KeyReads::inverse, "nccl.pxn"},
    {"NCCL_IB_DISABLE", KeyReads::unmodelled, {}, "TCP instead of InfiniBand", "0"},
    {"NCCL_SHM_DISABLE", KeyReads::unmodelled, {}, "the network instead of host memory", "0"},
    {"NCCL_NET_GDR_LEVEL", KeyReads::unmodelled, {}, "how far GPUDirect RDMA reaches; nccl.gdr says whether"},
    {"NCCL_P2P_LEVEL", KeyReads::unmodelled, {}, "how far peer access reaches; nccl.p2p says whether"},
    {"NCCL_IB_QPS_PER_CONNECTION", KeyReads::unmodelled, {}, "several connections for each pair", "1"},
    {"NCCL_IB_HCA", KeyReads::unmodelled, {}, "some adapters only; the cluster's file says which there are"},
    {"NCCL_GRAPH_FILE", KeyReads::unmodelled, {}, "channels that NCCL did not search for"},
    {"NCCL_TOPO_FILE", KeyReads::unmodelled, {}, "a topology of its own; foretrain topology import reads it"},
    {"NCCL_TUNER_PLUGIN", KeyReads::unmodelled, {}, "a plug-in chooses algorithms"},
    // Variables of BytePS, CUDA and PyTorch.
    {"BYTEPS_PARTITION_BYTES", KeyReads::bytes, "strategy.partition_bytes"},
    {"CUDA_LAUNCH_BLOCKING", KeyReads::unmodelled, {}, "the host waits for every kernel", "0"},
    {"TORCH_DISTRIBUTED_DEBUG", KeyReads::unmodelled, {}, "checks in every step", "OFF"},
    {"TORCH_NCCL_BLOCKING_WAIT", KeyReads::unmodelled, {}, "the host waits for every collective", "0"},
    {"NCCL_BLOCKING_WAIT", KeyReads::unmodelled, {}, "the host waits for every collective", "0"}};

/// Reads one of NCCL's choices. NCCL's lists may ask for one word, for several, or rule words out (^); only a
/// single word can be a setting of the scenario.
void read_nccl_choice(SettingsReading& reading, const char* path, const char* key) {
  const auto said = reading.word({path});
  if (!said) return;
  std::string word = *said;
  std::erase_if(word, [](char c) { return c == '_' || c == ' '; });
  if (word.find_first_of("^,:;") != std::string::npos)
    return reading.fate(KeyFate::not_modelled, "a choice among several");
  reading.effect({{key, toml_text(word)}});
}

/// Returns whether a variable belongs to a library whose settings are read.
bool is_ours(std::string_view name) {
  return name.starts_with("HOROVOD_") || name.starts_with("NCCL_") || name.starts_with("BYTEPS_") ||
         name == "TF_GPU_THREAD_MODE" || name == "CUDA_LAUNCH_BLOCKING" || name == "OMP_NUM_THREADS" ||
         name.starts_with("TORCH_");
}

/// Keys of horovodrun: below `params` and other sections in its file, by themselves on its command line.
constexpr KeyRule kHorovodrunRules[] = {
    {"params.fusion_threshold_mb", KeyReads::mebibytes, "strategy.fusion_threshold"},
    {"fusion_threshold_mb", KeyReads::mebibytes, "strategy.fusion_threshold"},
    {"params.cycle_time_ms", KeyReads::milliseconds, "strategy.cycle_time"},
    {"cycle_time_ms", KeyReads::milliseconds, "strategy.cycle_time"},
    {"params.cache_capacity", KeyReads::integer, "strategy.cache_capacity"},
    {"cache_capacity", KeyReads::integer, "strategy.cache_capacity"},
    {"params.hierarchical_allreduce", KeyReads::flag, "strategy.hierarchical_allreduce"},
    {"hierarchical_allreduce", KeyReads::flag, "strategy.hierarchical_allreduce"},
    {"no_hierarchical_allreduce", KeyReads::inverse, "strategy.hierarchical_allreduce"},
    {"params.torus_allreduce", KeyReads::flag, "strategy.torus_allreduce"},
    {"torus_allreduce", KeyReads::flag, "strategy.torus_allreduce"},
    {"params.hierarchical_allgather", KeyReads::unmodelled, {}, "all-gathers over shared memory"},
    {"hierarchical_allgather", KeyReads::unmodelled, {}, "all-gathers over shared memory"},
    {"autotune.enabled", KeyReads::unmodelled, {}, "threshold and cycle time change while the run goes on"},
    {"autotune", KeyReads::unmodelled, {}, "threshold and cycle time change while the run goes on"},
    {"autotune.*", KeyReads::nothing},
    {"params.*", KeyReads::nothing},
    {"timeline.filename", KeyReads::unmodelled, {}, "writing the timeline costs time"},
    {"timeline_filename", KeyReads::unmodelled, {}, "writing the timeline costs time"},
    {"timeline.*", KeyReads::nothing},
    {"stall_check.*", KeyReads::nothing},
    {"library_options.num_nccl_streams", KeyReads::unmodelled, {}, "messages in several streams", "1"},
    {"library_options.*", KeyReads::nothing},
    {"logging.*", KeyReads::nothing},
    {"verbose", KeyReads::nothing},
    {"disable_cache", KeyReads::nothing},
    {"start_timeout", KeyReads::nothing},
    {"network_interface", KeyReads::nothing},
    {"hosts", KeyReads::nothing},
    {"hostfile", KeyReads::nothing},
    {"ssh_port", KeyReads::nothing}};

}  // namespace

/// The names are those of the functions below, then those of the table.
const std::vector<std::string_view>& library_variables() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names{"NCCL_ALGO",      "NCCL_PROTO",         "NCCL_NVLS_ENABLE",
                                        "NCCL_CROSS_NIC", "TF_GPU_THREAD_MODE", "OMP_NUM_THREADS"};
    for (const KeyRule& rule : kEnvironmentRules) names.push_back(rule.path);
    return names;
  }();
  return kNames;
}

/// Any variable of a known library will do: a shell's environment has hundreds of others.
bool is_environment(const YamlNode& tree) {
  return std::ranges::any_of(tree.entries, [](const auto& entry) { return is_ours(entry.first); });
}

/// Variables of Horovod or BytePS in a run mean that it uses that library.
void read_environment(SettingsReading& reading) {
  // Only these variables show that the run uses Horovod.
  const bool horovod = std::ranges::any_of(
      std::array{"HOROVOD_FUSION_THRESHOLD", "HOROVOD_CYCLE_TIME", "HOROVOD_CACHE_CAPACITY",
                 "HOROVOD_HIERARCHICAL_ALLREDUCE", "HOROVOD_TORUS_ALLREDUCE", "HOROVOD_BATCH_D2D_MEMCOPIES"},
      [&](const char* name) { return reading.has(name); });
  if (horovod) reading.by_default("variables of Horovod", {{"strategy.name", "\"horovod\""}});
  if (reading.has("BYTEPS_PARTITION_BYTES"))
    reading.by_default("variables of BytePS", {{"strategy.name", "\"byteps\""}});
  read_nccl_choice(reading, "NCCL_ALGO", "nccl.algorithm");
  read_nccl_choice(reading, "NCCL_PROTO", "nccl.protocol");
  if (const auto level = reading.word({"NCCL_NVLS_ENABLE"}))
    reading.effect({{"nccl.nvls", *level == "0" ? "false" : "true"}});
  if (const auto mode = reading.word({"NCCL_CROSS_NIC"}))
    reading.effect({{"nccl.cross_nic", *mode == "0"   ? "\"never\""
                                       : *mode == "1" ? "\"always\""
                                                      : "\"auto\""}});
  if (const auto mode = reading.word({"TF_GPU_THREAD_MODE"}))
    reading.effect({{"strategy.private_threads", toml_flag(*mode == "gpu_private")}});
  // A list such as "4,2" is one number for each level of nesting and stays open.
  if (const YamlNode* threads = reading.find({"OMP_NUM_THREADS"})) {
    const double count = number_in(threads->text).value_or(0);
    if (count >= 1 && count <= kMostHostThreads && count == std::floor(count))
      reading.effect({{"strategy.cpu_threads", fmt::format("{:.0f}", count)}}, "of each rank");
    else
      reading.fate(KeyFate::open, "--set strategy.cpu_threads=N says it");
  }
  reading.apply(kEnvironmentRules);
  // Other variables have no influence that is known. A shell has hundreds of them, so they are not listed as
  // unknown.
  for (const char* word :
       {"HOROVOD_LOG_LEVEL", "HOROVOD_STALL_CHECK_DISABLE", "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS",
        "NCCL_SOCKET_IFNAME", "NCCL_IB_TIMEOUT", "NCCL_ASYNC_ERROR_HANDLING"})
    reading.fate_of(word, KeyFate::no_influence);
}

/// The keys stand below `params` in a file, and by themselves on a command line.
bool is_horovodrun(const YamlNode& tree) {
  const YamlNode& params = tree.at("params");
  for (const char* mark :
       {"fusion_threshold_mb", "cycle_time_ms", "cache_capacity", "hierarchical_allreduce"}) {
    if (!params.at(mark).is_null() || !tree.at(mark).is_null()) return true;
  }
  return false;
}

/// horovodrun starts one process for each GPU.
void read_horovodrun(SettingsReading& reading) {
  reading.by_default("horovodrun", {{"strategy.name", "\"horovod\""}});
  if (const auto all = reading.integer({"num_proc", "np"}, 1, 1'000'000)) {
    reading.out().processes = static_cast<int>(*all);
    reading.effect({{"run.gpus", gpu_list(*all)}}, "one process per GPU");
  }
  reading.apply(kHorovodrunRules);
}

}  // namespace foretrain

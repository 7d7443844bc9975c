// The catalog of logs. The order is that of trying: formats that stand alone first, then those that may be
// mixed in one text, then the least certain one.
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// These two functions give the reader of foretrain's own samples the shape of the others. A mistake in such
/// a file throws InputError.
bool is_samples(std::string_view text) { return is_samples_csv(text); }

void read_samples(const SourceText& source, const LogHints&, SampleSheet& sheet) {
  Diagnostics diagnostics(source);
  SampleFile file = read_samples_csv(source, diagnostics);
  diagnostics.throw_if_any();
  sheet.include(std::move(file));
}

}  // namespace

const std::vector<LogFormat>& log_formats() {
  static const std::vector<LogFormat> rows{
      {"samples CSV", "what `calibrate run` writes", LogPlace::alone, is_samples, read_samples},
      {"measurements CSV", "both kinds that `validate` reads", LogPlace::alone, is_measurement_csv,
       read_measurement_csv},
      {"nccl-tests JSON", "all_reduce_perf … -J FILE", LogPlace::alone, is_nccl_tests_json,
       read_nccl_tests_json},
      {"nvbandwidth JSON", "nvbandwidth -j", LogPlace::alone, is_nvbandwidth_json, read_nvbandwidth_json},
      {"nvidia-smi XML", "nvidia-smi -q -x: facts, no measurements", LogPlace::alone, is_nvidia_smi_xml,
       read_nvidia_smi_xml},
      {"training CSV", "a column steps_per_s, samples_per_s or step_s", LogPlace::alone, is_training_csv,
       read_training_csv},
      {"nccl-tests", "the tables of all_reduce_perf and its sisters", LogPlace::mixed, is_nccl_tests,
       read_nccl_tests},
      {"nvbandwidth", "its matrices", LogPlace::mixed, is_nvbandwidth, read_nvbandwidth},
      {"p2pBandwidthLatencyTest", "its matrices", LogPlace::mixed, is_peer_matrices, read_peer_matrices},
      {"bandwidthTest", "of the CUDA samples: tables and CSV lines", LogPlace::mixed, is_bandwidth_test,
       read_bandwidth_test},
      {"perftest", "ib_write_bw, ib_read_lat and their sisters", LogPlace::mixed, is_perftest, read_perftest},
      {"OSU micro-benchmarks", "osu_bw, osu_latency, osu_allreduce, …", LogPlace::mixed, is_osu, read_osu},
      {"PARAM comms", "COMMS-RES lines", LogPlace::mixed, is_param_comms, read_param_comms},
      {"all_reduce_bench", "algo throughput and duration per rank", LogPlace::mixed, is_all_reduce_bench,
       read_all_reduce_bench},
      {"training log", "images/sec, steps/s, it/s, Throughput: per line", LogPlace::last, is_training_log,
       read_training_log},
  };
  return rows;
}

}  // namespace foretrain

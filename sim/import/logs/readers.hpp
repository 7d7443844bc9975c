// The readers behind the rows of the catalog; each is described where it is defined.
#pragma once

#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/import/logs/log_hints.hpp"
#include "sim/scenario/csv/sample_sheet.hpp"

namespace foretrain {

bool is_measurement_csv(std::string_view text);
void read_measurement_csv(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nccl_tests(std::string_view text);
void read_nccl_tests(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nccl_tests_json(std::string_view text);
void read_nccl_tests_json(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nvbandwidth(std::string_view text);
void read_nvbandwidth(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nvbandwidth_json(std::string_view text);
void read_nvbandwidth_json(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_peer_matrices(std::string_view text);
void read_peer_matrices(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_bandwidth_test(std::string_view text);
void read_bandwidth_test(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_perftest(std::string_view text);
void read_perftest(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_osu(std::string_view text);
void read_osu(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_param_comms(std::string_view text);
void read_param_comms(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_all_reduce_bench(std::string_view text);
void read_all_reduce_bench(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_training_csv(std::string_view text);
void read_training_csv(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_training_log(std::string_view text);
void read_training_log(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nvidia_smi_xml(std::string_view text);
void read_nvidia_smi_xml(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

}  // namespace foretrain

// Each call that foretrain-bench makes of CUDA, cuBLAS, cuDNN, NCCL and NVML fails once with each kind of
// code: it says so in one sentence, ends with a code that --help names, and leaves a whole file or none.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "tests/bench/bench_run.hpp"
#include "tests/support/catch.hpp"

namespace failures_test {

using namespace foretrain;
using test::BenchFolder;
using test::BenchOutcome;

namespace {

/// What a failing call does to the run.
enum class Effect {
  ends,           ///< 3 and one sentence that names it
  skips,          ///< 0, and a line that says why points were skipped
  is_not_noticed  ///< 0: freeing, or telling what is good to know
};

/// What holds of every run, whatever failed: no crash, and the file is whole or not there.
void check_order(const BenchFolder& folder, const BenchOutcome& run) {
  CHECK(run.ended_in_order());
  const std::vector<std::string> files = folder.files();
  CHECK((files.empty() || files == std::vector<std::string>{"samples.csv"}));
  if (!files.empty()) CHECK_NOTHROW(folder.samples("samples.csv"));
}

/// Of some points of each family, enough for every call.
constexpr const char* kSomePoints = " --points '" FORETRAIN_SOURCE_DIR "/tests/bench/points.csv'";

void check_effect(const std::string& family, const std::string& wish, const std::string& named,
                  Effect effect) {
  const BenchFolder folder;
  const BenchOutcome run = folder.run("-o samples.csv --only " + family + kSomePoints,
                                      "FORETRAIN_STANDIN_MEMORY=200e6 FORETRAIN_STANDIN_FAIL=" + wish);
  INFO(family << ", " << wish << ": " << run.exit_code << "\n" << run.out << run.err);
  check_order(folder, run);
  CHECK(run.exit_code == (effect == Effect::ends ? 3 : 0));
  CHECK(run.says_one_sentence() == (effect == Effect::ends));
  if (effect == Effect::ends) CHECK_THAT(run.err, ContainsSubstring(named));
  if (effect == Effect::skips)
    CHECK_THAT(run.out, ContainsSubstring("skipped: ") && ContainsSubstring(named));
}

struct CudaCode {
  int code;
  const char* name;
  Effect effect;
};
/// Of a call in the middle of a point. The context is lost after most; the first four are about the point
/// alone.
constexpr CudaCode kCudaCodes[] = {
    {1, "cudaErrorInvalidValue", Effect::skips},
    {2, "cudaErrorMemoryAllocation", Effect::skips},
    {9, "cudaErrorInvalidConfiguration", Effect::skips},
    {801, "cudaErrorNotSupported", Effect::skips},
    {3, "cudaErrorInitializationError", Effect::ends},
    {34, "cudaErrorStubLibrary", Effect::ends},
    {46, "cudaErrorDevicesUnavailable", Effect::ends},
    {98, "cudaErrorInvalidDeviceFunction", Effect::ends},
    {101, "cudaErrorInvalidDevice", Effect::ends},
    {209, "has no kernels for this GPU", Effect::ends},
    {214, "cudaErrorECCUncorrectable", Effect::ends},
    {217, "cudaErrorPeerAccessUnsupported", Effect::ends},
    {304, "cudaErrorOperatingSystem", Effect::ends},
    {400, "cudaErrorInvalidResourceHandle", Effect::ends},
    {700, "cudaErrorIllegalAddress", Effect::ends},
    {701, "cudaErrorLaunchOutOfResources", Effect::ends},
    {702, "cudaErrorLaunchTimeout", Effect::ends},
    {709, "cudaErrorContextIsDestroyed", Effect::ends},
    {710, "cudaErrorAssert", Effect::ends},
    {719, "cudaErrorLaunchFailure", Effect::ends},
    {800, "cudaErrorNotPermitted", Effect::ends},
    {802, "cudaErrorSystemNotReady", Effect::ends},
    {803, "cudaErrorSystemDriverMismatch", Effect::ends},
    {901, "cudaErrorStreamCaptureInvalidated", Effect::ends},
    {999, "cudaErrorUnknown", Effect::ends},
    {12345, "unrecognized error code", Effect::ends},
};

/// A call, and a family that makes it.
struct CudaCall {
  const char* family;
  const char* call;
};
constexpr CudaCall kCudaCalls[] = {
    {"host", "cudaGetDeviceCount"},
    {"host", "cudaGetDeviceProperties"},
    {"host", "cudaDeviceGetAttribute"},
    {"host", "cudaGetDevice"},
    {"host", "cudaSetDevice"},
    {"host", "cudaDeviceGetPCIBusId"},
    {"host", "cudaHostAlloc"},
    {"host", "cudaMalloc"},
    {"host", "cudaStreamCreateWithFlags"},
    {"host", "cudaStreamSynchronize"},
    {"host", "launch"},
    {"host", "cudaEventCreateWithFlags"},
    {"host", "cudaEventRecord"},
    {"host", "cudaEventSynchronize"},
    {"host", "cudaEventElapsedTime"},
    {"host", "cudaMemcpyAsync"},
    {"host", "cudaStreamBeginCapture"},
    {"host", "cudaStreamEndCapture"},
    {"host", "cudaGraphInstantiateWithFlags"},
    {"host", "cudaGraphLaunch"},
    {"copy", "cudaMemcpy"},
    {"copy", "cudaMemcpyPeerAsync"},
    {"copy", "cudaDeviceCanAccessPeer"},
    {"copy", "cudaDeviceEnablePeerAccess"},
    {"memory", "cudaMemsetAsync"},
    {"collective", "cudaStreamQuery"},
    {"collective", "cudaMemset"},
};

bool is_made_once(std::string_view call) {
  for (const char* one : {"cudaGetDeviceCount", "cudaMalloc", "cudaGraphInstantiateWithFlags",
                          "cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaMemcpyPeerAsync"}) {
    if (call == one) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a machine without driver, GPU or kernels is said in one sentence before anything is written") {
  const std::pair<const char*, const char*> cases[] = {
      {"no_driver", "no NVIDIA driver was found"},
      {"no_gpu", "no NVIDIA GPU was found"},
      {"cudaGetDeviceCount=100", "no NVIDIA GPU was found"},
      {"old_driver,cudaGetDeviceCount=35", "supports CUDA 11.4, this foretrain-bench was built with 12.4"},
      {"launch=209", "has no kernels for Made-up GPU (compute capability 8.0)"},
      {"launch=98", "has no kernels for Made-up GPU"},
      {"launch=218", "has no kernels for Made-up GPU"},
      {"launch=222", "has no kernels for Made-up GPU"}};
  for (const auto& [wish, sentence] : cases) {
    const BenchFolder folder;
    const BenchOutcome run = folder.run("-o samples.csv", std::string("FORETRAIN_STANDIN_FAIL=") + wish);
    INFO(wish << "\n" << run.out << run.err);
    CHECK(run.exit_code == 3);
    CHECK(run.says_one_sentence());
    CHECK_THAT(run.err, ContainsSubstring(sentence));
    CHECK(folder.files().empty());
  }
}

TEST_CASE("each code that CUDA can return ends the run, or the point where the next one may still work") {
  for (const CudaCode& code : kCudaCodes)
    check_effect("memory", fmt::format("cudaEventSynchronize={}@3", code.code), code.name, code.effect);
}

TEST_CASE("each call of CUDA that fails is named, from its first time on and later") {
  for (const CudaCall& call : kCudaCalls) {
    const std::string name = std::string_view(call.call) == "launch" ? "launch_" : call.call;
    check_effect(call.family, fmt::format("{}=719", call.call), name, Effect::ends);
    if (!is_made_once(call.call))
      check_effect(call.family, fmt::format("{}=719@2", call.call), name, Effect::ends);
  }
}

TEST_CASE("what is freed with an error costs nothing") {
  for (const char* call : {"cudaFree", "cudaFreeHost", "cudaStreamDestroy", "cudaEventDestroy",
                           "cudaGraphDestroy", "cudaGraphExecDestroy"})
    check_effect("host", fmt::format("{}=719", call), "", Effect::is_not_noticed);
  check_effect("copy", "cudaDeviceDisablePeerAccess=719", "", Effect::is_not_noticed);
  check_effect("gemm", "cublasDestroy_v2=14", "", Effect::is_not_noticed);
  for (const char* call : {"cudnnDestroy", "cudnnDestroyTensorDescriptor", "cudnnDestroyFilterDescriptor",
                           "cudnnDestroyConvolutionDescriptor"})
    check_effect("conv", fmt::format("{}=4000", call), "", Effect::is_not_noticed);
  check_effect("collective --no-children", "ncclCommDestroy=3", "", Effect::is_not_noticed);
}

TEST_CASE("each code that cuBLAS can return in each of its calls") {
  for (const int code : {1, 7, 11, 13, 14, 16})
    check_effect("gemm", fmt::format("cublasGemmEx={}", code), "cublas gemm", Effect::ends);
  for (const int code : {3, 8, 15})
    check_effect("gemm", fmt::format("cublasGemmEx={}", code), "cublas gemm", Effect::skips);
  check_effect("gemm", "cublasCreate_v2=1", "cublas create failed", Effect::ends);
  check_effect("gemm", "cublasSetStream_v2=13", "cublas set_stream failed", Effect::ends);
  check_effect("gemm", "cublasGemmStridedBatchedEx=13", "cublas gemm_batched failed", Effect::ends);
  check_effect("gemm", "cublasGetProperty=7", "", Effect::is_not_noticed);
}

TEST_CASE(
    "each code that cuDNN can return: classes 2 and 3 and memory are about the point, the others end the "
    "run") {
  std::vector<int> ending, skipping;
  for (int code = 1001; code <= 1008; ++code) ending.push_back(code);
  for (int code = 5000; code <= 5004; ++code) ending.push_back(code);
  for (const int code : {4000, 4001, 4002, 4005, 4006}) ending.push_back(code);
  for (const int code : {2000, 2002, 2003, 2004, 2005, 2006, 2007, 2008, 2009, 2010, 2011, 2012, 4003, 4004})
    skipping.push_back(code);
  for (int code = 3000; code <= 3014; ++code) skipping.push_back(code);
  for (const int code : ending)
    check_effect("conv", fmt::format("cudnnConvolutionForward={}", code), "cudnn forward failed",
                 Effect::ends);
  for (const int code : skipping)
    check_effect("conv", fmt::format("cudnnConvolutionForward={}", code), "cudnn forward failed",
                 Effect::skips);
}

TEST_CASE("each call of cuDNN that fails is named") {
  const std::pair<const char*, const char*> calls[] = {
      {"cudnnCreate", "cudnn create"},
      {"cudnnSetStream", "cudnn set_stream"},
      {"cudnnCreateTensorDescriptor", "creating a descriptor"},
      {"cudnnCreateFilterDescriptor", "creating a descriptor"},
      {"cudnnCreateConvolutionDescriptor", "creating a descriptor"},
      {"cudnnSetTensor4dDescriptor", "cudnn set_tensor"},
      {"cudnnSetFilter4dDescriptor", "cudnn set_filter"},
      {"cudnnSetConvolution2dDescriptor", "cudnn set_convolution"},
      {"cudnnSetConvolutionGroupCount", "cudnn set_groups"},
      {"cudnnSetConvolutionMathType", "cudnn set_math"},
      {"cudnnGetConvolutionForwardAlgorithm_v7", "cudnn forward_algorithms"},
      {"cudnnGetConvolutionBackwardDataAlgorithm_v7", "cudnn data_algorithms"},
      {"cudnnGetConvolutionBackwardFilterAlgorithm_v7", "cudnn weights_algorithms"},
      {"cudnnConvolutionBackwardData", "cudnn backward_data"},
      {"cudnnConvolutionBackwardFilter", "cudnn backward_weights"}};
  for (const auto& [call, name] : calls)
    check_effect("conv", fmt::format("{}=5000", call), name, Effect::ends);
  check_effect("conv", "no_algorithm", "cuDNN has no algorithm for this convolution", Effect::skips);
}

TEST_CASE("each code that NCCL can return in each of its calls, and what fails beside the calls") {
  const std::string family = "collective --no-children";
  for (const int code : {1, 2, 3, 6, 7, 99})
    check_effect(family, fmt::format("ncclAllReduce={}", code), "nccl all_reduce failed", Effect::ends);
  for (const int code : {4, 5})
    check_effect(family, fmt::format("ncclAllReduce={}", code), "nccl all_reduce failed", Effect::skips);
  const std::pair<const char*, const char*> calls[] = {{"ncclCommInitAll", "init_all"},
                                                       {"ncclGroupStart", "group_start"},
                                                       {"ncclGroupEnd", "group_end"},
                                                       {"ncclAllGather", "all_gather"},
                                                       {"ncclReduceScatter", "reduce_scatter"},
                                                       {"ncclBroadcast", "broadcast"},
                                                       {"ncclReduce", "reduce"},
                                                       {"ncclSend", "send"},
                                                       {"ncclRecv", "receive"},
                                                       {"ncclCommGetAsyncError", "async_error"},
                                                       {"asynchronous", "an asynchronous collective"}};
  for (const auto& [call, name] : calls)
    check_effect(family, fmt::format("{}=2", call), fmt::format("nccl {} failed", name), Effect::ends);
  check_effect(family, "hang", "NCCL did not finish a collective in 120 s", Effect::ends);
  check_effect(family, "ncclGetVersion=2", "", Effect::is_not_noticed);
}

TEST_CASE("NVML tells what is good to know: no code of its calls ends a run") {
  for (const char* call : {"nvmlInit_v2", "nvmlSystemGetDriverVersion", "nvmlDeviceGetHandleByPciBusId_v2",
                           "nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetTemperature",
                           "nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth",
                           "nvmlDeviceGetTopologyCommonAncestor", "nvmlDeviceGetNvLinkState",
                           "nvmlDeviceGetNvLinkRemotePciInfo_v2"}) {
    for (const int code : {1, 3, 15, 999})
      check_effect("host", fmt::format("{}={}", call, code), "", Effect::is_not_noticed);
  }
}

TEST_CASE("a wrong result is said, its point discarded, and the program ends with 3") {
  for (const auto& [wish, family] : {std::pair{"wrong_gemm", "gemm"},
                                     {"wrong_conv", "conv"},
                                     {"wrong_nccl", "collective --no-children"},
                                     {"wrong_copy", "copy"},
                                     {"wrong_memory", "memory"}}) {
    const BenchFolder folder;
    const BenchOutcome run =
        folder.run(std::string("-o samples.csv --only ") + family,
                   std::string("FORETRAIN_STANDIN_MEMORY=20e6 FORETRAIN_STANDIN_FAIL=") + wish);
    INFO(wish << "\n" << run.out << run.err);
    check_order(folder, run);
    CHECK(run.exit_code == 3);
    CHECK_THAT(run.err, ContainsSubstring("error: wrong result, point discarded: "));
  }
}

TEST_CASE("a family whose calls fail on a GPU that works costs no other family its samples") {
  const BenchFolder folder;
  CHECK(folder.run("-o samples.csv --only host").exit_code == 0);
  const std::vector<Sample> before = folder.samples("samples.csv");
  const BenchOutcome run =
      folder.run("-o samples.csv --only host,gemm,memory", "FORETRAIN_STANDIN_FAIL=cublasGemmEx=13");
  CHECK(run.exit_code == 3);
  CHECK(run.says_one_sentence());
  CHECK_THAT(run.err, ContainsSubstring("error: gemm lost points: ") && ContainsSubstring("gemm failed in"));
  std::vector<Sample> after = folder.samples("samples.csv");
  CHECK(after.size() > before.size());
  CHECK(std::none_of(after.begin(), after.end(),
                     [](const Sample& sample) { return sample.kind == SampleKind::gemm; }));
  after.resize(before.size());
  CHECK(after == before);
  CHECK(folder.run("-o samples.csv --only memory", "FORETRAIN_STANDIN_MEMORY=1e9").exit_code == 0);
  CHECK(folder.samples("samples.csv").size() == before.size() + 21);
}

TEST_CASE("a run that a lost GPU ends keeps what was measured before it") {
  const BenchFolder folder;
  CHECK(folder.run("-o samples.csv --only host").exit_code == 0);
  const std::vector<Sample> before = folder.samples("samples.csv");
  const BenchOutcome run =
      folder.run("-o samples.csv --only host,gemm,memory", "FORETRAIN_STANDIN_FAIL=launch=700@2");
  CHECK(run.exit_code == 3);
  CHECK(run.says_one_sentence());
  CHECK(folder.samples("samples.csv") == before);
}

TEST_CASE("without peer access copies say so, and those through the host are measured") {
  check_effect("copy", "no_peers", "cannot reach GPU", Effect::skips);
}

TEST_CASE("libraries that are not there, are none or lack functions are left out with their families") {
  namespace fs = std::filesystem;
  const BenchFolder folder;
  const fs::path own = folder / "libraries", standin = BenchFolder::program().parent_path();
  fs::create_directory(own);
  for (const char* name : {"foretrain-bench", "libcudart-standin.so"})
    fs::copy_file(standin / name, own / name);
  fs::copy_file(standin / "libnvidia-ml.so.1", own / "libcublas.so.12");  // a library, and another one
  for (const char* name : {"libnccl.so.2", "libnccl.so", "libcudnn.so.9", "libnvidia-ml.so.1"})
    std::ofstream(own / name) << "none";
  const test::BenchOutcome run = folder.run("--version");
  CHECK(run.exit_code == 0);
  const std::string line = fmt::format("'{}' --only host,gemm,conv,collective,tax -o samples.csv",
                                       (own / "foretrain-bench").string());
  const BenchOutcome left = folder.foretrain("--version >/dev/null && env -u LD_LIBRARY_PATH " + line);
  INFO(left.out << left.err);
  CHECK(left.exit_code == 0);
  CHECK_THAT(left.out, ContainsSubstring("gemm: left out, it needs cuBLAS"));
  CHECK_THAT(left.out, ContainsSubstring("conv: left out, it needs cuDNN"));
  CHECK_THAT(left.out, ContainsSubstring("collective: left out, it needs NCCL"));
  CHECK_THAT(left.out, ContainsSubstring("tax: left out, it needs NCCL and cuBLAS"));
  CHECK(folder.samples("samples.csv").size() == 15);
}

}  // namespace failures_test

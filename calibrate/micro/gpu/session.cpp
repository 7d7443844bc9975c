// Finds what there is, in the order in which it can fail: driver, GPU, kernels; then libraries, which may be
// missing.
#include "calibrate/micro/gpu/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "calibrate/micro/cpu/cpu.hpp"
#include "calibrate/micro/gpu/cublas.hpp"
#include "calibrate/micro/gpu/cudnn.hpp"
#include "calibrate/micro/gpu/kernels.hpp"
#include "calibrate/micro/gpu/nccl.hpp"
#include "calibrate/micro/gpu/resources.hpp"
#include "calibrate/micro/plan/python.hpp"
#include "calibrate/micro/plan/toolkit.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain::micro {

namespace {

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version / 10 % 100); }

int count_gpus() {
  int driver = 0, gpus = 0;
  (void)cudaDriverGetVersion(&driver);
  if (driver == 0)
    throw EnvironmentError(
        "no NVIDIA driver was found on this machine (libcuda.so.1), so there is no GPU to measure; "
        "--host-only measures the rest");
  const cudaError_t code = cudaGetDeviceCount(&gpus);
  if (code == cudaErrorInsufficientDriver)
    throw EnvironmentError(
        fmt::format("the NVIDIA driver supports CUDA {}, this foretrain-bench was built with {}; update the "
                    "driver or build with CUDA {}",
                    version_text(driver), version_text(CUDART_VERSION), driver / 1000));
  if (code == cudaErrorNoDevice || (code == cudaSuccess && gpus == 0))
    throw EnvironmentError(
        "no NVIDIA GPU was found on this machine, or CUDA_VISIBLE_DEVICES hides it; --host-only measures the "
        "rest");
  check_cuda(code, "cudaGetDeviceCount", __FILE__, __LINE__);
  return gpus;
}

int attribute(cudaDeviceAttr what, int device) {
  int value = 0;
  FORETRAIN_CUDA(cudaDeviceGetAttribute(&value, what, device));
  return value;
}

GpuFacts facts_of(int device) {
  cudaDeviceProp properties{};
  FORETRAIN_CUDA(cudaGetDeviceProperties(&properties, device));
  return {properties.name, static_cast<std::int64_t>(properties.totalGlobalMem),
          attribute(cudaDevAttrMultiProcessorCount, device),
          attribute(cudaDevAttrComputeCapabilityMajor, device),
          attribute(cudaDevAttrComputeCapabilityMinor, device)};
}

void expect_kernels(const GpuFacts& gpu, int device) {
  const OnDevice current(device);
  const Stream stream;
  const cudaError_t code = launch_empty(stream.get());
  const bool has_none = code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction ||
                        code == cudaErrorInvalidPtx || code == cudaErrorUnsupportedPtxVersion;
  if (has_none) throw EnvironmentError(no_kernels_sentence(gpu.name, gpu.major, gpu.minor, CUDART_VERSION));
  check_cuda(code, "launch_empty", __FILE__, __LINE__);
  stream.wait();
}

std::vector<std::string> pci_addresses(int gpus) {
  std::vector<std::string> addresses;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    char text[32] = {};
    FORETRAIN_CUDA(cudaDeviceGetPCIBusId(text, sizeof text, gpu));
    addresses.emplace_back(text);
  }
  return addresses;
}

void state_gpus(Session& session, const std::vector<std::string>& addresses) {
  const GpuFacts& gpu = session.machine.gpus[static_cast<std::size_t>(session.device())];
  const auto add = [&](const char* key, std::string value) {
    if (!value.empty()) session.provenance.emplace_back(key, std::move(value));
  };
  int driver = 0;
  FORETRAIN_CUDA(cudaDriverGetVersion(&driver));
  add("gpu", gpu.name);
  add("gpus", std::to_string(session.machine.gpu_count()));
  add("memory_bytes", std::to_string(gpu.memory_bytes));
  add("multiprocessors", std::to_string(gpu.multiprocessors));
  add("compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor));
  add("pci", fmt::format("{}", fmt::join(addresses, " ")));
  add("cuda", version_text(CUDART_VERSION));
  add("cuda_of_driver", version_text(driver));
  if (session.nvml == nullptr) return;
  add("driver", session.nvml->driver_version());
  add("topology", session.nvml->topology());
  for (const auto& [key, value] : session.nvml->limits_of(session.device())) add(key.c_str(), value);
  std::vector<std::string> warnings;
  for (int i = 0; i < session.machine.gpu_count(); ++i) {
    for (std::string& warning : session.nvml->warnings_of(i)) warnings.push_back(std::move(warning));
  }
  add("warning", fmt::format("{}", fmt::join(warnings, "; ")));
}

void open_libraries(Session& session) {
  const std::vector<std::string> folders =
      python_library_folders([](const char* name) -> const char* { return std::getenv(name); });
  session.cublas = Cublas::open(folders);
  session.cudnn = open_cudnn(folders);
  session.nccl = open_nccl(folders);
  session.machine.has_cublas = session.cublas != nullptr;
  session.machine.has_cudnn = session.cudnn != nullptr;
  session.machine.has_nccl = session.nccl != nullptr;
  if (session.cublas) session.provenance.emplace_back("cublas", session.cublas->version());
  if (session.cudnn) session.provenance.emplace_back("cudnn", cudnn_version(*session.cudnn));
  if (session.nccl) session.provenance.emplace_back("nccl", nccl_version(*session.nccl));
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

void join_ranks(Session& session, const std::string& folder) {
  if (session.job.ranks == 1) return;
  session.gather = folder.empty() ? through_mpi(session.job) : through_files(folder, session.job);
  if (!session.gather)
    throw EnvironmentError(
        fmt::format("{} ranks were started, and no MPI library that joins them was found; give --rendezvous "
                    "DIR, a folder that all see",
                    session.job.ranks));
  const std::vector<std::string> hosts = session.gather(host_name());
  session.machine.ranks = session.job.ranks;
  session.machine.nodes = static_cast<int>(std::set<std::string>(hosts.begin(), hosts.end()).size());
}

}  // namespace

Settings host_provenance() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char date[32] = {};
  ::gmtime_r(&now, &parts);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
  Settings provenance{{"tool", "foretrain-bench " FORETRAIN_VERSION}, {"date", date}, {"host", host_name()}};
  const Settings cpu = cpu_provenance();
  provenance.insert(provenance.end(), cpu.begin(), cpu.end());
  return provenance;
}

bool gpu_works(const Session& session) {
  if (session.machine.gpus.empty()) return true;
  try {
    const OnDevice current(session.device());
    const Stream stream;
    FORETRAIN_CUDA(launch_empty(stream.get()));
    stream.wait();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

Session open_host_session() {
  Session session;
  session.machine.cpus = usable_cpus();
  session.machine.has_python = has_python();
  session.provenance = host_provenance();
  return session;
}

Session open_session(const JobRank& job, const std::string& rendezvous_folder) {
  const int gpus = count_gpus();
  Session session = open_host_session();
  session.job = job;
  for (int gpu = 0; gpu < gpus; ++gpu) session.machine.gpus.push_back(facts_of(gpu));
  join_ranks(session, rendezvous_folder);
  FORETRAIN_CUDA(cudaSetDevice(session.device()));
  expect_kernels(session.machine.gpus[static_cast<std::size_t>(session.device())], session.device());
  const std::vector<std::string> addresses = pci_addresses(gpus);
  session.nvml = Nvml::open(addresses);
  state_gpus(session, addresses);
  open_libraries(session);
  return session;
}

}  // namespace foretrain::micro

// Submit files of HTCondor.
#include "sim/import/jobs/condor.hpp"

#include "sim/import/jobs/gpu_requirements.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace condor_test {

using namespace foretrain;
using test::launch_of;
using test::script_of;
using test::shown;

TEST_CASE("a submit file with macros, units and its run script") {
  const ScriptFinder find = [](const std::string& name) -> std::optional<SourceText> {
    return SourceText{name, "#!/bin/bash\nN=$1\ntorchrun --nproc_per_node=$N train.py -n $N\n"};
  };
  const JobScript script = script_of(
      "# a job\nUniverse = vanilla\ngpus = 2\nexecutable = run.sh\narguments = $(request_gpus)\nrequest_gpus "
      "= $(gpus)\nRequest_CPUs = 4\n"
      "request_memory = 48 GB\nrequire_gpus = (Capability == 7.5) && \\\n  (DriverVersion >= "
      "11.3)\n+WantGPULab = true\n+GPUJobLength = "
      "\"medium\"\nqueue 3\n",
      find);
  CHECK(script.system == BatchSystem::htcondor);
  CHECK(shown(script.resources.gpus_per_node) == "2");
  CHECK(script.resources.gpus_per_node->span.line == 6);
  CHECK(shown(script.resources.cpus_per_task) == "4");
  CHECK(script.resources.memory_per_node->value.bytes.count == 48ll << 30);
  CHECK(script.request.seconds->value == 86400);
  CHECK(shown(script.request.array) == "3");
  CHECK(script.request.requirements[0].value == "(Capability == 7.5) && (DriverVersion >= 11.3)");
  CHECK(launch_of(script) == "torchrun 2 train.py");
  CHECK(script.launch.file == "run.sh");
}

TEST_CASE("a program as the executable") {
  CHECK(
      launch_of(script_of(
          "executable = /usr/bin/python3\narguments = \"train.py --epochs 3\"\nrequest_gpus = 1\nqueue\n")) ==
      "python 1 train.py");
  CHECK(launch_of(script_of("executable = train.py\nrequest_gpus = 1\nqueue\n")) == "python 1 train.py");
}

TEST_CASE("what a submit file leaves open is reported") {
  const JobScript script =
      script_of("executable = run.sh\nrequest_gpus = $(N)\nrequest_memory = much\nqueue 1 from list.txt\n");
  CHECK(shown(script.resources.gpus_per_node) == "0");
  CHECK(test::open_lines(script) ==
        "2: request_gpus is no number; 3: request_memory is no amount of memory; 4: how many jobs a list "
        "makes is not counted; "
        "1: starts another script, which is not read here");
}

TEST_CASE("the least memory of a GPU may have a blank before its unit, and what is none is reported") {
  const std::string job = "executable = train.py\nrequest_gpus = 1\nqueue\ngpus_minimum_memory = ";
  CHECK(script_of(job + "16 GB\n").request.requirements.at(0).value == "GlobalMemoryMb >= 16384");
  CHECK(test::open_lines(script_of(job + "much\n")) == "4: gpus_minimum_memory is no amount of memory");
}

TEST_CASE("expressions that choose a GPU have three answers") {
  Gpu gpu;
  gpu.name = "rtx-2080ti";
  gpu.compute_capability = 7.5;
  gpu.memory = {11ll << 30};
  CHECK(satisfies(gpu, "(Capability == 7.5)") == true);
  CHECK(satisfies(gpu, "CUDACapability >= 8.0") == false);
  CHECK(satisfies(gpu, "8.0 <= TARGET.CUDACapability") == false);
  CHECK(satisfies(gpu, "(CUDACapability == 7.5)&&(11.1 <= Target.CUDADriverVersion)") == std::nullopt);
  CHECK(satisfies(gpu, "(CUDACapability == 8.0)&&(11.1 <= Target.CUDADriverVersion)") == false);
  CHECK(satisfies(gpu, "Capability < 7 || GlobalMemoryMb > 8000") == true);
  CHECK(satisfies(gpu, "!(Capability == 7.5)") == false);
  CHECK(satisfies(gpu, "DeviceName == \"NVIDIA GeForce RTX 2080 Ti\"") == true);
  CHECK(satisfies(gpu, "regexp(\"H200\", TARGET.CUDADeviceName)") == false);
  CHECK(satisfies(gpu, "((((") == std::nullopt);
  CHECK(satisfies(gpu, "") == std::nullopt);
}

}  // namespace condor_test

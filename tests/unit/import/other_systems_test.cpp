// Jobs of PBS, LSF, Grid Engine, Flux and Kubernetes, and launch lines by themselves: a fixture for each
// centre, written from its documentation, against a table that was made by reading them.
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/yaml.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace other_systems_test {

using namespace foretrain;
using test::shown;

namespace {

constexpr const char* kFolder = FORETRAIN_SOURCE_DIR "/tests/unit/import/other_systems/";

// file: batch system, nodes, GPUs per node, GPUs, tasks per node, CPUs per node, memory per node (MiB),
// seconds, partition, launcher, processes per node, program.
constexpr const char* kExpected = R"(
polaris.pbs: pbs 2 4 8 1 32 - 1800 debug mpirun 4 train.py
gadi.pbs: pbs 2 4 8 1 48 389120 7200 gpuvolta mpirun 4 train.py
derecho.pbs: pbs 2 4 8 4 64 491520 3600 main mpirun 4 train.py
abci3.pbs: pbs 2 8 16 1 192 - 3600 rt_HF torchrun 8 train.py
imperial.pbs: pbs 1 2 2 1 8 98304 86400 - torchrun 2 train.py
torque.pbs: pbs 2 4 8 4 4 - 43200 gpu mpirun 4 tf_cnn.py
summit.lsf: lsf 4 6 24 1 42 - 7200 batch jsrun 6 train.py
dtu.lsf: lsf 1 2 2 8 8 - 36000 gpua100 accelerate 2 train.py
ptile.lsf: lsf 4 4 16 4 40 - 5400 normal mpirun 4 train.py
abci2.sh: grid_engine 4 4 16 1 40 - 5025 rt_F mpirun 4 pytorch_imagenet_resnet50.py
tsubame4.sh: grid_engine 2 4 8 1 192 - 600 node_f mpirun 4 train.py
bu_scc.qsub: grid_engine 1 2 2 1 8 32768 43200 - torchrun 2 train.py
tuolumne.flux: flux 2 4 8 1 96 - 1800 pbatch flux_run 4 train.py
job.yaml: kubernetes 1 4 4 4 32 204800 7200 - torchrun 4 train.py
pytorchjob.yaml: kubernetes 4 8 32 8 96 921600 - - torchrun 8 train.py
mpijob.yaml: kubernetes 3 2 6 2 - - - - mpirun 2 tf_cnn_benchmarks.py
hetjob.sbatch: slurm 4 4 16 4 32 - 7200 gpu srun 4 train.py
)";

std::string text_of_fixture(const std::string& file) {
  std::ifstream stream(kFolder + file, std::ios::binary);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string mebibytes_of(const Field<MemoryRequest>& memory) {
  return memory ? std::to_string(memory->value.bytes.count >> 20) : "-";
}

std::string row_of(const JobScript& script) {
  const JobResources& have = script.resources;
  const JobLaunch& launch = script.launch;
  std::string starter = launch.started_by ? std::string(name_of(launch.started_by->value)) : "-";
  std::replace(starter.begin(), starter.end(), ' ', '_');
  const std::array<std::string, 12> fields{
      std::string(name_of(script.system)),
      shown(have.nodes),
      shown(have.gpus_per_node),
      shown(have.gpus),
      shown(have.tasks_per_node),
      shown(have.cpus_per_node),
      mebibytes_of(have.memory_per_node),
      script.request.seconds ? std::to_string(script.request.seconds->value) : "-",
      shown(script.request.partition),
      starter,
      shown(launch.processes_per_node),
      shown(launch.program)};
  std::string out;
  for (const std::string& field : fields) out += (out.empty() ? "" : " ") + field;
  return out;
}

std::string read(const std::string& text, const ScriptFinder& find = nullptr) {
  return row_of(test::script_of(text, find));
}

/// "nodes GPUs-per-node: launch".
std::string launched(const std::string& text, const ScriptFinder& find = nullptr) {
  const JobScript script = test::script_of(text, find);
  return shown(script.resources.nodes) + " " + shown(script.resources.gpus_per_node) + ": " +
         test::launch_of(script);
}

}  // namespace

TEST_CASE("jobs of other systems, written from the centres' documentation, are read as the table says") {
  std::istringstream table(kExpected);
  int files = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty()) continue;
    const std::string file = line.substr(0, line.find(':'));
    const JobScript script = read_job_script({file, text_of_fixture(file)});
    INFO(file << ": " << test::open_lines(script));
    CHECK(row_of(script) == line.substr(line.find(':') + 2));
    CHECK(script.not_understood.empty());
    ++files;
  }
  CHECK(files == 17);
}

TEST_CASE("PBS: place=pack puts all chunks on one host, chunks without GPUs are left aside") {
  CHECK(read("#PBS -l select=4:ncpus=4:ngpus=1:mem=10gb -l place=pack\ntorchrun --nproc_per_node=4 a.py\n") ==
        "pbs 1 4 4 4 16 40960 - - torchrun 4 a.py");
  const JobScript script =
      test::script_of("#PBS -l select=2:ncpus=8:ngpus=4+1:ncpus=2\n#PBS -l walltime=90\n");
  CHECK(shown(script.resources.nodes) + " " + shown(script.resources.gpus_per_node) == "2 4");
  REQUIRE(script.remarks.size() == 1);
  CHECK(script.remarks[0].span.line == 1);
  CHECK(script.request.seconds->value == 90);  // a number by itself counts seconds
}

TEST_CASE(
    "PBS: chunks with unlike GPUs, an unknown option and no amount of memory are said with their lines") {
  const JobScript script = test::script_of(
      "#!/bin/sh\n#PBS -l select=1:ngpus=4+1:ngpus=2\n#PBS --wall=1\n#PBS -l select=1:mem=lots\n#PBS -l "
      "walltime=soon\n");
  CHECK(test::open_lines(script) ==
        "2: chunks with unlike numbers of GPUs are not read; 3: no option of qsub that is known here; "
        "4: mem is no amount of memory, as in mem=64gb; 5: walltime is no time; as in 12:00:00");
}

TEST_CASE("PBS: a qsub line asks, and the script beside it says what runs") {
  const ScriptFinder find = [](const std::string& name) -> std::optional<SourceText> {
    if (name != "run.sh") return std::nullopt;
    return SourceText{name, "#!/bin/sh\nmpiexec -n 8 -ppn 4 python train.py\n"};
  };
  CHECK(launched("qsub -l select=2:ncpus=32:ngpus=4 -l walltime=1:00:00 -q gpu run.sh\n", find) ==
        "2 4: mpirun 4 train.py");
}

TEST_CASE("hosts started by hand: pbsdsh and blaunch on each, ssh in a loop over the file of hosts") {
  CHECK(launched("#PBS -l select=2:ncpus=8:ngpus=4\npbsdsh -- bash -c \"torchrun --nnodes=2 "
                 "--nproc_per_node=4 train.py\"\n") == "2 4: torchrun 4 train.py");
  const JobScript script = test::script_of(
      "#PBS -l select=2:ncpus=8:ngpus=4\nfor host in $(sort -u $PBS_NODEFILE); do\n"
      "  ssh $host \"cd $PBS_O_WORKDIR; torchrun --nnodes=2 --nproc_per_node=4 train.py\" &\ndone\nwait\n");
  CHECK(test::launch_of(script) == "torchrun 4 train.py");
  CHECK(shown(script.launch.nodes) == "2");
}

TEST_CASE("LSF: bsub with its options before a command, GPUs of tasks, slots without a span") {
  CHECK(read("bsub -n 4 -W 4:00 -R \"span[hosts=1] rusage[ngpus_excl_p=4]\" -q gpu python train.py\n") ==
        "lsf 1 4 4 4 4 - 14400 gpu python 1 train.py");
  const JobScript script = test::script_of("#BSUB -n 4\n#BSUB -gpu \"num=1/task\"\n#BSUB -W 10\n");
  CHECK(shown(script.resources.gpus) == "4");
  REQUIRE(script.remarks.size() == 1);
  CHECK_THAT(script.remarks[0].why, ContainsSubstring("may lie on any number of nodes"));
}

TEST_CASE("LSF: jsrun's resource sets say the GPUs of whole nodes") {
  // 2 nodes, one resource set on each with all six GPUs, six tasks in it.
  CHECK(launched("#BSUB -nnodes 2\n#BSUB -W 60\njsrun --nrs 2 --rs_per_host 1 --tasks_per_rs 6 --gpu_per_rs "
                 "6 --cpu_per_rs 42 python a.py\n") == "2 6: jsrun 6 a.py");
  CHECK(launched("#BSUB -nnodes 2\njsrun -n 2 -a 1 -g 4 -c ALL_CPUS torchrun --nproc_per_node 4 a.py\n") ==
        "2 4: torchrun 4 a.py");
}

TEST_CASE("Grid Engine: environments of one node, and those that say slots per node") {
  CHECK(read("#!/bin/bash\n#$ -pe smp 12\n#$ -l gpu=1,h_rt=3600,h_vmem=2G\npython train.py\n") ==
        "grid_engine 1 1 1 1 12 24576 3600 - python 1 train.py");
  CHECK(read("#$ -pe mpi_4_tasks_per_node 8\n#$ -l gpus=4\nmpirun -np $NSLOTS python train.py\n") ==
        "grid_engine 2 4 8 4 4 - - - mpirun 4 train.py");
}

TEST_CASE("Flux: a command line, whole nodes, durations") {
  CHECK(read("flux run -N2 -n8 -g1 -t 2h python train.py\n") ==
        "flux 2 4 8 4 - - 7200 - flux_run 4 train.py");
  const JobScript script =
      test::script_of("# flux: -N4 --exclusive\n# flux: --time-limit=90s\n\nflux run -N4 -n4 ./go.sh\n");
  CHECK(script.request.whole_nodes);
  CHECK_FALSE(script.resources.gpus);
  CHECK(script.request.seconds->value == 90);
}

TEST_CASE("launch lines by themselves: a GPU for each process, nodes from options, hosts and host files") {
  CHECK(launched("torchrun --nproc_per_node=4 train.py\n") == "1 4: torchrun 4 train.py");
  CHECK(launched("$ NCCL_DEBUG=INFO torchrun --nnodes 2 --nproc-per-node 8 train.py\n") ==
        "2 8: torchrun 8 train.py");
  CHECK(launched("accelerate launch --num_machines 2 --num_processes 16 train.py\n") ==
        "2 8: accelerate 8 train.py");
  CHECK(launched("horovodrun -np 8 -H a:4,b:4 python train.py\n") == "2 4: horovodrun 4 train.py");
  CHECK(launched("mpirun -np 8 --host a:4,b:4 python train.py\n") == "2 4: mpirun 4 train.py");
  CHECK(launched("CUDA_VISIBLE_DEVICES=0,2 python train.py\n") == "1 2: python 1 train.py");
  const ScriptFinder find = [](const std::string& name) -> std::optional<SourceText> {
    if (name != "hosts") return std::nullopt;
    return SourceText{name, "# two\nworker-1 slots=4\nworker-2 slots=4\n"};
  };
  CHECK(launched("deepspeed --hostfile=hosts train.py --deepspeed ds.json\n", find) ==
        "2 4: deepspeed 4 train.py");
  CHECK_THAT(test::open_lines(test::script_of("deepspeed --hostfile nowhere train.py\n")),
             ContainsSubstring("1: is a file of hosts, which is not here"));
}

TEST_CASE("a line of TOML, prose and a script without directives are no launch lines") {
  CHECK_FALSE(is_job_script("name = \"torchrun\"\n"));
  CHECK_FALSE(is_job_script("python is a language\n"));
  CHECK_FALSE(is_job_script("[launch]\nwith = \"torchrun\"\n"));
  CHECK(is_job_script("torchrun train.py"));
}

TEST_CASE("Slurm: components with unlike nodes are not added up") {
  const JobScript script = test::slurm("--nodes=1 --gres=gpu:4\nhetjob\n--nodes=2 --gres=gpu:8");
  CHECK(shown(script.resources.gpus) == "4");
  CHECK_THAT(test::open_lines(script), ContainsSubstring("components with unlike nodes"));
  const JobScript alike = test::slurm("--nodes=1 --gres=gpu:4\nhetjob\n--nodes=2 --gres=gpu:4");
  CHECK(shown(alike.resources.gpus) == "12");
}

TEST_CASE("Slurm's lines count before those of other systems, which are said to be comments") {
  const JobScript script =
      test::script_of("#!/bin/bash\n#SBATCH --gres=gpu:2\n#PBS -l select=1:ngpus=4\npython a.py\n");
  CHECK(shown(script.resources.gpus) == "2");
  REQUIRE(script.remarks.size() == 1);
  CHECK(script.remarks[0].why == "also has lines #PBS, which are comments to Slurm");
}

TEST_CASE("Kubernetes: a container's /dev/shm, a job without GPUs, a kind that trains nothing") {
  const JobScript script = read_job_script({"job.yaml", text_of_fixture("job.yaml")});
  CHECK(script.request.shared_memory->value.bytes.count == 16ll << 30);
  CHECK(script.request.shared_memory->span.line == 26);
  const std::string service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n";
  CHECK_THROWS_WITH(test::script_of(service), ContainsSubstring("holds Service, which starts no training"));
  const JobScript idle = test::script_of(
      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    command: [python, train.py]\n");
  CHECK(shown(idle.resources.gpus) == "0");
}

TEST_CASE("YAML: a quoted null is a text, a plain one is none") {
  const YamlNode node = read_yaml({"a.yaml", "a: \"null\"\nb: '~'\nc: null\nd: ~\ne: \"\"\n"}).at(0);
  CHECK(node.at("a").text == "null");
  CHECK(node.at("b").text == "~");
  CHECK(node.at("c").is_null());
  CHECK(node.at("d").is_null());
  CHECK_FALSE(node.at("e").is_null());
}

TEST_CASE("YAML: circles, bombs, depth, size and what is no YAML end with the place") {
  const std::string head = "apiVersion: v1\nkind: Pod\n";
  CHECK_THROWS_WITH(
      test::script_of(head + "spec: &a\n  again: *a\n"),
      ContainsSubstring("job.sh:4:10: error: the alias stands inside of what it names: a circle"));
  std::string bomb = head + "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1) + ", ";
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + before + before + before +
            before + "x]\n";
  }
  CHECK_THROWS_WITH(test::script_of(bomb),
                    ContainsSubstring("more than 50000 values, with those that aliases repeat"));
  CHECK_THROWS_WITH(test::script_of(head + "a: " + std::string(100, '[')),
                    ContainsSubstring("nested deeper than 64 levels"));
  CHECK_THROWS_WITH(test::script_of(head + std::string(2u << 20, 'x')),
                    ContainsSubstring("bytes of YAML; at most 1048576 are read"));
  CHECK_THROWS_WITH(test::script_of(head + "a: [1, 2\nb: }\n"), ContainsSubstring("is no YAML"));
}

TEST_CASE("bytes that are no text are refused with their line, and terminal colours do no harm") {
  CHECK_THROWS_WITH(test::script_of(std::string("#PBS -l select=1\n\0\n", 19)),
                    ContainsSubstring("job.sh:2:1: error: is no text: this line has a zero byte"));
  const std::string coloured = "#PBS -l select=1:ngpus=2\x1b[0m\ntorchrun --nproc_per_node=2 a.py\n";
  CHECK(launched(coloured) == "1 -: torchrun 2 a.py");
  CHECK(test::open_lines(test::script_of(coloured)).starts_with("1: \"2\x1b[0m\" is no count"));
}

TEST_CASE("every job system has a name for people, and those that are written say how to ask for a GPU") {
  for (const JobSystem& row : job_systems()) {
    INFO(name_of(row.system));
    CHECK_FALSE(row.title.empty());
    CHECK_FALSE(row.kind.empty());
    CHECK_FALSE(row.asks_as.empty());
    CHECK((row.write != nullptr) == (row.system != BatchSystem::none));
    CHECK(&job_system(row.system) == &row);
  }
}

}  // namespace other_systems_test

// Ultralytics in job scripts: the words of `yolo`, calls of YOLO(…).train(…), and args.yaml.
#include "sim/import/job_settings.hpp"
#include "sim/import/settings/readers.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace ultralytics_settings_test {

using namespace foretrain;

namespace {

struct Read {
  JobScript script;
  JobSettings settings;
  std::string scenario;
};

Read read(const std::string& commands, const std::string& file_text = "") {
  test::use_source_catalogs();
  const SourceText text{"job.sh",
                        "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:a100:4\n" + commands + "\n"};
  const ScriptFinder find = [&](const std::string& name) -> std::optional<SourceText> {
    if (file_text.empty()) return std::nullopt;
    return SourceText{name, file_text};
  };
  Read out{read_job_script(text, find), {}, {}};
  out.settings = read_job_settings(text, out.script, find);
  JobScenarioOptions options{""};
  options.settings = out.settings.files;
  out.scenario = write_job_scenario(out.script, test::cluster_of("mahti"), options);
  return out;
}

bool says(const Read& job, const std::string& line) {
  return job.scenario.find("\n" + line) != std::string::npos;
}

bool is_open(const Read& job, const std::string& path) {
  for (const TrainingSettings& settings : job.settings.files)
    for (const ReadKey& key : settings.keys)
      if (key.path == path && key.fate == KeyFate::open) return true;
  return false;
}

}  // namespace

TEST_CASE("the words of yolo say batch of all GPUs, devices, network and epochs") {
  const Read job =
      read("yolo detect train model=yolo11m.pt data=coco.yaml batch=64 imgsz=640 device=0,1,2,3 epochs=100");
  CHECK(test::launch_of(job.script) == "torchrun 4 yolo");
  CHECK(test::open_lines(job.script).empty());
  for (const char* line :
       {"name = \"yolo11m\"", "global_batch = 64", "precision = \"amp_fp16\"", "name = \"ddp\"",
        "find_unused_parameters = true", "with = \"torchrun\"", "processes_per_node = 4", "epochs = 100",
        "name = \"coco\"", "weight_decay = true", "layout = \"channels_last\""}) {
    INFO(line << "\n" << job.scenario);
    CHECK(says(job, line));
  }
  CHECK_FALSE(says(job, "accumulation"));
}

TEST_CASE("below 64 samples a step takes several micro-steps, whose gradients are all summed") {
  const Read job = read("yolo train model=yolov8s.pt data=my.yaml device=0,1 batch=16");
  CHECK(says(job, "accumulation = 4"));
  CHECK(says(job, "no_sync = false"));
  // 64 / 40 = 1.6 is 2, 64 / 48 is 1; without a batch it is 16.
  CHECK(says(read("yolo train model=yolov8s.pt batch=40"), "accumulation = 2"));
  CHECK_FALSE(says(read("yolo train model=yolov8s.pt batch=48"), "accumulation"));
  CHECK(says(read("yolo train model=yolov8s.pt"), "global_batch = 16"));
  CHECK(says(read("yolo train model=yolov8s.pt batch=16 nbs=16"), "global_batch = 16"));
  CHECK_FALSE(says(read("yolo train model=yolov8s.pt batch=16 nbs=16"), "accumulation"));
}

TEST_CASE("AutoBatch is open on one GPU, and 16 on several") {
  for (const char* batch : {"-1", "0.8"}) {
    const Read one = read(std::string("yolo train model=yolov8s.pt batch=") + batch);
    CHECK(is_open(one, "batch"));
    CHECK_FALSE(says(one, "global_batch"));
    CHECK(says(read(std::string("yolo train model=yolov8s.pt device=0,1 batch=") + batch),
               "global_batch = 16"));
  }
}

TEST_CASE("a batch that GPUs cannot share is refused, as the library does") {
  const Read job = read("yolo train model=yolov8s.pt device=0,1,2 batch=16");
  REQUIRE(job.settings.mistakes.size() == 1);
  CHECK(job.settings.mistakes[0].message == "batch = 16 is no multiple of 3 GPUs");
}

TEST_CASE("yolo that does not train starts nothing") {
  CHECK(test::launch_of(read("yolo predict model=yolo11m.pt").script) == "- - -");
  CHECK(test::launch_of(read("yolo mode=train model=yolo11m.pt").script) == "python 1 yolo");
}

TEST_CASE("another side of the image is another network") {
  const Read job = read("yolo train model=yolo11n.pt imgsz=1280 device=0,1 batch=16");
  CHECK(job.scenario.find("side = 1280") != std::string::npos);
  CHECK_FALSE(says(job, "name = \"yolo11n\""));
}

TEST_CASE("a YAML beside the script is the network") {
  const Read job =
      read("yolo train model=mine.yaml device=0,1",
           "nc: 3\nbackbone:\n  - [-1, 1, Conv, [64, 3, 2]]\nhead:\n  - [[0], 1, Detect, [nc]]\n");
  CHECK(says(job, "network = '''"));
  const Read wrong =
      read("yolo train model=mine.yaml device=0,1",
           "nc: 3\nbackbone:\n  - [-1, 1, What, [64, 3, 2]]\nhead:\n  - [[0], 1, Detect, [nc]]\n");
  CHECK(is_open(wrong, "model"));
  CHECK(is_open(read("yolo train model=best.pt"), "model"));
}

TEST_CASE("YOLO(…).train(…) in the program says the same, and starts its processes itself") {
  const Read job = read("python train.py",
                        "from ultralytics import YOLO\n\nmodel = YOLO(\"yolov8m.pt\")\n"
                        "model.train(data=\"coco.yaml\", batch=64, device=[0, 1], epochs=3, amp=False)\n");
  CHECK(test::launch_of(job.script) == "torchrun 2 train.py");
  for (const char* line : {"name = \"yolov8m\"", "global_batch = 64", "precision = \"fp32\"", "epochs = 3"}) {
    INFO(line << "\n" << job.scenario);
    CHECK(says(job, line));
  }
}

TEST_CASE("train() of a program without YOLO is no setting") {
  const Read job = read("python train.py",
                        "import torch\nmodel.train()\nloader = DataLoader(d, batch_size=8)\n"
                        "train(batch=64, device=[0, 1])\n");
  CHECK(test::launch_of(job.script) == "python 1 train.py");
  CHECK_FALSE(says(job, "global_batch"));
}

TEST_CASE("args.yaml of a run is read as settings") {
  const TrainingSettings read = read_settings(
      {"args.yaml",
       "task: detect\nmode: train\nmodel: yolo11n.pt\ndata: coco.yaml\nepochs: 100\nbatch: 128\n"
       "imgsz: 640\ndevice: 0,1\nworkers: 8\noptimizer: AdamW\namp: true\nnbs: 64\nfreeze: 10\n"
       "strange: 3\n"});
  CHECK(read.format == "Ultralytics");
  CHECK(value_of(read, "model.global_batch") == "128");
  CHECK(value_of(read, "model.optimizer") == "\"adamw\"");
  CHECK(value_of(read, "data.workers_per_gpu") == "8");
  CHECK(read.processes == 2);
  std::string notes;
  for (const Diagnostic& note : notes_of(read)) notes += note.message + "\n";
  CHECK(value_of(read, "model.trainable") == "[\"from:10\"]");
  CHECK_THAT(notes, ContainsSubstring("not known here: strange"));
}

TEST_CASE("threads of the host's optimizer are those of the script, or of what starts it") {
  const std::string offload =
      R"({"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}})";
  const std::string torchrun = "torchrun --nproc_per_node=4 train.py --deepspeed ds.json";
  CHECK(says(read("export OMP_NUM_THREADS=16\n" + torchrun, offload), "cpu_threads = 16"));
  CHECK(says(read(torchrun, offload), "cpu_threads = 1"));
  CHECK_FALSE(says(read("deepspeed train.py --deepspeed ds.json", offload), "cpu_threads"));
  CHECK(says(read("deepspeed --bind_cores_to_rank train.py --deepspeed ds.json", offload),
             "bind_cores_to_rank = true"));
  CHECK_FALSE(says(read("export OMP_NUM_THREADS=16\ntorchrun --nproc_per_node=4 train.py"), "cpu_threads"));
  CHECK_FALSE(says(read("export OMP_NUM_THREADS=many\n" + torchrun, offload), "cpu_threads = many"));
}

}  // namespace ultralytics_settings_test

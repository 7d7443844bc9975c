// Files of our own for scenarios and sweeps; for every other reader the first seed of its fuzz target.
#include "tests/command_lines/command_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

namespace foretrain::test {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestSeed = 20'000;

constexpr std::array<std::pair<const char*, const char*>, 9> kOwn{{
    {"s.toml",
     "[model]\nname = \"resnet50\"\nbatch_per_gpu = 32\n[cluster]\nname = \"mahti\"\n[data]\nsamples = "
     "50_000\n"
     "[strategy]\nname = \"ddp\"\n[run]\ngpus = [1, 2, 4]\n"},
    {"launch.toml",
     "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"two-generations\"\n[launch]\nwith = \"srun\"\n"
     "nodes_of = { a100 = 2 }\nslow_gpus = [{ node = 0, gpu = 1, clock = 0.5 }]\n[run]\ngpus = [2, 8]\n"},
    {"measured.toml",
     "[model]\nname = \"resnet50\"\n[cluster]\nname = \"puhti\"\n[strategy]\nname = \"horovod\"\n[measured]\n"
     "samples_per_s = 326\n"},
    {"parallel.toml",
     "[model]\nname = \"gpt2\"\n[cluster]\nname = \"mahti\"\n[parallel]\ntensor = 2\npipeline = 2\n"
     "global_batch = 64\n[run]\ngpus = [4, 8]\n"},
    {"study.toml",
     "[model]\nname = \"resnet50\"\n[cluster]\nname = \"mahti\"\n[run]\ngpus = [4]\n[study]\n"
     "strategy = [\"ddp\", \"horovod\"]\nbatch = [8, 64]\n"},
    {"sweep.toml", "scenario = \"s.toml\"\n[axes]\nbatch = [8, 16]\nstrategy = [\"ddp\", \"single\"]\n"},
    {"job.sbatch",
     "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4 --gres=gpu:a100:4 --cpus-per-task=8 "
     "--time=01:00:00\n"
     "srun python train.py --batch-size 64 --arch resnet50\n"},
    {"broken.toml", "[model\nname = resnet50\n"},
    {"empty.txt", ""},
}};

struct Written {
  std::string text;
  fs::file_time_type time;
};

std::map<std::string, Written>& written() {
  static std::map<std::string, Written> files;
  return files;
}

void write(const std::string& name, const std::string& text) {
  std::ofstream(name, std::ios::binary | std::ios::trunc) << text;
  written()[name] = {text, fs::last_write_time(name)};
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// By name, so that the choice is the same everywhere.
void write_first_seed(const fs::path& folder) {
  std::vector<fs::path> seeds;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && entry.file_size() > 0 && entry.file_size() <= kLargestSeed)
      seeds.push_back(entry.path());
  if (seeds.empty()) return;
  const fs::path& first = *std::ranges::min_element(seeds);
  const std::string name = folder.filename().string();
  write(name.substr(name.find('_') + 1) + first.extension().string(), text_of(first));
}

bool is_as_written(const std::string& name, const Written& file) {
  std::error_code gone;
  return fs::is_regular_file(name, gone) && fs::last_write_time(name, gone) == file.time &&
         fs::file_size(name, gone) == file.text.size();
}

}  // namespace

std::vector<std::string> write_files() {
  for (const auto& [name, text] : kOwn) write(name, text);
  for (const fs::directory_entry& entry : fs::directory_iterator(FORETRAIN_SOURCE_DIR "/tests/fuzz/corpus"))
    if (entry.is_directory()) write_first_seed(entry.path());
  std::vector<std::string> names;
  for (const auto& [name, file] : written()) names.push_back(name);
  return names;
}

LeftBehind restore_files() {
  LeftBehind out;
  std::vector<fs::path> extra;
  for (const fs::directory_entry& entry : fs::directory_iterator("."))
    if (!written().contains(entry.path().filename().string())) extra.push_back(entry.path());
  for (const fs::path& path : extra) {
    if (path.filename() != "home") out.added.push_back(path.filename().string());
    fs::remove_all(path);
  }
  for (auto& [name, file] : written()) {
    if (is_as_written(name, file)) continue;
    out.changed.push_back(name);
    write(name, file.text);
  }
  return out;
}

}  // namespace foretrain::test

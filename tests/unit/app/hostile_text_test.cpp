// Names and notes that act on terminals and scripts: shown as they are written, or refused where they stand,
// and never run.
#include <algorithm>
#include <regex>

#include "sim/base/printable.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace hostile_text_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

/// A copy of a file of the catalogs.
std::string source_file(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(std::string(FORETRAIN_SOURCE_DIR) + "/" + path, std::ios::binary).rdbuf();
  return text.str();
}

bool is_shown(const std::string& text) { return printable_lines(text) == text; }

ProgramRun run_shown(const TemporaryFolder& folder, const std::string& line, int code) {
  ProgramRun run = folder.run(line);
  INFO(printable_lines(line + "\n" + run.output));
  CHECK(run.exit_code == code);
  CHECK(is_shown(run.output));
  return run;
}

/// Puhti with that line in its table [site], as line 49.
std::string puhti_with(const std::string& line) {
  const std::string puhti = source_file("topologies/puhti.toml");
  return puhti.substr(0, puhti.find("[site]")) + "[site]\nbatch_system = \"slurm\"\n" + line + "\n";
}

const std::string kEscape = "\x1b[31m\x07\u202e";

}  // namespace

TEST_CASE("what a terminal would act on is written out in every answer to a command line") {
  const TemporaryFolder folder;
  const std::string bad = "'x" + kEscape + "'", file = "'x" + kEscape + ".toml'";
  folder.write("x" + kEscape + ".toml", "wrong = 1\n");
  run_shown(folder, "foretrain " + bad, 2);
  run_shown(folder, "foretrain predict --" + bad, 2);
  run_shown(folder, "foretrain predict --format " + bad, 2);
  run_shown(folder, "foretrain list " + bad, 2);
  run_shown(folder, "foretrain predict " + bad, 1);
  run_shown(folder, "foretrain predict " + file, 1);
  run_shown(folder, "foretrain predict --model " + bad + " --cluster puhti", 1);
  run_shown(folder, "foretrain predict --model resnet50 --cluster ./" + file, 1);
  run_shown(folder, "foretrain predict mahti-resnet50-ddp --set 'run.note=" + kEscape + "'", 1);
  run_shown(folder, "foretrain predict mahti-resnet50-ddp --set note=" + bad, 0);
  run_shown(folder, "foretrain predict mahti-resnet50-ddp -o " + bad + "/out", 3);
  run_shown(folder, "foretrain validate " + bad, 1);
  run_shown(folder, "foretrain model show " + bad, 1);
  run_shown(folder, "foretrain topology draw puhti -o " + bad, 1);
  run_shown(folder, "foretrain job show " + file, 1);
  run_shown(folder, "foretrain collective --cluster " + bad + " --op " + bad + " --gpus 4", 1);
  run_shown(folder, "foretrain calibrate samples " + file, 1);
}

TEST_CASE("files with such names answer with the names written out") {
  const TemporaryFolder folder;
  const std::string name = "x" + kEscape + "\nerror: none";
  folder.write(name + ".toml",
               "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"star-1gpu\"\n[run]\ngpus = [1]\n");
  folder.write(
      name + ".csv",
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
      "s" +
          kEscape +
          ",mnist_net,puhti,ddp,fp32,64,1,1,samples_per_s,20000,,made up\n"
          "s" +
          kEscape + ",mnist_net,puhti,ddp,fp32,64,4,1,samples_per_s,40000,," + kEscape + "\n");
  for (const char* format : {"table", "csv", "json"}) {
    const ProgramRun run =
        run_shown(folder, "foretrain predict './" + name + ".toml' --html page.html --format " + format, 0);
    CHECK(run.output.find("\nerror: none") == std::string::npos);
  }
  CHECK(is_shown(folder.read("page.html")));
  for (const char* format : {"table", "json"})
    run_shown(folder, "foretrain validate './" + name + ".csv' --format " + format, 0);
}

TEST_CASE("notes and names with hidden characters are refused where they stand") {
  const TemporaryFolder folder;
  const std::string asked =
      "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"star-1gpu\"\n[run]\ngpus = [1]\n";
  for (const char* hidden : {"\\u001b[31m", "\u202e", "\\u009b31m", "\\u0007"}) {
    folder.write("s.toml", "note = \"a" + std::string(hidden) + "\"\n" + asked);
    CHECK_THAT(run_shown(folder, "foretrain predict s.toml", 1).output,
               ContainsSubstring("s.toml:1:8: error: a text must not hold"));
  }
  folder.write("s.toml", "note = \"two\\nlines, µ é →\"\n" + asked);
  CHECK_THAT(run_shown(folder, "foretrain predict s.toml", 0).output,
             ContainsSubstring("two lines, µ é →\n"));
}

TEST_CASE(
    "the log of a measurement is read with its colours written out, and the calibration of it is read "
    "again") {
  const TemporaryFolder folder;
  std::string samples =
      "# host: n1" + kEscape + "\nkind,what,gpus,nodes,bytes,value,unit,spread,repeats,settings,source\n";
  for (long bytes = 1024; bytes <= 1L << 20; bytes *= 4)
    samples += "collective,all_reduce,8,2," + std::to_string(bytes) + "," +
               std::to_string(100 + bytes / 1000) + ",us,0.02,5,,made" + kEscape + "\n";
  folder.write("s" + kEscape + ".csv", samples);
  run_shown(folder, "foretrain calibrate samples './s" + kEscape + ".csv'", 0);
  run_shown(folder,
            "foretrain calibrate fit './s" + kEscape + ".csv' --cluster puhti --description 'mine" + kEscape +
                "\nx' -o fit.toml --svg fit.svg",
            0);
  CHECK(is_shown(folder.read("fit.toml")));
  CHECK(is_shown(folder.read("fit.svg")));
  CHECK_THAT(folder.read("fit.toml"), ContainsSubstring("description = \"mine\\\\u001b[31m"));
  run_shown(folder, "foretrain calibrate show ./fit.toml", 0);
}

TEST_CASE("a text of a site that would run something from a job script is refused where it stands") {
  const TemporaryFolder folder;
  const std::string recommend =
      "foretrain predict --model mnist_net --cluster ./c.toml --gpus 1 --set data.samples=60000 --recommend ";
  for (const char* line :
       {R"(gpu_type = "x\ntouch pwned\n#")", R"(partitions = [{ name = "x\ntouch pwned\n#" }])",
        R"(constraints = ["x\ntouch pwned\n#"])", R"(requirements = "x\ntouch pwned\n#")",
        "gpu_type = \"$(touch pwned)\""}) {
    folder.write("c.toml", puhti_with(line));
    for (const char* option : {"--sbatch job", "--condor job"}) {
      const ProgramRun run = run_shown(folder, recommend + option, 1);
      CHECK_THAT(run.output, ContainsSubstring("c.toml:50:") && ContainsSubstring("error: site."));
      CHECK(folder.entries() == 1);
    }
  }
}

TEST_CASE("a job script for a model and a cluster whose files are called like commands runs none of them") {
  for (const std::string name : {"x'; touch pwned; '", "$(touch pwned)", "`touch pwned`", "x\\"}) {
    const TemporaryFolder folder;
    folder.write(name + ".toml", source_file("models/mnist_net.toml"));
    folder.write("c" + name + ".toml", source_file("topologies/puhti.toml"));
    folder.write("s.toml", "[model]\nname = \"\"\"./" + std::regex_replace(name, std::regex("\\\\"), "\\\\") +
                               ".toml\"\"\"\n[cluster]\nname = \"\"\"./c" +
                               std::regex_replace(name, std::regex("\\\\"), "\\\\") +
                               ".toml\"\"\"\n[run]\ngpus = [1, 4]\n[data]\nsamples = 60000\n");
    for (const char* option : {"--sbatch", "--condor"}) {
      run_shown(folder, std::string("foretrain predict s.toml --recommend ") + option + " job", 0);
      CHECK_THAT(folder.read("job"), ContainsSubstring("# " + name + " with ddp on c" + name + ": "));
      folder.run("PATH=/usr/bin:/bin sh job");
      CHECK_FALSE(std::filesystem::exists(folder.path() / "pwned"));
    }
  }
}

TEST_CASE("names of several lines are refused on the command line and in a file") {
  const TemporaryFolder folder;
  folder.write("x\ntouch pwned\n#.toml", source_file("models/mnist_net.toml"));
  run_shown(folder,
            "foretrain predict --model './x\ntouch pwned\n#.toml' --cluster puhti --gpus 1 --sbatch job", 1);
  folder.write(
      "s.toml",
      "[model]\nname = \"./x\\ntouch pwned\\n#.toml\"\n[cluster]\nname = \"puhti\"\n[run]\ngpus = [1]\n");
  CHECK_THAT(run_shown(folder, "foretrain predict s.toml", 1).output,
             ContainsSubstring("s.toml:2:8: error: model.name must be one line of text"));
  CHECK(folder.entries() == 2);
}

TEST_CASE("names that are too long for any file are the user's mistake, in a file and on the command line") {
  const TemporaryFolder folder;
  for (const std::size_t length : {129u, 300u, 5000u}) {
    const std::string name(length, 'x');
    for (const std::string& path : {name, name + ".toml", "./" + name, "./" + name + ".toml"}) {
      folder.write("m.toml",
                   "[model]\nname = \"" + path + "\"\n[cluster]\nname = \"puhti\"\n[run]\ngpus = [1]\n");
      folder.write("c.toml", "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\ncalibration = \"" +
                                 path + "\"\n[run]\ngpus = [1]\n");
      folder.write("d.toml", "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n[data]\nname = \"" +
                                 path + "\"\n[run]\ngpus = [1]\n");
      CHECK_THAT(run_shown(folder, "foretrain predict m.toml", 1).output,
                 ContainsSubstring("m.toml:2:8: error: "));
      CHECK_THAT(run_shown(folder, "foretrain predict d.toml", 1).output,
                 ContainsSubstring("d.toml:6:8: error: "));
      run_shown(folder, "foretrain predict c.toml", 1);
      run_shown(folder, "foretrain predict --model mnist_net --cluster " + path, 1);
      run_shown(folder, "foretrain predict --cluster puhti --model " + path, 1);
      run_shown(folder, "foretrain predict " + path, 1);
      run_shown(folder, "foretrain job show " + path, 1);
      run_shown(folder, "foretrain model show " + path, 1);
      run_shown(folder, "foretrain calibrate show " + path, 1);
      CHECK(run_shown(folder, "foretrain validate " + path, 1).output.size() < 2000);
    }
  }
}

TEST_CASE("a link of eight bits per second is the user's mistake wherever it is met") {
  const TemporaryFolder folder;
  const std::string link = source_file("topologies/links/ib_ndr.toml");
  folder.write("slow.toml", std::regex_replace(link, std::regex("\"[0-9.]+ GBps\""), "\"8 bps\""));
  folder.write("c.toml", std::regex_replace(source_file("topologies/star-1gpu.toml"),
                                            std::regex("\"ib_ndr\""), "\"./slow.toml\""));
  for (const char* command :
       {"collective --cluster ./c.toml --op all_reduce --gpus 4",
        "predict --model resnet50 --cluster ./c.toml --gpus 4",
        "collective --cluster ./c.toml --op all_reduce --gpus 4 --sizes 64M --fidelity analytic",
        "collective --cluster ./c.toml --op all_reduce --gpus 4 --sizes 64M --fidelity chunk"}) {
    const ProgramRun run = run_shown(folder, std::string("foretrain ") + command, 1);
    CHECK_THAT(run.output, ContainsSubstring("error: ") && ContainsSubstring("hint: "));
  }
}

}  // namespace hostile_text_test

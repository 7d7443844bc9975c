// Where the program writes: standard output that takes nothing, files that were read, one file for two
// results, a limit on its size.
#include <functional>

#include <fmt/format.h>
#include <sys/stat.h>

#include "sim/base/printable.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace outputs_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

const std::string kSmall = "foretrain predict --model mnist_net --cluster star-1gpu --gpus 1 ";

/// A copy of a file of the catalogs.
std::string source_file(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(std::string(FORETRAIN_SOURCE_DIR) + "/" + path, std::ios::binary).rdbuf();
  return text.str();
}

/// The command is a mistake of the user, says so, and no file has changed.
void refuse(const TemporaryFolder& folder, const std::string& line, const std::string& why) {
  std::map<std::string, std::string> before;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    before[entry.path().filename().string()] = folder.read(entry.path().filename().string());
  const ProgramRun run = folder.run(line);
  INFO(line << "\n" << run.output);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring(why));
  CHECK(folder.entries() == before.size());
  for (const auto& [name, text] : before) CHECK(folder.read(name) == text);
}

}  // namespace

TEST_CASE("whatever is printed on a full device is the world's failure, code 3") {
  const TemporaryFolder folder;
  for (const char* arguments :
       {"--help", "predict --help", "topology draw --help", "--version", "list models", "reference commands",
        "topology check puhti", "predict --model mnist_net --cluster star-1gpu --gpus 1"}) {
    for (const char* where : {" > /dev/full", " >&-"}) {
      const ProgramRun run = folder.run(std::string("foretrain ") + arguments + where);
      INFO(arguments << where << "\n" << run.output);
      CHECK(run.exit_code == 3);
      CHECK_THAT(run.output, ContainsSubstring("error: standard output: cannot be written: "));
    }
  }
  CHECK(folder.run("foretrain list nothing >&-").exit_code == 2);
}

TEST_CASE("a page shows the links of a job that does not get the first nodes") {
  const TemporaryFolder folder;
  for (const char* exclude : {"[0]", "[0, 1]"}) {
    const ProgramRun run =
        folder.run(fmt::format("foretrain predict --model resnet18 --cluster mahti --gpus 8 --set "
                               "'launch.exclude={}' --html page.html",
                               exclude));
    INFO(run.output);
    CHECK(run.exit_code == 0);
    CHECK_THAT(folder.read("page.html"), ContainsSubstring("\"links\":[{\"name\":\""));
  }
}

TEST_CASE("a reader that stops early is no mistake") {
  const TemporaryFolder folder;
  for (const char* arguments : {"--help", "list models", "reference commands"}) {
    const ProgramRun run = folder.run(std::string("foretrain ") + arguments + " | head -n 1");
    INFO(run.output);
    CHECK(run.exit_code == 0);
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  }
}

TEST_CASE("with standard output closed the files are written and hold nothing else") {
  const TemporaryFolder folder;
  CHECK(folder.run(kSmall + "-o out.json --format json --html page.html >&-").exit_code == 0);
  CHECK_THAT(folder.read("out.json"), ContainsSubstring("foretrain.prediction/1"));
  CHECK(folder.read("page.html").starts_with("<!doctype html>"));
  CHECK(folder.entries() == 2);
}

TEST_CASE("an output at standard output's own file is written where the shell left off") {
  const TemporaryFolder folder;
  CHECK(folder.run("echo before > log; " + kSmall + "--format csv -o /dev/stdout >> log; echo after >> log")
            .exit_code == 0);
  const std::string log = folder.read("log");
  CHECK(log.starts_with("before\nscenario,"));
  CHECK(log.ends_with("after\n"));
}

TEST_CASE("two results for one file are refused before anything is written") {
  const TemporaryFolder folder;
  folder.write("there", "kept\n");
  std::filesystem::create_symlink("there", folder.path() / "link");
  for (const char* options :
       {"-o new --html new", "--html new --trace ./new", "-o there --html link", "--trace new -o $PWD/new",
        "--sbatch new --condor new", "--recommend --sbatch new -o new"})
    refuse(folder, kSmall + "--set data.samples=60000 " + options, "both write");
  refuse(folder, "foretrain collective --cluster puhti --op all_reduce --gpus 4 -o new --svg new",
         "both write");
  CHECK(folder.run(kSmall + "-o /dev/null --html /dev/null").exit_code == 0);
}

TEST_CASE("a dash is standard output for every option that names a file, and no file is called so") {
  const TemporaryFolder folder;
  const std::string asked = kSmall + "--set data.samples=60000 -o report ";
  for (const auto& [options, text] : std::vector<std::pair<std::string, std::string>>{
           {"--recommend --job-script -", "#!/bin/bash\n# mnist_net with "},
           {"--recommend --job-script - --job-system pbs", "#PBS -l select="},
           {"--sbatch -", "#SBATCH --nodes="},
           {"--condor -", "universe = vanilla"},
           {"--html -", "<!doctype html>"},
           {"--trace -", "\"traceEvents\""}}) {
    const ProgramRun run = folder.run(asked + options);
    INFO(options << ": " << run.output.substr(0, 400));
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.output, ContainsSubstring(text));
    CHECK_THAT(folder.read("report"), ContainsSubstring("mnist_net on star-1gpu"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "-"));
  }
  const ProgramRun drawn =
      folder.run("foretrain collective --cluster puhti --op all_reduce --gpus 4 -o report --svg -");
  CHECK_THAT(drawn.output, ContainsSubstring("<svg"));
  CHECK(folder.entries() == 1);
}

TEST_CASE("two texts do not go to standard output, and what is no text goes to a file") {
  const TemporaryFolder folder;
  const std::string asked = kSmall + "--set data.samples=60000 ";
  const std::string why = "would both go to standard output";
  for (const char* options : {"--recommend --job-script -", "-o - --html -", "--sbatch -",
                              "-o report --html - --trace -", "-o report --sbatch - --condor -"})
    refuse(folder, asked + options, why);
  refuse(folder, asked + "--recommend --job-script -", "hint: -o FILE puts the report into a file");
  refuse(folder, "foretrain collective --cluster puhti --op all_reduce --gpus 4 --svg -", why);
  refuse(folder, "foretrain export goal mahti-resnet50-ddp --gpus 2 -o -", "goes into files");
  folder.write("sweep.toml", "scenario = \"mahti-resnet50-ddp\"\n[axes]\ngpus = [1]\n");
  refuse(folder, "foretrain sweep run sweep.toml --db -", "a database is a file");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "-"));
}

TEST_CASE("a scenario, and every file it names, is not overwritten by a result") {
  const TemporaryFolder folder;
  folder.write("model.toml", source_file("models/mnist_net.toml"));
  folder.write("cluster.toml", source_file("topologies/star-1gpu.toml"));
  folder.write("asked.toml",
               "[model]\nname = \"./model.toml\"\n[cluster]\nname = \"./cluster.toml\"\n[run]\ngpus = [1]\n");
  std::filesystem::create_symlink("asked.toml", folder.path() / "link");
  for (const char* output : {"asked.toml", "./asked.toml", "link", "model.toml", "cluster.toml"}) {
    for (const char* option : {"-o ", "--html ", "--trace "})
      refuse(folder, std::string("foretrain predict asked.toml ") + option + output,
             "was read and would be overwritten");
    refuse(folder, std::string("foretrain compare asked.toml --strategies ddp -o ") + output,
           "was read and would be overwritten");
  }
  CHECK(folder.run("foretrain predict asked.toml -o out").exit_code == 0);
}

TEST_CASE(
    "measurements, logs, models, clusters and job scripts are not overwritten by what is made of them") {
  const TemporaryFolder folder;
  folder.write("model.toml", source_file("models/mnist_net.toml"));
  folder.write("cluster.toml", source_file("topologies/puhti.toml"));
  folder.write(
      "training.csv",
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
      "s,mnist_net,puhti,ddp,fp32,64,1,1,samples_per_s,20000,,made up\n");
  folder.write("job.sh", "#!/bin/bash\n#SBATCH --gres=gpu:v100:4\nsrun python train.py\n");
  std::string samples = "kind,what,gpus,nodes,bytes,value,unit,spread,repeats,settings,source\n";
  for (long bytes = 1024; bytes <= 1L << 20; bytes *= 4)
    samples += fmt::format("collective,all_reduce,8,2,{},100,us,0.02,5,,\n", bytes);
  folder.write("samples.csv", samples);
  const std::string why = "was read and would be overwritten";
  refuse(folder, "foretrain validate training.csv -o training.csv", why);
  folder.write("rules.toml",
               "[[rule]]\nwords = [\"x\"]\nsettings = { loop.progress_bar = true }\nsaid_in = \"its log\"\n");
  refuse(folder, "foretrain validate training.csv --provenance rules.toml -o rules.toml", why);
  refuse(folder, "foretrain model show ./model.toml -o model.toml", why);
  refuse(folder, "foretrain collective --cluster ./cluster.toml --op all_reduce --gpus 4 --svg cluster.toml",
         why);
  refuse(folder, "foretrain job show job.sh -o job.sh", why);
  refuse(folder, "foretrain calibrate samples samples.csv -o samples.csv", why);
  refuse(folder, "foretrain calibrate samples samples.csv --format csv -o ./samples.csv", why);
  refuse(folder, "foretrain calibrate fit samples.csv --cluster puhti -o samples.csv", why);
  refuse(folder,
         "foretrain calibrate fit samples.csv --cluster ./cluster.toml -o fit.toml --svg cluster.toml", why);
  refuse(folder, "foretrain calibrate fit samples.csv --cluster puhti -o fit.toml --svg fit.toml",
         "both write");
}

TEST_CASE("a result keeps the permissions of the file it replaces") {
  const TemporaryFolder folder;
  folder.write("out", "private");
  REQUIRE(::chmod((folder.path() / "out").c_str(), 0600) == 0);
  CHECK(folder.run("umask 022; " + kSmall + "--format csv -o out").exit_code == 0);
  CHECK(folder.run("umask 027; " + kSmall + "--format csv -o new").exit_code == 0);
  struct stat there {
  }, made{};
  REQUIRE(::stat((folder.path() / "out").c_str(), &there) == 0);
  REQUIRE(::stat((folder.path() / "new").c_str(), &made) == 0);
  CHECK((there.st_mode & 0777) == 0600);
  CHECK((made.st_mode & 0777) == 0640);
  CHECK(folder.read("out") == folder.read("new"));
}

TEST_CASE("a pipe that nobody reads is refused at once") {
  const TemporaryFolder folder;
  CHECK(folder.run("mkfifo pipe").exit_code == 0);
  const ProgramRun run = folder.run(kSmall + "-o pipe");
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.output, ContainsSubstring("pipe: cannot be written: nobody reads from this pipe"));
  CHECK_THAT(folder.run("cat pipe & " + kSmall + "--format csv -o pipe; wait").output,
             ContainsSubstring("scenario,model"));
}

TEST_CASE("a trace beyond the limit on file sizes is the world's failure, and nothing of it stays") {
  const TemporaryFolder folder;
  folder.write("trace.json", "kept\n");
  const ProgramRun run = folder.run("ulimit -f 8; " + kSmall + "--trace trace.json");
  INFO(run.output);
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.output, ContainsSubstring("trace.json: cannot be written: File too large"));
  CHECK(folder.read("trace.json") == "kept\n");
  CHECK(folder.entries() == 1);
}

TEST_CASE("warnings beside JSON and CSV go to standard error, and stay in both") {
  const TemporaryFolder folder;
  const std::string warned =
      "foretrain predict --model mnist_net --cluster puhti --gpus 1,8 --precision bf16 ";
  const ProgramRun table = folder.run(warned + "2>/dev/null");
  CHECK_THAT(table.output, ContainsSubstring("\nWarning  "));
  CHECK(folder.run(warned + "2>&1 >/dev/null").output.empty());
  for (const std::string format : {"json", "csv"}) {
    INFO(format);
    CHECK_THAT(folder.run(warned + "--format " + format + " 2>&1 >/dev/null").output,
               ContainsSubstring("warning: "));
    CHECK(folder.run(warned + "--format " + format + " 2>/dev/null").output.find("warning: ") ==
          std::string::npos);
  }
  const std::string csv = folder.run(warned + "--format csv 2>/dev/null").output;
  CHECK_THAT(csv, ContainsSubstring(",fits,warnings,verdict,cause\n"));
  CHECK(csv.find(",true,") != std::string::npos);
  CHECK(folder
            .run("foretrain compare --model mnist_net --cluster puhti --gpus 2 --strategies ddp,dp --format "
                 "json "
                 "--precision bf16 2>&1 >/dev/null")
            .output.starts_with("warning: "));
}

TEST_CASE("a terminal gets prose at its width and colours unless NO_COLOR is set, a pipe gets neither") {
  const TemporaryFolder folder;
  if (folder.run("command -v script").exit_code != 0) FORETRAIN_SKIP("no script(1) here");
  // A bare chroot has the command, but no pseudo-terminal for it.
  if (folder.run("script -qec 'test -t 1' /dev/null").exit_code != 0)
    FORETRAIN_SKIP("no pseudo-terminal here");
  const auto on_terminal = [&](const std::string& line, const std::string& before) {
    return folder.run(before + " TERM=xterm script -qec '" + line + "' /dev/null").output;
  };
  const std::string why = "foretrain predict --model mnist_net --cluster puhti --gpus 1,8 --details ";
  const auto longest_prose = [](const std::string& text) {
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("Why: ")) longest = line.size();
    }
    return longest;
  };
  CHECK(longest_prose(on_terminal(why, "")) <= 81);  // and a carriage return
  CHECK(longest_prose(folder.run(why).output) > 120);
  const std::string wrong = "foretrain predict --model mnist_net --cluster puhtj; true";
  CHECK_THAT(on_terminal(wrong, "NO_COLOR="), ContainsSubstring("\x1b[1;31merror:\x1b[0m"));
  CHECK(on_terminal(wrong, "NO_COLOR=1").find('\x1b') == std::string::npos);
  CHECK(folder.run(wrong).output.find('\x1b') == std::string::npos);
}

TEST_CASE("an empty catalog says so") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run("foretrain list calibrations");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("There are no calibrations. foretrain calibrate fit makes one"));
}

}  // namespace outputs_test

// What a sweep's file means, and what is said of one that means nothing.
#include <fmt/format.h>

#include "sim/scenario/sweep/sweep.hpp"
#include "tests/support/catch.hpp"

namespace sweep_reader_test {

using namespace foretrain;

namespace {

Sweep read(const std::string& text, const std::string& name = "s.toml") {
  return read_or_throw(SourceText{name, text}, read_sweep);
}

std::string mistakes(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string values(const StudyAxis& axis) {
  std::string out;
  for (const Value& value : axis.values) out += (out.empty() ? "" : " ") + text_of(value);
  return out;
}

std::string values_of(const std::string& range) {
  return values(read("[axes]\n\"strategy.bucket_cap\" = " + range).axes.front());
}

}  // namespace

TEST_CASE("an axis is a list or a range in steps, ratios or at random, with units as written") {
  CHECK(values_of("[\"1 MiB\", \"25 MiB\"]") == "1 MiB 25 MiB");
  CHECK(values_of("{ from = 1, to = 10, step = 3 }") == "1 4 7 10");
  CHECK(values_of("{ from = 0.1, to = 0.5, step = 0.2 }") == "0.1 0.3 0.5");
  CHECK(values_of("{ from = 9, to = 1, step = -4 }") == "9 5 1");
  CHECK(values_of("{ from = \"1 MiB\", to = \"64 MiB\", factor = 4 }") == "1 MiB 4 MiB 16 MiB 64 MiB");
  CHECK(values_of("{ from = 1, to = 100, steps = 3, scale = \"log\" }") == "1 10 100");
  CHECK(values_of("{ from = 1, to = 3, steps = 9 }") == "1 2 3");
  CHECK(values_of("{ from = 5, to = 9, steps = 1 }") == "5");
  const std::string drawn = values_of("{ from = 0.0, to = 1.0, random = 4 }");
  CHECK(drawn == values_of("{ from = 0.0, to = 1.0, random = 4 }"));
  CHECK(drawn !=
        values(read("seed = 2\n[axes]\n\"strategy.bucket_cap\" = { from = 0.0, to = 1.0, random = 4 }")
                   .axes.front()));
}

TEST_CASE(
    "numbers of GPUs are the last axis wherever they stand, and come from the scenario if they do not") {
  const Sweep sweep = read("[axes]\ngpus = [1, 2]\nbatch = [8]");
  CHECK(sweep.axes[0].key == "model.batch_per_gpu");
  CHECK(sweep.axes[1].key == "run.gpus");
  Sweep other = read("[axes]\nbatch = [8]");
  add_gpus(other, {1, 4});
  CHECK(values(other.axes.back()) == "1 4");
}

TEST_CASE("what a database keeps of a sweep is read back as the same sweep") {
  Sweep sweep = read(
      "scenario = \"x\"\nseed = 5\nwhere = [\"gpus > 1 OR strategy <> 'dp'\"]\n[axes]\nstrategy = [\"dp\", "
      "\"d\\\"'\\n\"]\ngpus = [1, 2]\n[sample]\nmethod = \"sobol\"\ncount = 3\n[sample.axes]\nbatch = { from "
      "= 8, to "
      "= 64 }\nworkers = [0, 4]");
  const std::string text = sweep_text(sweep);
  const Sweep again = read(text);
  CHECK(sweep_text(again) == text);
  CHECK(again.sampled.size() == 2);
  CHECK(values(again.sampled[1]) == values(sweep.sampled[1]));
  CHECK(again.conditions.front().text == sweep.conditions.front().text);
}

TEST_CASE("names of files in a sweep are relative to its folder, names of catalogs stay") {
  const Sweep sweep =
      read("scenario = \"a.toml\"\n[axes]\nmodel = [\"resnet50\", \"../m.toml\", \"/m.toml\"]", "f/g/s.toml");
  CHECK(sweep.scenario == "f/g/a.toml");
  CHECK(values(sweep.axes.front()) == "resnet50 f/m.toml /m.toml");
}

TEST_CASE("an axis of 10^12 values and a sweep of 10^12 cases are refused with the count") {
  CHECK_THAT(
      mistakes("[axes]\nbatch = { from = 1, to = 1000000000000, step = 1 }"),
      ContainsSubstring("s.toml:2:9: error: axes: \"batch\" has 1000000000000 values, at most 1000000"));
  CHECK_THAT(mistakes("[axes]\nbatch = { from = 1, to = 2, steps = 1000000000000 }"),
             ContainsSubstring("has 1000000000000 values"));
  CHECK_THAT(mistakes("[axes]\nbatch = { from = 1, to = 2, random = 1000000000000 }"),
             ContainsSubstring("has 1000000000000 values"));
  CHECK_THAT(mistakes("[sample]\ncount = 1000000000000\n[sample.axes]\nbatch = { from = 1, to = 2 }"),
             ContainsSubstring("sample.count is 1000000000000, at most 1000000 are drawn"));
}

TEST_CASE("mistakes of a sweep are told all at once, each where it stands") {
  const std::string all = mistakes(
      "sed = 1\n[axes]\nbach = [1]\nbatch = []\n\"model.batch_per_gpu\" = [2]\nworkers = { from = 1, to = "
      "\"2 "
      "s\", steps = 2 }\ncores = { from = 0, to = 2, factor = 2 }\ngpus = [0.5]\n\"data.prefetch\" = { from "
      "= 1, to = 2 }\n");
  for (const char* part :
       {"unknown key", "sed", "s.toml:3:1", "did you mean \"batch\"", "s.toml:4:9", "have one unit",
        "never gets from its first", "whole numbers from 1", "says not how its values lie"})
    CHECK_THAT(all, ContainsSubstring(part));
  CHECK_THAT(mistakes("[axes]\nbatch = [1]\n\"model.global_batch\" = [2]"),
             ContainsSubstring("set the same"));
  CHECK_THAT(mistakes("seed = 1"), ContainsSubstring("axes"));
  CHECK_THAT(mistakes("[together]\nbatch = [1, 2]\nworkers = [1]"), ContainsSubstring("equally many"));
}

}  // namespace sweep_reader_test

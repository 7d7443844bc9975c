// Which cases a sweep has, in which order, of which shard; what its conditions may say.
#include "sim/scenario/sweep/sweep_cases.hpp"

#include <cmath>
#include <set>

#include "sim/scenario/sweep/axis_values.hpp"
#include "tests/support/catch.hpp"

namespace sweep_cases_test {

using namespace foretrain;

namespace {

struct Cases {
  explicit Cases(const std::string& text)
      : source{"s.toml", text}, sweep(read_or_throw(source, read_sweep)), cases(sweep, "ddp", source) {}
  SourceText source;
  Sweep sweep;
  SweepCases cases;

  std::vector<std::string> all() {
    std::vector<std::string> out;
    for (std::int64_t number = 0; number < cases.numbers(); ++number) {
      const std::vector<Value> values = cases.values(number);
      if (!cases.is_case(number, values)) continue;
      std::string line;
      for (const Value& value : values) line += (line.empty() ? "" : " ") + text_of(value);
      out.push_back(line);
    }
    return out;
  }
};

std::string refused(const std::string& condition) {
  try {
    Cases("where = [\"" + condition + "\"]\n[axes]\nbatch = [8]\ngpus = [1]");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("cases count through the axes, drawn values together, numbers of GPUs fastest") {
  CHECK(Cases("[axes]\ngpus = [1, 2]\nbatch = [8, 9]\n[together]\nworkers = [0, 4]\ncores = [1, 5]").all() ==
        std::vector<std::string>{"8 0 1 1", "8 0 1 2", "8 4 5 1", "8 4 5 2", "9 0 1 1", "9 0 1 2", "9 4 5 1",
                                 "9 4 5 2"});
}

TEST_CASE("conditions between axes leave cases out") {
  CHECK(Cases("where = [\"gpus * batch <= 16\", \"NOT (gpus = 1 AND batch = 8)\"]\n[axes]\nbatch = [8, "
              "16]\ngpus = [1, 2]")
            .all() == std::vector<std::string>{"8 2", "16 1"});
  CHECK(Cases("where = [\"\\\"data.prefetch\\\" > 2\"]\n[axes]\n\"data.prefetch\" = [2, 4]\ngpus = [1]")
            .all() == std::vector<std::string>{"4 1"});
}

TEST_CASE("cases that differ only in options that their strategy lacks are one") {
  CHECK(Cases("[axes]\nstrategy = [\"dp\", \"ddp\"]\n\"strategy.bucket_cap\" = [\"1 MiB\", \"2 MiB\"]\ngpus "
              "= [2]")
            .all() == std::vector<std::string>{"dp - 2", "ddp 1 MiB 2", "ddp 2 MiB 2"});
}

TEST_CASE("shards have every group once") {
  Cases sweep("[axes]\nbatch = { from = 1, to = 10, step = 1 }\ngpus = [1, 2]");
  std::int64_t cases = 0;
  for (std::int64_t part = 1; part <= 3; ++part) cases += sweep.cases.count({part, 3}).cases;
  CHECK(cases == 20);
  CHECK(SweepCases::is_of(4, {2, 3}));
  CHECK_FALSE(SweepCases::is_of(4, {1, 3}));
}

TEST_CASE("a sweep of 10^12 cases is refused with the count before any is made") {
  std::string axes = "[axes]\n";
  for (const char* name : {"batch", "workers", "cores", "accumulation"})
    axes += std::string(name) + " = { from = 1, to = 1000, step = 1 }\n";
  CHECK_THROWS_WITH(Cases(axes), ContainsSubstring("has 1000000000000 cases, at most 1000000000"));
}

TEST_CASE("a case's hash is of what it sets, whatever the sweep") {
  Cases one("[axes]\nbatch = [8, 9]\ngpus = [1]"), other("[axes]\nbatch = [9]\ngpus = [1]");
  CHECK(one.cases.hash(one.cases.values(1), 7) == other.cases.hash(other.cases.values(0), 7));
  CHECK(one.cases.hash(one.cases.values(1), 7) != one.cases.hash(one.cases.values(0), 7));
  CHECK(one.cases.hash(one.cases.values(1), 7) != one.cases.hash(one.cases.values(1), 8));
  CHECK(content_hash("foobar") == 0x85944171f73967e8ULL);  // of the FNV page's list of 64-bit FNV-1a
}

TEST_CASE("a condition can compare and compute, and nothing else") {
  CHECK_THAT(refused("batch > 1; DROP TABLE x"), ContainsSubstring("s.toml:1:10"));
  CHECK_THAT(refused("1) FROM (SELECT 1); ATTACH 'f' AS x; --"), ContainsSubstring("error"));
  CHECK_THAT(refused("random() > 0"), ContainsSubstring("not authorized to use function: random"));
  CHECK_THAT(refused("load_extension('x')"), ContainsSubstring("error"));
  CHECK_THAT(
      refused("(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c) > 0"),
      ContainsSubstring("may compare and compute"));
  CHECK_THAT(refused("bach > 1"), ContainsSubstring("no such column: bach"));
  CHECK_THAT(refused("\\\"bach\\\" > 1"), ContainsSubstring("no such column"));
  CHECK_THAT(refused("batch >"), ContainsSubstring("syntax error"));
  CHECK_THAT(refused("zeroblob(1000000000) IS NULL"), ContainsSubstring("not authorized to use function"));
  CHECK(refused("batch % 2 = 0 AND gpus IN (1, 2) AND batch BETWEEN 1 AND 9").empty());
}

TEST_CASE("drawn points are in every part of a Latin hypercube, and Sobol's are even in both halves") {
  const UnitPoints cube = unit_points("latin_hypercube", 3, 50, 4), even = unit_points("sobol", 3, 64, 3);
  for (std::size_t d = 0; d < 4; ++d) {
    std::set<int> parts;
    for (const auto& point : cube) parts.insert(static_cast<int>(std::floor(point[d] * 50)));
    CHECK(parts.size() == 50);
  }
  for (std::size_t d = 0; d < 3; ++d) {
    double sum = 0;
    for (const auto& point : even) sum += point[d];
    CHECK(sum / 64 == Approx(0.5).margin(0.02));
  }
  CHECK(unit_points("sobol", 3, 64, 3) == even);
  CHECK(unit_points("sobol", 4, 64, 3) != even);
}

TEST_CASE("another strategy takes options that it lacks to their first value") {
  Cases space(
      "[axes]\nstrategy = [\"ddp\", \"horovod\"]\n\"strategy.bucket_cap\" = [\"1 MiB\", \"2 MiB\"]\n"
      "gpus = [1, 2]");
  const std::int64_t last_of_ddp = 3;
  REQUIRE(text_of(space.cases.values(last_of_ddp)[1]) == "2 MiB");
  const std::int64_t horovod = space.cases.with(last_of_ddp, 0, 1);
  CHECK(space.cases.is_case(horovod, space.cases.values(horovod)));
  CHECK(space.cases.place(2, horovod) == 1);
  CHECK(space.cases.with(horovod, 0, 0) == 1);
}

}  // namespace sweep_cases_test

// Options under their types: who changes one sees it, everybody else sees defaults.
#include "sim/strategy/catalog.hpp"
#include "sim/strategy/strategy.hpp"
#include "tests/support/catch.hpp"

namespace options_test {

using namespace foretrain;

namespace {

enum class Colour : std::uint8_t { red, green, blue };

struct PaintOptions {
  Bytes bucket{3};
  std::optional<Time> drying{};
  int coats = 2;
  bool gloss = false;
  Colour colour = Colour::green;
  std::optional<Colour> primer{};
};

struct PaperOptions {
  int coats = 7;
};

template <typename Value>
void put(StrategyOptions& options, KnobValue<Value> option, Value value) {
  option.put(options, value);
}

}  // namespace

TEST_CASE("options that nobody changed have their defaults") {
  const StrategyOptions options;
  CHECK(options.accumulation == 1);
  CHECK(options.get<PaintOptions>().coats == 2);
  CHECK(options.get<PaintOptions>().bucket == Bytes{3});
}

TEST_CASE("an option is changed in its own type alone, and the rest of it keeps its defaults") {
  StrategyOptions options;
  options.edit<PaintOptions>().coats = 4;
  CHECK(options.get<PaintOptions>().coats == 4);
  CHECK(options.get<PaintOptions>().bucket == Bytes{3});
  CHECK(options.get<PaperOptions>().coats == 7);
  options.edit<PaintOptions>().gloss = true;
  CHECK(options.get<PaintOptions>().coats == 4);
}

TEST_CASE("a copy of options goes its own way") {
  StrategyOptions one;
  one.edit<PaintOptions>().coats = 4;
  StrategyOptions two = one;
  two.edit<PaintOptions>().coats = 5, two.accumulation = 8;
  CHECK(one.get<PaintOptions>().coats == 4);
  CHECK(one.accumulation == 1);
  CHECK(two.get<PaintOptions>().coats == 5);
  one = StrategyOptions{};
  CHECK(one.get<PaintOptions>().coats == 2);
}

TEST_CASE("what a plan holds on to stays while other options are changed") {
  StrategyOptions options;
  const PaintOptions& own = options.edit<PaintOptions>();
  options.edit<PaperOptions>().coats = 1;
  options.edit<PaintOptions>().coats = 9;
  CHECK(&own == &options.get<PaintOptions>());
  CHECK(own.coats == 9);
}

TEST_CASE("a row of an option sets its member, plain, optional or a choice") {
  StrategyOptions options;
  put(options, option<&PaintOptions::bucket>(), Bytes{12});
  put(options, option<&PaintOptions::drying>(), Time{5});
  put(options, option<&PaintOptions::gloss>(), true);
  choice_of<&PaintOptions::colour>({"red", "green", "blue"}).take(options, 2);
  choice_of<&PaintOptions::primer>({"red", "green"}).take(options, 0);
  const PaintOptions& paint = options.get<PaintOptions>();
  CHECK((paint.bucket == Bytes{12} && paint.drying == Time{5} && paint.gloss && paint.coats == 2));
  CHECK((paint.colour == Colour::blue && paint.primer == Colour::red));
}

TEST_CASE("accumulation belongs to every strategy and to no options type") {
  StrategyOptions options;
  REQUIRE(shared_knobs().size() == 1);
  std::get<KnobValue<int>>(shared_knobs().front().value).put(options, 16);
  CHECK(options.accumulation == 16);
}

TEST_CASE(
    "an option that several strategies have is one and the same, so a job keeps it under each of them") {
  const auto row = [](std::string_view strategy, std::string_view name) {
    for (const Knob& knob : find_strategy(strategy)->knobs) {
      if (knob.name == name) return knob;
    }
    FAIL("no such option");
    return Knob{};
  };
  const auto takes = [&](std::string_view strategy) {
    return std::get<KnobChoice>(row(strategy, "compression").value).take;
  };
  for (const std::string_view strategy : {"horovod", "byteps", "mirrored"})
    CHECK(takes(strategy) == takes("ddp"));
  const auto servers = [&](std::string_view strategy) {
    return std::get<KnobValue<int>>(row(strategy, "servers").value).put;
  };
  CHECK(servers("byteps") == servers("parameter_server"));
}

}  // namespace options_test

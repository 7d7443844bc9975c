// The drawing of bus bandwidth: which series are in it, and where points fall.
#include "sim/report/collective/busbw_chart.hpp"

#include <limits>
#include <set>

#include "sim/report/drawing/svg_label.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_curve.hpp"

namespace busbw_chart_test {

using namespace foretrain;

namespace {

CollectiveMeasurement row(const std::string& series, std::int64_t bytes, double time_us) {
  CollectiveMeasurement m;
  m.series = series, m.cluster = "puhti", m.op = "all_reduce", m.gpus = 4, m.nodes = 2, m.bytes = bytes,
  m.time_us = time_us;
  return m;
}

std::size_t count(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("the prediction comes first, then the measured series of the same job") {
  CollectiveMeasurement op = row("a", 8, 10), gpus = op, nodes = op, cluster = op;
  op.op = "broadcast", gpus.gpus = 8, nodes.nodes = 1, cluster.cluster = "mahti";
  const BusbwChart chart = busbw_chart(
      test::example_curve(), {row("b", 1024, 20), row("a", 1 << 20, 100), op, gpus, nodes, cluster});
  REQUIRE(chart.series.size() == 3);
  CHECK(chart.title == "all_reduce on 4 GPUs of puhti, 2 nodes");
  CHECK(chart.series[0].label == "predicted");
  CHECK(chart.series[0].points.size() == 2);
  CHECK(chart.series[1].label == "measured: a");
  CHECK(chart.series[1].measured);
  REQUIRE(chart.series[1].points.size() == 1);
  CHECK(chart.series[1].points[0].bytes_per_second ==
        Approx(1.5 * (1 << 20) / 100e-6));  // busbw of all_reduce on 4: 3/2
}

TEST_CASE("what has no bandwidth is not drawn") {
  CollectiveCurve curve = test::example_curve();
  curve.points[0].busbw = {};
  const BusbwChart chart = busbw_chart(curve, {row("a", 0, 10), row("a", 8, 1e-320), row("a", 8, 10)});
  CHECK(chart.series[0].points.size() == 1);
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[1].points.size() == 1);
}

TEST_CASE("more series than a legend can tell apart become one") {
  std::vector<CollectiveMeasurement> rows;
  for (int i = 0; i < 8; ++i) rows.push_back(row(std::to_string(i), 1024, 10));
  // Eight keep their names, and each has a colour of its own beside the prediction's.
  const std::string svg = draw_busbw(busbw_chart(test::example_curve(), rows));
  std::set<std::string> colors;
  for (const char* key : {" fill=\"#", " stroke=\"#"}) {
    const std::string mark = key;
    for (std::size_t at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + 1))
      colors.insert(svg.substr(at + mark.size(), 6));
  }
  CHECK(colors.size() == 9);
  rows.push_back(row("8", 1024, 10));
  const BusbwChart chart = busbw_chart(test::example_curve(), rows);
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[1].label == "measured: 9 series");
  CHECK(chart.series[1].points.size() == 9);
}

TEST_CASE("a label of a size has the largest unit that it reaches") {
  CHECK(size_label(0) == "1 B");
  CHECK(size_label(29) == "512 MiB");
  CHECK(size_label(60) == "1 EiB");
  CHECK(size_label(73) == "8192 EiB");
}

TEST_CASE("lines and points stand where their logarithms say") {
  BusbwChart chart{"t", {{"predicted", false, {{8, 1e9}, {32, 100e9}}}, {"measured: m", true, {{16, 10e9}}}}};
  const std::string svg = draw_busbw(chart);
  // The frame is 76..740 by 44..384; 8 to 32 B are two powers of two, 1 to 100 GB/s two decades: 16 B and 10
  // GB/s are in the middle.
  CHECK_THAT(svg, ContainsSubstring("points=\"76.0,384.0 740.0,44.0 \""));
  CHECK_THAT(svg,
             ContainsSubstring("<circle cx=\"408.0\" cy=\"214.0\" r=\"3.5\"><title>16 B: 10 GB/s</title>"));
  for (const char* label :
       {">8 B<", ">16 B<", ">32 B<", ">1<", ">10<", ">100<", ">message size<", ">bus bandwidth (GB/s)<"})
    CHECK_THAT(svg, ContainsSubstring(label));
}

TEST_CASE("a drawing is well formed whatever the names are, and for nothing and one point") {
  for (const BusbwChart& chart : {BusbwChart{}, BusbwChart{"<&>\"\xff", {{"</svg>", true, {{8, 1e9}}}}},
                                  BusbwChart{"wide", {{"a", false, {{1, 1e-300}, {1e15, 1e300}}}}}}) {
    const std::string svg = draw_busbw(chart);
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(count(svg, "</svg>") == 1);
    CHECK(count(svg, "<g ") == count(svg, "</g>"));
    CHECK(count(svg, "nan") == 0);
    CHECK(count(svg, "inf") == 0);
  }
}

TEST_CASE("the drawing adapts to dark ground") {
  CHECK_THAT(draw_busbw(BusbwChart{}), ContainsSubstring("prefers-color-scheme: dark"));
}

}  // namespace busbw_chart_test

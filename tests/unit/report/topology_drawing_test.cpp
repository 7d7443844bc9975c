// Drawings of nodes: every device and link is there once, and hostile names stay text.
#include "sim/report/drawing/topology_drawing.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <pugixml.hpp>

#include "sim/cluster/cluster.hpp"
#include "sim/report/drawing/ring_drawing.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace topology_drawing_test {

using namespace foretrain;

namespace {

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

/// Every element of a drawing that stands at a place, as "rect at 10, 20", when that is not on the page.
std::vector<std::string> beyond_the_page(const pugi::xml_document& drawing) {
  double left = 0, top = 0, width = 0, height = 0;
  std::istringstream(drawing.document_element().attribute("viewBox").value()) >> left >> top >> width >>
      height;
  std::vector<std::string> outside;
  for (const pugi::xpath_node& found : drawing.select_nodes("//*[@x and @y]")) {
    const pugi::xml_node element = found.node();
    const double x = element.attribute("x").as_double(), y = element.attribute("y").as_double();
    const double right = x + element.attribute("width").as_double(),
                 foot = y + element.attribute("height").as_double();
    const bool is_on_it = std::isfinite(right) && std::isfinite(foot) && x >= left && y >= top &&
                          right <= left + width && foot <= top + height;
    if (!is_on_it)
      outside.push_back(std::string(element.name()) + " at " + std::to_string(x) + ", " + std::to_string(y));
  }
  return outside;
}

struct Area {
  double left, top, right, bottom;
  std::string what;
  bool meets(const Area& o) const {
    return left < o.right - 0.5 && o.left < right - 0.5 && top < o.bottom - 0.5 && o.top < bottom - 0.5;
  }
  bool holds(const Area& o) const {
    return left <= o.left && o.right <= right && top <= o.top && o.bottom <= bottom;
  }
};

/// Of letters as wide as they are on average in common fonts.
Area area_of_text(pugi::xml_node text) {
  const std::string kind = text.attribute("class").value(), words = text.text().get();
  const double letter = kind == "title" ? 8.2 : kind == "small" ? 5.8 : 6.4;
  const double width = letter * static_cast<double>(words.size()), x = text.attribute("x").as_double();
  const double left = kind == "small" || kind == "name" ? x - width / 2 : x;
  const double foot = text.attribute("y").as_double();
  return {left, foot - 9, left + width, foot + 2, words};
}

/// Texts and boxes that cover each other, unless a text stands in its box; texts that leave the page.
std::vector<std::string> collisions(const pugi::xml_document& drawing) {
  std::vector<Area> areas;
  std::vector<std::string> found;
  const double width = drawing.document_element().attribute("width").as_double(),
               height = drawing.document_element().attribute("height").as_double();
  const Area page{0, 0, width, height, "page"};
  for (const pugi::xpath_node& node : drawing.select_nodes("//*[local-name()='rect']")) {
    const pugi::xml_node box = node.node();
    const double x = box.attribute("x").as_double(), y = box.attribute("y").as_double();
    areas.push_back({x, y, x + box.attribute("width").as_double(), y + box.attribute("height").as_double(),
                     "box at " + std::to_string(x) + ", " + std::to_string(y)});
  }
  for (const pugi::xpath_node& node : drawing.select_nodes("//*[local-name()='text']"))
    areas.push_back(area_of_text(node.node()));
  for (std::size_t a = 0; a < areas.size(); ++a) {
    if (!page.holds(areas[a])) found.push_back(areas[a].what + " leaves the page");
    for (std::size_t b = 0; b < a; ++b) {
      if (areas[a].meets(areas[b]) && !areas[b].holds(areas[a]))
        found.push_back(areas[a].what + " over " + areas[b].what);
    }
  }
  return found;
}

nccl::Job job_on(const ClusterSpec& spec, int nodes) {
  const Placement placement = place_packed(nodes * spec.node.gpus, spec.node.gpus);
  return nccl::inspect(Cluster::build(spec, nodes), placement);
}

}  // namespace

TEST_CASE("a drawing has a box for each device and a line for each link") {
  const ClusterSpec spec = test::nvlink_cluster(1, 2);
  const std::string svg = draw_topology({spec, nullptr});
  CHECK(count(svg, "<rect ") == 4 + 2 + 2 + 2);  // GPUs, CPUs, switches, NICs
  CHECK(count(svg, "<title>") == spec.node.links.size());
  CHECK_THAT(svg, ContainsSubstring("6 pairs by 2 x nvlink2, 48.5 GBps each way"));
  CHECK(count(svg, "class=\"ring\"") == 0);
}

TEST_CASE("each different ring is drawn once, closed on one node and open between NICs on several") {
  const ClusterSpec mesh = test::cube_mesh_node();
  const nccl::Job alone = job_on(mesh, 1);
  const std::string closed = draw_topology({mesh, &alone});
  CHECK(count(closed, "class=\"ring\"") == 4);
  CHECK_THAT(closed, ContainsSubstring("rings 0-1"));
  const ClusterSpec pair = test::nvlink_cluster(2, 2);
  const nccl::Job two = job_on(pair, 2);
  CHECK_THAT(draw_topology({pair, &two}), ContainsSubstring("nic0 to gpu0"));
}

TEST_CASE("devices hang below their switch, leaves on one row") {
  const NodeGraph graph = node_graph(test::nvlink_cluster(1, 2).node);
  const NodeLayout layout = lay_out(graph);
  // Columns: gpu0 gpu1 nic0 | gpu2 gpu3 nic1; rows: CPUs, switches, leaves.
  CHECK(layout.columns == 6);
  CHECK(layout.rows == 3);
  CHECK(layout.devices[0].column == 0.5);
  CHECK(layout.devices[2].column == 3.5);
  CHECK(layout.devices[8].column == 2.5);  // nic0
  CHECK(layout.devices[4].column == 1.5);  // cpu0 over the middle of its switch's leaves
  for (const std::size_t leaf : {0, 1, 2, 3, 8, 9}) CHECK(layout.devices[leaf].row == 2);
}

TEST_CASE("no two boxes of a drawn node overlap") {
  for (const ClusterSpec& spec : {test::nvlink_cluster(1, 2), test::nvswitch_node(), test::cube_mesh_node(),
                                  test::two_socket_node(8)}) {
    const NodeLayout layout = lay_out(node_graph(spec.node));
    for (std::size_t a = 0; a < layout.devices.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        INFO(spec.name << ' ' << a << ' ' << b);
        CHECK((layout.devices[a].row != layout.devices[b].row ||
               std::abs(layout.devices[a].column - layout.devices[b].column) >= 1));
      }
    }
  }
}

TEST_CASE("names in drawings stay text") {
  ClusterSpec spec = test::star_cluster(1, {1e10});
  spec.name = "a\"<b>\\";
  spec.node.links[0].type.name = "<script>";
  CHECK_THAT(draw_topology({spec, nullptr}), !ContainsSubstring("<b>") && !ContainsSubstring("<script>"));
  CHECK_THAT(write_topology_dot({spec, nullptr}), ContainsSubstring("graph \"a\\\"<b>\\\\\" {"));
}

TEST_CASE("the graph for Graphviz has every device, link and ring") {
  const ClusterSpec spec = test::nvlink_cluster(1, 2);
  const nccl::Job job = job_on(spec, 1);
  const std::string dot = write_topology_dot({spec, &job});
  CHECK_THAT(dot, ContainsSubstring("  gpu0 -- gpu1 [label=\"2 x nvlink2 48.5 GBps\", style=bold];\n"));
  CHECK_THAT(dot, ContainsSubstring("  cpu1 -- switch1 [label=\"1 x pcie3_x16 12.3 GBps\"];\n"));
  CHECK(count(dot, "[shape=") == 10);
  CHECK(count(dot, "color=\"#0a7bbd\"") == 4);
}

TEST_CASE("a ring's colour has a number of its own as long as there are colours") {
  CHECK(ring_color(0) != ring_color(1));
}

TEST_CASE("law: the drawing of every cluster of the catalog is XML, and nothing in it is beyond the page") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  for (const std::string& name : names_in(CatalogKind::clusters)) {
    INFO(name);
    const ClusterSpec spec = open_cluster(name);
    if (spec.node.gpus < 1) continue;
    const nccl::Job job = job_on(spec, 1);
    for (const nccl::Job* rings : {static_cast<const nccl::Job*>(nullptr), &job}) {
      pugi::xml_document drawing;
      const std::string svg = draw_topology({spec, rings});
      const pugi::xml_parse_result read = drawing.load_buffer(svg.data(), svg.size());
      INFO(read.description());
      REQUIRE(read);
      CHECK(beyond_the_page(drawing) == std::vector<std::string>{});
      CHECK(collisions(drawing) == std::vector<std::string>{});
      CHECK(drawing.select_nodes("//*[local-name()='rect']").size() >=
            static_cast<std::size_t>(spec.node.gpus));
    }
  }
}

}  // namespace topology_drawing_test

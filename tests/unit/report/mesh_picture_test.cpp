// Meshes of links between GPUs: when they are drawn on a circle, and what is on it.
#include "sim/report/drawing/mesh_picture.hpp"

#include "sim/report/drawing/topology_drawing.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace mesh_picture_test {

using namespace foretrain;
namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("the 16 linked pairs of a DGX-1 are drawn on a circle of eight GPUs, and not as arcs in a row") {
  test::use_source_catalogs();
  const ClusterSpec dgx1 = open_cluster("dgx1-v100");
  REQUIRE(has_mesh(dgx1.node));
  const std::string mesh = draw_mesh(dgx1.node, {0, 0});
  CHECK(count_of(mesh, "<path class=\"link nvlink\"") == 16);
  CHECK(count_of(mesh, "<circle class=\"gpu\"") == 8);
  CHECK_THAT(mesh, ContainsSubstring("gpu0 to gpu3: 2 x nvlink2"));
  const std::string drawing = draw_topology({dgx1});
  // 16 in the mesh and two kinds in the legend; an arc would be a curve ("Q"), as the socket link alone is.
  CHECK(count_of(drawing, "<path class=\"link nvlink\"") == 18);
  CHECK(count_of(drawing, "Q") == 1);
}

TEST_CASE("what hangs on a switch, or a ring of four, needs no circle") {
  test::use_source_catalogs();
  CHECK_FALSE(has_mesh(open_cluster("dgx-a100").node));
  CHECK_FALSE(has_mesh(open_cluster("pcie-8gpu-nop2p").node));
}

}  // namespace mesh_picture_test

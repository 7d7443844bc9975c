// Captured from a stream; cudaGraphInstantiate changed its parameters in CUDA 12,
// cudaGraphInstantiateWithFlags did not.
#include "calibrate/micro/gpu/graph_bench.hpp"

#include <memory>

#include "calibrate/micro/gpu/kernels.hpp"
#include "calibrate/micro/gpu/timing.hpp"
#include "calibrate/micro/plan/shapes.hpp"

namespace foretrain::micro {

namespace {

using Graph = std::shared_ptr<CUgraphExec_st>;

Graph chain_of(int kernels) {
  const Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  FORETRAIN_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kernels; ++i) FORETRAIN_CUDA(launch_empty(stream.get()));
  FORETRAIN_CUDA(cudaStreamEndCapture(stream.get(), &graph));
  const std::shared_ptr<CUgraph_st> captured(graph, [](cudaGraph_t g) { (void)cudaGraphDestroy(g); });
  FORETRAIN_CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  return Graph(executable, [](cudaGraphExec_t e) { (void)cudaGraphExecDestroy(e); });
}

}  // namespace

Summary time_graph(const Stream& stream, const Point& point, const RepeatRule& rule) {
  constexpr double kHeadStart = 50e-6;
  const int kernels = integer_setting(point.sample, "kernels", 1);
  const Graph graph = chain_of(kernels);
  const auto launch = [&] { FORETRAIN_CUDA(cudaGraphLaunch(graph.get(), stream.get())); };
  if (point.sample.what == "graph_launch") {
    return repeat(
        [&] {
          const double seconds = host_seconds(launch);
          stream.wait();
          return seconds;
        },
        rule);
  }
  Summary summary = time_on_stream(stream, launch, rule, kHeadStart + 1e-6 * kernels);
  summary.median /= kernels;
  return summary;
}

}  // namespace foretrain::micro

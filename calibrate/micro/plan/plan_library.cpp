// Points of cuBLAS and cuDNN: products of squares and of transformers, the convolutions of ResNet-50, whole
// networks.
#include <algorithm>

#include "calibrate/micro/plan/plans.hpp"
#include "calibrate/micro/plan/shapes.hpp"

namespace foretrain::micro {

namespace {

/// A precision and how much later its points come.
struct RankedPrecision {
  const char* name;
  int rank;
};
constexpr RankedPrecision kPrecisions[] = {{"fp16", 0}, {"tf32", 0}, {"fp32", 1}, {"bf16", 2}, {"fp64", 4}};

bool all_support(const Machine& machine, std::string_view precision) {
  return std::all_of(machine.gpus.begin(), machine.gpus.end(),
                     [&](const GpuFacts& gpu) { return supports_precision(gpu, precision); });
}

Point gemm_point(const GemmShape& shape, const char* precision, int rank) {
  Point point;
  point.sample.kind = SampleKind::gemm;
  point.sample.what = "gemm";
  const auto text = [](int value) { return std::to_string(value); };
  point.sample.settings = {{"m", text(shape.m)},
                           {"n", text(shape.n)},
                           {"k", text(shape.k)},
                           {"count", text(shape.count)},
                           {"precision", precision}};
  point.amount = shape.flops();
  point.rank = rank;
  return point;
}

/// Squares of every size; layers of transformers and classifiers; products with one short side; batched ones;
/// those of large language models.
std::vector<std::pair<GemmShape, int>> ranked_gemm_shapes() {
  std::vector<std::pair<GemmShape, int>> shapes;
  for (const Rung rung : ladder(128, 8192, 2)) {
    const int side = static_cast<int>(rung.size);
    shapes.push_back({{side, side, side, 1}, rung.rank});
  }
  for (const GemmShape& shape :
       {GemmShape{768, 4096, 768}, {3072, 4096, 768}, {768, 4096, 3072}, {768, 768, 4096}})
    shapes.push_back({shape, 2});
  for (const GemmShape& shape : {GemmShape{128, 128, 64, 384}, {64, 128, 128, 384}, {512, 512, 64, 192}})
    shapes.push_back({shape, 2});
  for (const GemmShape& shape :
       {GemmShape{1000, 32, 2048}, {4096, 16, 4096}, {4096, 128, 4096}, {64, 8192, 8192}})
    shapes.push_back({shape, 3});
  for (const GemmShape& shape :
       {GemmShape{4096, 4096, 64}, {4096, 4096, 256}, {1600, 1600, 1600}, {30522, 1024, 768}})
    shapes.push_back({shape, 4});
  // Of language models with 1 to 8 billion parameters: attention and its projections, the wide layers and the
  // gradient of their weights, the vocabulary.
  for (const GemmShape& shape : {GemmShape{2048, 2048, 128, 32},
                                 {6144, 8192, 4096},
                                 {14336, 8192, 4096},
                                 {4096, 8192, 14336},
                                 {4096, 14336, 8192},
                                 {50304, 4096, 2048}})
    shapes.push_back({shape, 5});
  return shapes;
}

/// `layout` always stands there: in 16 bits the model counts what transposing nchw takes.
Point conv_point(const char* pass, const ConvShape& shape, const char* precision, const char* layout,
                 int rank) {
  Point point;
  point.sample.kind = SampleKind::conv;
  point.sample.what = pass;
  const auto text = [](int value) { return std::to_string(value); };
  point.sample.settings = {
      {"batch", text(shape.batch)},   {"channels", text(shape.channels)}, {"filters", text(shape.filters)},
      {"size", text(shape.size)},     {"kernel", text(shape.kernel)},     {"stride", text(shape.stride)},
      {"groups", text(shape.groups)}, {"precision", precision},           {"layout", layout}};
  point.amount = shape.flops();
  point.rank = rank;
  return point;
}

}  // namespace

bool supports_precision(const GpuFacts& gpu, std::string_view precision) {
  if (precision == "fp16") return gpu.major >= 6;
  if (precision == "tf32" || precision == "bf16") return gpu.major >= 8;
  return precision == "fp32" || precision == "fp64";
}

std::vector<Point> plan_gemm(const Machine& machine) {
  constexpr double kMostDoubleFlops =
      2.0 * 4096 * 4096 * 4096;  // a GPU for games computes these for a second
  std::vector<Point> points;
  for (const auto& [precision, later] : kPrecisions) {
    if (!all_support(machine, precision)) continue;
    for (const auto& [shape, rank] : ranked_gemm_shapes()) {
      if (std::string_view(precision) == "fp64" && shape.flops() > kMostDoubleFlops) continue;
      points.push_back(gemm_point(shape, precision, rank + later));
    }
  }
  sort_by_rank(points);
  return points;
}

std::vector<Point> plan_conv(const Machine& machine) {
  constexpr int kBatch = 32;
  const std::vector<RepeatedConv> layers = resnet50_convolutions(kBatch);
  const std::vector<Rung> ranks = ladder(1, std::int64_t{1} << (layers.size() - 1), 2);
  std::vector<Point> points;
  for (const auto& [precision, later] : kPrecisions) {
    if (std::string_view(precision) == "fp64" || !all_support(machine, precision)) continue;
    const bool is_16_bit = std::string_view(precision) == "fp16" || std::string_view(precision) == "bf16";
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (const char* pass : {"forward", "data", "weights"}) {
        points.push_back(conv_point(pass, layers[i].shape, precision, "nchw", ranks[i].rank + later));
        if (is_16_bit)
          points.push_back(conv_point(pass, layers[i].shape, precision, "nhwc", ranks[i].rank + later + 2));
      }
    }
  }
  sort_by_rank(points);
  return points;
}

std::vector<Point> plan_mix(const Machine& machine) {
  std::vector<Point> points;
  for (const auto& [precision, later] : kPrecisions) {
    if (std::string_view(precision) == "fp64" || !all_support(machine, precision)) continue;
    for (const auto& [network, batch] : {std::pair{"resnet50", 32}, std::pair{"resnet50", 128},
                                         std::pair{"bert_base", 8}, std::pair{"bert_base", 32}}) {
      if (std::string_view(network) == "resnet50" && !machine.has_cudnn) continue;
      Point point;
      point.sample.kind = SampleKind::mix;
      point.sample.what = network;
      point.sample.settings = {{"batch", std::to_string(batch)}, {"precision", precision}};
      if (std::string_view(network) == "bert_base") point.sample.settings.emplace_back("length", "128");
      point.rank = later + (batch == 32 ? 0 : 1);
      points.push_back(std::move(point));
    }
  }
  sort_by_rank(points);
  return points;
}

}  // namespace foretrain::micro

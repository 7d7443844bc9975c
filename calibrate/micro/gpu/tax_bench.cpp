// How much longer compute takes beside a collective: batches of kernels on GPU 0, alone and while all GPUs
// all-reduce without a pause.
#include <algorithm>

#include "calibrate/micro/gpu/catalog.hpp"
#include "calibrate/micro/gpu/collective_group.hpp"
#include "calibrate/micro/gpu/products.hpp"
#include "calibrate/micro/gpu/timing.hpp"
#include "calibrate/micro/plan/plans.hpp"

namespace foretrain::micro {

#ifdef FORETRAIN_HAS_NCCL_HEADER

namespace {

constexpr double kTaxedSeconds = 5e-3;

/// What is slowed down: products, or copies within the GPU's memory.
class Compute {
 public:
  Compute(const Session& session, const Sample& sample)
      : precision_(setting_of(sample, "precision")), products_(session.cublas, stream_) {
    if (sample.what == "gemm")
      products_.expect_right_ones(kShape, precision_, operands());
    else
      from_ = DeviceBuffer(kBytes), to_ = DeviceBuffer(kBytes);
  }
  void launch() {
    if (operands_)
      return products_.multiply(kShape, precision_, operands_->a.data(), operands_->b.data(),
                                operands_->c.data());
    FORETRAIN_CUDA(launch_copy(from_.as<float>(), to_.as<float>(),
                               static_cast<std::int64_t>(kBytes / sizeof(float)), stream_.get()));
  }
  const Stream& stream() const { return stream_; }

 private:
  static constexpr GemmShape kShape{4096, 4096, 4096, 1};
  static constexpr std::size_t kBytes = std::size_t{256} << 20;
  const ProductOperands& operands() {
    operands_ = std::make_unique<ProductOperands>(kShape, element_of(precision_));
    return *operands_;
  }
  std::string precision_;
  Stream stream_;
  Products products_;
  std::unique_ptr<ProductOperands> operands_;
  DeviceBuffer from_, to_;
};

class TaxBench {
 public:
  TaxBench(const Session& session, const Point& point, CollectiveGroup& group)
      : group_(group), compute_(session, point.sample) {}

  Summary measure(const RepeatRule& rule) {
    group_.allocate(call_);
    group_.expect_right(call_);
    group_.allocate(call_);
    const double one =
        time_on_stream(compute_.stream(), [&] { compute_.launch(); }, {0.1, 3, 10, 0.01}).median;
    operations_ = std::max(1, static_cast<int>(kTaxedSeconds / one));
    const double collective = group_.time(call_, {0.1, 3, 10, 0.01}).median;
    collectives_ = 2 + static_cast<int>(2 * one * operations_ / collective);
    return repeat([&] { return beside_collectives() / batch_seconds() - 1; }, rule);
  }

 private:
  double batch_seconds() {
    begin_.record(compute_.stream());
    for (int i = 0; i < operations_; ++i) compute_.launch();
    end_.record(compute_.stream());
    end_.wait();
    return seconds_between(begin_, end_);
  }

  /// The batch between collectives that began before it and end after it.
  double beside_collectives() {
    constexpr int kTries = 8;
    for (int i = 0; i < kTries; ++i) {
      for (int c = 0; c < collectives_; ++c) group_.launch(call_);
      const double seconds = batch_seconds();
      const bool covers = !group_.is_done();
      group_.wait();
      if (covers) return seconds;
      collectives_ *= 2;
    }
    throw PointSkipped("the collectives were always over before the compute was");
  }

  CollectiveGroup& group_;
  CollectiveCall call_{"all_reduce", kTaxedMessage, true};
  Compute compute_;
  Event begin_, end_;
  int operations_ = 1, collectives_ = 1;
};

}  // namespace

Measure tax_measure(const Session& session) {
  const auto group = std::make_shared<std::unique_ptr<CollectiveGroup>>();
  return [&session, group](const Point& point, const RepeatRule& rule) {
    std::vector<int> devices;
    for (int device = 0; device < session.machine.gpu_count(); ++device) devices.push_back(device);
    if (!*group) *group = std::make_unique<CollectiveGroup>(session, devices);
    const OnDevice current(session.device());
    return Measured{TaxBench(session, point, **group).measure(rule), {}};
  };
}

#else

Measure tax_measure(const Session&) {
  return [](const Point&, const RepeatRule&) -> Measured {
    throw PointSkipped("this foretrain-bench was built without the header of NCCL");
  };
}

#endif

}  // namespace foretrain::micro

// All large operators of a network's step one after the other, as plan/shapes.hpp lists them.
#include <algorithm>

#include "calibrate/micro/gpu/catalog.hpp"
#include "calibrate/micro/gpu/convolutions.hpp"
#include "calibrate/micro/gpu/products.hpp"
#include "calibrate/micro/gpu/timing.hpp"

namespace foretrain::micro {

namespace {

using Kind = MixOperator::Kind;

/// Three tensors that every operator works on: as large as the largest needs.
struct Scratch {
  Scratch(const std::vector<MixOperator>& operators, int element_bytes) {
    std::int64_t a = 0, b = 0, c = 0;
    for (const MixOperator& op : operators) {
      const GemmShape& g = op.gemm;
      const bool is_conv = op.kind != Kind::gemm && op.kind != Kind::memory;
      a = std::max({a, is_conv ? op.conv.input_elements() : 0, std::int64_t{g.m} * g.k * g.count,
                    op.bytes / 2 / element_bytes});
      b = std::max({b, is_conv ? op.conv.weight_elements() : 0, std::int64_t{g.k} * g.n * g.count});
      c = std::max({c, is_conv ? op.conv.output_elements() : 0, std::int64_t{g.m} * g.n * g.count,
                    op.bytes / 2 / element_bytes});
    }
    const auto allocate = [&](std::int64_t count) {
      return DeviceBuffer(static_cast<std::size_t>(count * element_bytes));
    };
    first = allocate(a), second = allocate(b), third = allocate(c);
  }
  DeviceBuffer first, second, third;
};

/// The step as a list of calls, each enqueuing one kernel or a few.
class Mix {
 public:
  Mix(const Session& session, std::string_view network, int batch, std::string_view precision)
      : element_(element_of(precision)),
        operators_(operators_of(network, batch, bytes_of(element_))),
        scratch_(operators_, bytes_of(element_)),
        products_(session.cublas, stream_) {
    products_.expect_right_small(precision);
#ifdef FORETRAIN_HAS_CUDNN_HEADER
    if (network == "resnet50") convolutions_ = std::make_unique<Convolutions>(session.cudnn, stream_);
#endif
    for (const DeviceBuffer* buffer : {&scratch_.first, &scratch_.second, &scratch_.third})
      FORETRAIN_CUDA(launch_fill_pattern(element_, buffer->data(),
                                         static_cast<std::int64_t>(buffer->bytes()) / bytes_of(element_), 1,
                                         0.01, stream_.get()));
    for (const MixOperator& op : operators_) calls_.push_back(call_of(op, precision));
  }
  Mix(const Mix&) = delete;
  Mix& operator=(const Mix&) = delete;

  void launch() const {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      for (int time = 0; time < operators_[i].times; ++time) calls_[i]();
    }
  }
  int call_count() const {
    int count = 0;
    for (const MixOperator& op : operators_) count += op.times;
    return count;
  }
  const Stream& stream() const { return stream_; }

 private:
  std::function<void()> call_of(const MixOperator& op, std::string_view precision) {
    const std::string type(precision);
    void *a = scratch_.first.data(), *b = scratch_.second.data(), *c = scratch_.third.data();
    if (op.kind == Kind::gemm)
      return [=, this, shape = op.gemm] { products_.multiply(shape, type, a, b, c); };
    if (op.kind == Kind::memory) {
      const std::int64_t floats = op.bytes / 2 / static_cast<std::int64_t>(sizeof(float));
      return [=, this] {
        FORETRAIN_CUDA(
            launch_copy(static_cast<const float*>(a), static_cast<float*>(c), floats, stream_.get()));
      };
    }
#ifdef FORETRAIN_HAS_CUDNN_HEADER
    const ConvPass pass = op.kind == Kind::conv_forward ? ConvPass::forward
                          : op.kind == Kind::conv_data  ? ConvPass::data
                                                        : ConvPass::weights;
    const auto plan = convolutions_->prepare(op.conv, precision, false, pass);
    return [=, this] { convolutions_->run(plan, a, b, c); };
#else
    throw PointSkipped("this foretrain-bench was built without the header of cuDNN");
#endif
  }

  Element element_;
  std::vector<MixOperator> operators_;
  Stream stream_;
  Scratch scratch_;
  Products products_;
#ifdef FORETRAIN_HAS_CUDNN_HEADER
  std::unique_ptr<Convolutions> convolutions_;
#endif
  std::vector<std::function<void()>> calls_;
};

}  // namespace

Measure mix_measure(const Session& session) {
  return [&session](const Point& point, const RepeatRule& rule) {
    constexpr double kSecondsOfCall = 10e-6;
    const OnDevice current(session.device());
    const Mix mix(session, point.sample.what, integer_setting(point.sample, "batch", 32),
                  setting_of(point.sample, "precision"));
    return Measured{time_on_stream(
                        mix.stream(), [&] { mix.launch(); }, rule, kSecondsOfCall * mix.call_count()),
                    {}};
  };
}

}  // namespace foretrain::micro

// Two drawings share one scale of columns: samples per second beside perfect scaling, and the step cut into
// its accounts.
#include "sim/report/prediction/html.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/drawing/svg_label.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

struct AccountStyle {
  std::string_view name, color;
};
constexpr std::array<AccountStyle, kAccountCount> kStyles{{{"compute", "#4c78a8"},
                                                           {"exposed communication", "#e45756"},
                                                           {"input", "#f2a541"},
                                                           {"host", "#b279a2"},
                                                           {"optimizer", "#54a24b"},
                                                           {"other", "#9d9d9d"}}};

constexpr double kBarsHeight = 220, kBarsColumn = 64, kBarsLeft = 60;

/// A column for each number of GPUs; the drawing takes the width of the page.
std::string svg_begin(std::size_t columns, std::string_view title) {
  return fmt::format(
      "<figure><figcaption>{}</figcaption>\n<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n",
      title, kBarsLeft + kBarsColumn * static_cast<double>(columns) + 20, kBarsHeight + 40, title);
}

double column_x(std::size_t index) { return kBarsLeft + kBarsColumn * static_cast<double>(index); }

std::string column_label(std::size_t index, const PredictionPoint& p) {
  return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
                     column_x(index) + kBarsColumn / 2, kBarsHeight + 24, p.gpus);
}

/// Bars up to 120 %: some trainings scale better than linearly, as their caches hold more.
std::string efficiency_figure(const Prediction& prediction) {
  std::string out = svg_begin(prediction.points.size(), "Efficiency by number of GPUs");
  for (std::size_t i = 0; i < prediction.points.size(); ++i) {
    const PredictionPoint& p = prediction.points[i];
    const double height = kBarsHeight * std::clamp(p.efficiency, 0.0, 1.2) / 1.2;
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#4c78a8\"><title>{}: "
        "speedup {:.2f}, {:.1f} "
        "samples/s</title></rect>\n",
        column_x(i) + 8, kBarsHeight - height + 8, kBarsColumn - 16, height, counted(p.gpus, "GPU"),
        p.speedup, p.samples_per_s);
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{} %</text>\n",
                       column_x(i) + kBarsColumn / 2, kBarsHeight - height + 2, percent(p.efficiency, 0)) +
           column_label(i, p);
  }
  return out + "</svg></figure>\n";
}

/// Bars as long as the step, cut into its accounts from the bottom up.
std::string step_figure(const Prediction& prediction) {
  double longest = 0;
  for (const PredictionPoint& p : prediction.points) longest = std::max(longest, p.step_s);
  std::string out = svg_begin(prediction.points.size(), "Where the step goes");
  for (std::size_t i = 0; i < prediction.points.size(); ++i) {
    const PredictionPoint& p = prediction.points[i];
    double top = kBarsHeight + 8;
    for (std::size_t account = 0; account < kAccountCount; ++account) {
      const double height = (kBarsHeight - 10) * p.breakdown[account] / longest;
      top -= height;
      if (height > 0) {
        out += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\"><title>{}: "
            "{}</title></rect>\n",
            column_x(i) + 8, top, kBarsColumn - 16, height, kStyles[account].color, kStyles[account].name,
            to_string(seconds(p.breakdown[account])));
      }
    }
    out += column_label(i, p);
  }
  out += "</svg>\n<p class=\"legend\">";
  for (const AccountStyle& style : kStyles)
    out += fmt::format("<span style=\"--c:{}\">{}</span> ", style.color, style.name);
  return out + "</p></figure>\n";
}

constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\">\n<style>body{font:16px system-ui,sans-serif;max-width:60rem;margin:2rem "
    "auto;padding:0 1rem}"
    "svg{width:100%;height:auto;font-size:12px}figure{margin:1.5rem "
    "0}figcaption{font-weight:600}pre{overflow-x:auto;background:#f5f5f5;padding:1rem}"
    ".legend span{margin-right:1rem}.legend "
    "span::before{content:'';display:inline-block;width:.8em;height:.8em;margin-right:.3em;background:var(--"
    "c)}</style>\n";

}  // namespace

std::string write_html(const Prediction& p, const ReportOptions& options) {
  const std::string title =
      xml_text(fmt::format("{}: {} on {} with {}", p.scenario, p.model, p.cluster, p.strategy));
  std::string out =
      fmt::format("{}<title>{}</title></head><body>\n<h1>{}</h1>\n<p>{}.</p>\n", kHead, title, title,
                  xml_text(p.cannot_run ? std::string("It cannot run here") : p.crossover.cause));
  return out + efficiency_figure(p) + step_figure(p) + "<pre>" + xml_text(write_table(p, options)) +
         "</pre>\n</body></html>\n";
}

}  // namespace foretrain

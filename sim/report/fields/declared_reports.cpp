// The reports whose fields are declared. Each row has the schema's name, the command that prints it, its
// meaning, and its shape; adding a report means adding a row.
//
// The JSON schemas and the types for Python and TypeScript are made from these rows. Reports whose fields are
// not declared are listed in sim/app/pages/reference.cpp alone.
#include "sim/report/collective/collective_fields.hpp"
#include "sim/report/comparison/comparison_fields.hpp"
#include "sim/report/plan/plan_fields.hpp"
#include "sim/report/study/study_fields.hpp"
#include "sim/report/sweep/sweep_fields.hpp"

namespace foretrain {

const std::vector<DeclaredReport>& declared_reports() {
  static const std::vector<DeclaredReport> reports{
      {"prediction", "predict", "A prediction", declared_shape<Prediction>},
      {"predictions", "predict of several scenarios, and --scaling both", "Several predictions",
       declared_shape<SeveralPredictions>},
      {"study", "predict of a scenario with [study]", "Every combination of a grid",
       declared_shape<StudyResult>},
      {"comparison", "compare", "Strategies side by side", declared_shape<Comparison>},
      {"comparisons", "compare of several scenarios", "Several comparisons",
       declared_shape<SeveralComparisons>},
      {"strategies", "compare --models … --clusters …", "The best strategy of many jobs",
       declared_shape<StrategyMatrix>},
      {"machines", "compare SCENARIO --clusters …", "One training on several machines",
       declared_shape<MachineComparison>},
      {"plan", "plan", "Layouts of a large model", declared_shape<LayoutSearch>},
      {"plans", "plan with several numbers of GPUs", "Layouts on several numbers of GPUs",
       declared_shape<PlannedCounts>},
      {"collective", "collective", "A collective over message sizes", declared_shape<ShownCurve>},
      {"sweep_status", "sweep status", "How far databases of sweeps are", declared_shape<SweepStates>},
      {"sweep_rows", "sweep show", "Rows of a sweep", declared_shape<SweepAnswer>},
  };
  return reports;
}

}  // namespace foretrain

# Tests: one executable per folder of tests/unit (mirroring sim/) and per other kind; every TEST_CASE is one ctest test.
find_package(Catch2 REQUIRED)
include(Catch)

# Recorded networks of measured machines are kept packed; tests and pages read them beside their rows.
file(GLOB packed_networks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/measured/*/networks.tar.gz)
foreach(packed IN LISTS packed_networks)
  get_filename_component(folder ${packed} DIRECTORY)
  if(NOT EXISTS ${folder}/networks OR ${packed} IS_NEWER_THAN ${folder}/networks)
    file(ARCHIVE_EXTRACT INPUT ${packed} DESTINATION ${folder})
    file(TOUCH ${folder}/networks)
  endif()
endforeach()

# Seconds after which a test is taken to hang: ten times what the slowest takes alone, so that no busy machine fails one.
set(FORETRAIN_TEST_TIMEOUT 900)

file(GLOB support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cpp)
list(REMOVE_ITEM support_sources ${PROJECT_SOURCE_DIR}/tests/support/outcome.cpp)
add_library(test_support STATIC ${support_sources})
target_link_libraries(test_support PUBLIC foretrain_flags fmt::fmt Catch2::Catch2WithMain)
# g++ 12 sees overflows in std::string(n, c) + "…" that are not there (GCC bugs 105329, 105651).
target_compile_options(test_support PUBLIC $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict>)
# Tests spend their time in the libraries; compiling them is half of a fresh build.
target_compile_options(test_support PUBLIC $<$<CONFIG:Dev>:-O0>)
target_precompile_headers(test_support PRIVATE ${PROJECT_SOURCE_DIR}/cmake/standard_headers.hpp ${PROJECT_SOURCE_DIR}/tests/support/catch.hpp)

# An object, because a linker takes from a library only what is asked for: every program's exit code says what was skipped.
add_library(test_outcome OBJECT ${PROJECT_SOURCE_DIR}/tests/support/outcome.cpp)
target_link_libraries(test_outcome PRIVATE foretrain_flags Catch2::Catch2WithMain)

if(Catch2_VERSION VERSION_LESS 3)
  set(FORETRAIN_CATCH_ARGS --warn NoTests)
endif()

# `ctest -L fast` runs these before every commit: the lower layers, on machines and networks of a few parts. The others are labelled slow.
set(FORETRAIN_FAST_TESTS unit_base unit_engine unit_cluster unit_workload unit_collective unit_strategy physics)

# The arguments after the folder are libraries.
function(foretrain_add_tests name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  foretrain_compile_together(${name})
  target_link_libraries(${name} PRIVATE test_support test_outcome ${ARGN})
  target_precompile_headers(${name} REUSE_FROM test_support)
  target_compile_definitions(${name} PRIVATE FORETRAIN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" FORETRAIN_BINARY="${PROJECT_BINARY_DIR}/foretrain"
                                                FORETRAIN_VERSION="${PROJECT_VERSION}")
  # With sanitizers only what reads foreign text and the engine are tested, which start no program.
  if(TARGET foretrain AND NOT FORETRAIN_SANITIZE)
    add_dependencies(${name} foretrain)
  endif()
  # Catch2 2.x passes when a name finds no test (one with a semicolon), and lists nothing when two tests have one name.
  add_custom_command(TARGET ${name} POST_BUILD COMMAND sh -c "$<TARGET_FILE:${name}> --list-tests | grep -Eq '^[1-9][0-9]* test case'" VERBATIM)
  set(label slow)
  if(name IN_LIST FORETRAIN_FAST_TESTS)
    set(label fast)
  endif()
  catch_discover_tests(${name} TEST_PREFIX "${folder}: " EXTRA_ARGS ${FORETRAIN_CATCH_ARGS}
                       PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} SKIP_RETURN_CODE 4 LABELS ${label})
endfunction()

# Tests of lower layers may use all up to analysis, which is done before report and app are.
foreach(layer IN LISTS FORETRAIN_LAYERS)
  if(layer MATCHES "^(analysis|report|app)$")
    foretrain_add_tests(unit_${layer} unit/${layer} ${FORETRAIN_LIBRARIES})
  else()
    foretrain_add_tests(unit_${layer} unit/${layer} foretrain_analysis)
  endif()
endforeach()
# Not the simulator: foretrain-bench has the samples' reader by itself.
foretrain_add_tests(unit_calibrate unit/calibrate foretrain_fit foretrain_bench_plan)
include(cmake/standin.cmake)
foreach(kind laws physics golden measured)
  foretrain_add_tests(${kind} ${kind} ${FORETRAIN_LIBRARIES})
endforeach()
# Random jobs by the grammar of a fuzz target.
file(GLOB made_scenarios CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/scenarios/*.cpp)
target_sources(laws PRIVATE ${made_scenarios})
# Every page of the documentation is a test of its own.
file(GLOB root_pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/*.md)
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/docs/*.md)
foreach(page IN LISTS root_pages pages)
  add_test(NAME "docs: ${page}" COMMAND golden "the page named by FORETRAIN_PAGE is right" ${FORETRAIN_CATCH_ARGS})
  # The slow ones begin first.
  set_tests_properties("docs: ${page}" PROPERTIES ENVIRONMENT FORETRAIN_PAGE=${page} TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10)
endforeach()
# Whether every JSON report is what its schema says.
add_test(NAME "reports: JSON is as docs/reference/schema says"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/golden/json_schemas.sh ${PROJECT_BINARY_DIR}/foretrain ${PROJECT_SOURCE_DIR})
set_tests_properties("reports: JSON is as docs/reference/schema says"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} SKIP_RETURN_CODE 4 COST 10)
# Whether `serve` answers what is asked, refuses what is wrong, and lives on.
add_test(NAME "serve: requests are answered or refused, and the server lives on"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/workshop/serve_requests.py ${PROJECT_BINARY_DIR}/foretrain ${PROJECT_SOURCE_DIR})
set_tests_properties("serve: requests are answered or refused, and the server lives on"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10)
# Whether the lesson's chapters, the page's questions, the program and the measured rows say the same.
add_test(NAME "lesson: chapters, page, program and measured rows agree"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/workshop/lesson_questions.py ${PROJECT_BINARY_DIR}/foretrain ${PROJECT_SOURCE_DIR})
set_tests_properties("lesson: chapters, page, program and measured rows agree" PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10)
# Whether every page renders in the site and no link between pages leads nowhere, where mkdocs is there.
find_program(MKDOCS mkdocs)
if(MKDOCS)
  add_test(NAME "site: every page renders and no link leads nowhere" COMMAND ${PROJECT_SOURCE_DIR}/tools/build_site ${PROJECT_BINARY_DIR}/site)
  set_tests_properties("site: every page renders and no link leads nowhere" PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10)
endif()
# Whether `mcp` speaks its protocol, answers what the commands answer, and lives on.
add_test(NAME "mcp: calls are answered as by the commands, and hostile lines are faults"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/workshop/mcp_exchange.py ${PROJECT_BINARY_DIR}/foretrain ${PROJECT_SOURCE_DIR})
set_tests_properties("mcp: calls are answered as by the commands, and hostile lines are faults" PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10)
# Whether outputs are whole or as before when files or devices fail, and the same wherever the program runs.
add_test(NAME "faults: outputs are whole or as before, and the same everywhere"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/faults/output_faults.py ${PROJECT_BINARY_DIR}/foretrain ${PROJECT_SOURCE_DIR})
set_tests_properties("faults: outputs are whole or as before, and the same everywhere" PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10)
# Whether stores of evidence lose a row or leave a file when commands on them are killed.
add_test(NAME "faults: commands on evidence that are killed lose no row and leave no file"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/faults/kill_evidence.py ${PROJECT_BINARY_DIR}/foretrain)
set_tests_properties("faults: commands on evidence that are killed lose no row and leave no file"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR})
# Whether sweeps that are killed at random moments come to the rows of unbroken ones; by hand with `--sweeps 1000 --cases 500 --kinds 20`.
add_test(NAME "sweep: killed runs and merges end with the rows of unbroken ones"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/sweep/kill_sweeps.py ${PROJECT_BINARY_DIR}/foretrain)
set_tests_properties("sweep: killed runs and merges end with the rows of unbroken ones"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10 ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR})
# Whether names in scripts of sweeps stay names, for every engine.
add_test(NAME "sweep: hostile names stay names in every script"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/sweep/submit_names.py ${PROJECT_BINARY_DIR}/foretrain)
set_tests_properties("sweep: hostile names stay names in every script"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR})
# Whether job scripts start what their headings say, under stub launchers; by hand with `--jobs 60`.
add_test(NAME "jobs: written scripts start one training with as many processes as they say"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/jobs/written_scripts.py ${PROJECT_BINARY_DIR}/foretrain --jobs 8)
set_tests_properties("jobs: written scripts start one training with as many processes as they say"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10 ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR})
# Laws of random jobs: CPUs, check against prediction, what plan writes; the whole law with FORETRAIN_RANDOM_JOBS=2000.
add_test(NAME "jobs: random ones keep the laws of CPUs, checks and plans"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/jobs/random_jobs.py ${PROJECT_BINARY_DIR}/foretrain)
set_tests_properties("jobs: random ones keep the laws of CPUs, checks and plans"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 20 ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR})
# What is read of job scripts beside what a person says of them, as docs/job_reading.md shows it.
add_test(NAME "jobs: scripts are read as a person reads them"
         COMMAND ${PROJECT_SOURCE_DIR}/tools/job_reading WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties("jobs: scripts are read as a person reads them" PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10
                     ENVIRONMENT "FORETRAIN_PATH=${PROJECT_SOURCE_DIR};FORETRAIN_BIN=${PROJECT_BINARY_DIR}/foretrain")
# What strategies and layouts send beside what frameworks sent, where recorded programs lie beside the project.
add_test(NAME "judges: programs of frameworks are sent alike, or it is known why not"
         COMMAND ${PROJECT_SOURCE_DIR}/tools/judges --least ${PROJECT_SOURCE_DIR}/tests/judges/least.csv)
set_tests_properties("judges: programs of frameworks are sent alike, or it is known why not"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} SKIP_RETURN_CODE 4 COST 10
                     ENVIRONMENT "FORETRAIN_PATH=${PROJECT_SOURCE_DIR};FORETRAIN_BIN=${PROJECT_BINARY_DIR}/foretrain")
# The same of scripts that are not in this repository, where they are beside it.
add_test(NAME "jobs: scripts of six sites are read as a person reads them"
         COMMAND ${PROJECT_SOURCE_DIR}/tools/job_reading tests/jobs/said_samples.csv ../shared docs/job_reading.md
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties("jobs: scripts of six sites are read as a person reads them"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} SKIP_RETURN_CODE 4 COST 10
                     ENVIRONMENT "FORETRAIN_PATH=${PROJECT_SOURCE_DIR};FORETRAIN_BIN=${PROJECT_BINARY_DIR}/foretrain")
# The same of Slurm's scripts under a real Slurm of two nodes on this machine, where it is installed.
add_test(NAME "jobs: written scripts run under a real Slurm"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/jobs/real_slurm.py ${PROJECT_BINARY_DIR}/foretrain)
set_tests_properties("jobs: written scripts run under a real Slurm"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} SKIP_RETURN_CODE 4 COST 10 ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR})
# What the filters of packaging/submit print when a job is submitted: Slurm's in the real sbatch, where it is installed.
add_test(NAME "jobs: filters at submission say at most three lines and hold up no job"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/jobs/submit_filters.py ${PROJECT_BINARY_DIR}/foretrain)
set_tests_properties("jobs: filters at submission say at most three lines and hold up no job" PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10)
# Whether `tune` finds what enumeration finds; by hand with `--spaces 200 --cases 500 20000 --markdown`.
add_test(NAME "tune: what enumeration finds is found"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/tune/enumerated_spaces.py ${PROJECT_BINARY_DIR}/foretrain)
set_tests_properties("tune: what enumeration finds is found"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10 ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR})
# Whether generated command lines end with an exit code and a reason; by hand with `--count 1000000`, from any number on.
file(GLOB command_line_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/command_lines/*.cpp)
add_executable(command_lines ${command_line_sources})
target_link_libraries(command_lines PRIVATE ${FORETRAIN_LIBRARIES} foretrain_flags)
target_compile_definitions(command_lines PRIVATE FORETRAIN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_test(NAME "command lines: generated ones keep the laws"
         COMMAND command_lines --count 2000 --seconds 60 ${PROJECT_BINARY_DIR}/command_lines_files)
set_tests_properties("command lines: generated ones keep the laws"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} COST 10 ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR})
# Whether others' software in the pages has its notices wherever a page goes.
add_test(NAME "packaging: the pages' software has its notices"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/packaging/notices.py ${PROJECT_BINARY_DIR}/foretrain ${PROJECT_SOURCE_DIR})
set_tests_properties("packaging: the pages' software has its notices"
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR})
# Whether the flags of cmake/hardening.cmake reach the program.
if(FORETRAIN_HARDENING AND NOT FORETRAIN_SANITIZE)
  add_test(NAME "packaging: the program is hardened"
           COMMAND ${PROJECT_SOURCE_DIR}/tests/packaging/hardening.py ${PROJECT_BINARY_DIR}/foretrain $<$<BOOL:${FORETRAIN_FORTIFY}>:--fortified>)
  set_tests_properties("packaging: the program is hardened" PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} SKIP_RETURN_CODE 4)
endif()
include(cmake/toy_strategy.cmake)
find_path(SIMGRID_INCLUDE_DIR simgrid/s4u.hpp)
find_library(SIMGRID_LIBRARY simgrid)
if(SIMGRID_INCLUDE_DIR AND SIMGRID_LIBRARY)
  foretrain_add_tests(crosscheck crosscheck ${FORETRAIN_LIBRARIES} ${SIMGRID_LIBRARY})
endif()

find_package(benchmark QUIET)
file(GLOB speed_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/speed/*.cpp)
if(benchmark_FOUND AND speed_sources)
  add_executable(speed ${speed_sources})
  target_link_libraries(speed PRIVATE ${FORETRAIN_LIBRARIES} foretrain_flags benchmark::benchmark_main)
endif()

# The fuzz targets as ordinary tests: each runs once over its seed corpus, its kept crashes and some mutants. One program holds those of
# all layers up to analysis, so that the sanitizers need not compile the rest; another those of report and app.
function(foretrain_add_replay name library)
  set(includes "")
  set(rows "")
  foreach(source IN LISTS ARGN)
    get_filename_component(target ${source} NAME_WE)
    string(APPEND includes "#define LLVMFuzzerTestOneInput ${target}\n#include \"tests/fuzz/${target}.cpp\"\n#undef LLVMFuzzerTestOneInput\n")
    string(APPEND rows "    {\"${target}\", ${target}},\n")
    add_test(NAME "fuzz: ${target} over its corpus" COMMAND ${name} ${target} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${target})
    set_tests_properties("fuzz: ${target} over its corpus" PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} LABELS ${name})
  endforeach()
  set(replay_includes "${includes}")
  set(replay_rows "${rows}")
  configure_file(${PROJECT_SOURCE_DIR}/tests/fuzz/replay_targets.hpp.in ${PROJECT_BINARY_DIR}/generated/${name}/replay_targets.hpp @ONLY)
  add_executable(${name} tests/fuzz/replay.cpp tests/fuzz/mutators/mutate.cpp tests/fuzz/mutators/pieces.cpp)
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/generated/${name})
  target_link_libraries(${name} PRIVATE ${library} foretrain_flags)
endfunction()
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.cpp)
set(upper_fuzz_sources "")
foreach(source IN LISTS fuzz_sources)
  file(STRINGS ${source} hits LIMIT_COUNT 1 REGEX "^#include \"sim/(report|app)/")
  if(hits)
    list(APPEND upper_fuzz_sources ${source})
  endif()
endforeach()
list(REMOVE_ITEM fuzz_sources ${upper_fuzz_sources})
foretrain_add_replay(replay foretrain_analysis ${fuzz_sources})
target_sources(replay PRIVATE ${made_scenarios})
foretrain_add_replay(replay_reports foretrain_app ${upper_fuzz_sources})
foretrain_add_tests(mutators fuzz/mutators)
add_test(NAME "mutation: sites of mutants" COMMAND ${PROJECT_SOURCE_DIR}/tests/mutation/sites_test.py)

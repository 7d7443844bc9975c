// SimGrid's interface as a system header: its own warnings are not ours.
#pragma once

#pragma GCC system_header
#include <simgrid/s4u.hpp>

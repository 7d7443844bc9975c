// Not written yet.
#include "calibrate/fit/least_squares.hpp"

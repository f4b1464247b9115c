// Read before every kernel that is compiled for a CPU: CUDA C++ as a header for a C++ compiler.
#pragma once

#include "cuda_math.h"

// What a scope costs, beside the same ops submitted one by one into arrays that were there before. Each function opens
// a device with a worker process and closes it again outside the measured time.
#pragma once

#include "bench/pair.hpp"

namespace troupe::bench {

/// Nanoseconds for each of so many fills of one element: in a scope, and submitted alone.
Pair::Figures scope_cost_ns(int count);

/// Nanoseconds for a step of a perceptron (512 points, 32 hidden neurons, gradients by hand), the mean of `steps`: in a
/// scope that makes every result, and by the same ops into arrays that are there.
Pair::Figures perceptron_step_ns(int steps);

/// The same by a plain loop of one thread of this process.
double perceptron_in_a_loop_ns(int steps);

}  // namespace troupe::bench

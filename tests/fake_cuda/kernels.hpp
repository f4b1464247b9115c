// The few kernels whose results decide what the app does next, such as how much memory it wants, the tests' own that
// writes where it should not, and those of random numbers, whose threads' code a CPU can run: those the fake runs. All
// others are launched and do nothing.
#pragma once

#include <functional>
#include <string_view>

namespace fake_cuda {

/// What so many blocks of a kernel of that name do with these arguments, which are read before this returns; empty:
/// nothing.
std::function<void()> work_of_kernel(std::string_view name, void** arguments, unsigned blocks);

}  // namespace fake_cuda

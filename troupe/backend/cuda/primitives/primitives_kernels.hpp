// The names of the kernels of the primitives family, file by file. A kernel that is missing here cannot be asked for,
// and one that is missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(ScanKernel, primitives_scan_kernels, scan_sum, scan_product, scan_min, scan_max, scan_bit_and,
               scan_bit_or, scan_bit_xor)
TROUPE_KERNELS(SegmentedKernel, primitives_segmented_kernels, scan_segments_sum, scan_segments_product,
               scan_segments_min, scan_segments_max, scan_segments_bit_and, scan_segments_bit_or, scan_segments_bit_xor)
TROUPE_KERNELS(RowReduceKernel, primitives_reduce_kernels, reduce_sum, reduce_product, reduce_min, reduce_max,
               reduce_bit_and, reduce_bit_or, reduce_bit_xor, arg_reduce)
TROUPE_KERNELS(SortKernel, primitives_sort_kernels, count_digits, sort_keys, sort_with_4_bytes, sort_with_8_bytes,
               sort_short)
TROUPE_KERNELS(TopKKernel, primitives_top_k_kernels, find_best, collect_best)
TROUPE_KERNELS(SelectKernel, primitives_select_kernels, select, append_rest, mark_runs, run_lengths, search, mark_set,
               place_set, check_keys, check_offsets, tell_finding, mark_segments, find_segments, arrange)
TROUPE_KERNELS(MoveKernel, primitives_move_kernels, gather, check_indices, find_winners, scatter, scatter_add,
               scatter_min, scatter_max, histogram, histogram_bounds, check_bounds, store_counts)

}  // namespace troupe::cuda

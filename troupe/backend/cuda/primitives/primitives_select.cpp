#if TROUPE_CUDA_BACKEND

// Selections, runs, searches and sets.
#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/backend/cuda/primitives/primitives_ops.hpp"
#include "troupe/backend/cuda/primitives/primitives_scratch.hpp"

namespace troupe::cuda {
namespace {

/// What is flagged of so many elements of a size: what else is wanted is set by the caller.
Result<SelectArguments> select_arguments(const unsigned char* flags, std::int64_t length, long long* count,
                                         PrimitivesScratch& scratch) {
  const std::int64_t tiles = divided_up(length, kSelectTile);
  return SelectArguments{.flags = flags,
                         .x = nullptr,
                         .y = nullptr,
                         .positions = nullptr,
                         .rest = nullptr,
                         .count = count,
                         .tiles = TROUPE_TRY(scratch.array_of_zeros<unsigned long long>(1 + tiles, 1 + tiles)),
                         .length = length,
                         .all_tiles = tiles,
                         .wide = true};
}

/// A count is 0 until a kernel says what it is.
Result<void> count_nothing(const op::View& count, const PrimitivesScratch& scratch) {
  return scratch.fill_bytes(scratch.on().data(count), 0, size_bytes(count.dtype));
}

CheckArguments ascending(const GpuRows& keys, op::PrimitivesFault fault, FirstFinding* finding) {
  return {.data = keys.data(),
          .finding = finding,
          .length = keys.length,
          .bound = 0,
          .order = key_order(keys.dtype, false),
          .fault = static_cast<int>(fault),
          .wide = false};
}

}  // namespace

Result<void> run_op(const op::PrimitivesSelect& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  TROUPE_TRY(count_nothing(op.count, scratch));
  const GpuRows flags = TROUPE_TRY(scratch.flat(op.flags));
  if (flags.length == 0) return {};
  auto* const count = on.data<long long>(op.count);
  SelectArguments arguments =
      TROUPE_TRY(select_arguments(flags.data<unsigned char>(), flags.length, count, scratch));
  const GpuTarget y = TROUPE_TRY(scratch.target_flat(op.y, !op.keeps_rest));
  if (!op.has_x) {
    arguments.positions = y.data();
    arguments.wide = is_wide(y);
    TROUPE_TRY(scratch.blocks(SelectKernel::select, KernelTypes::of_size(1), arguments.all_tiles, arguments));
    return scratch.finish(y);
  }
  const GpuRows x = TROUPE_TRY(scratch.flat(op.x));
  arguments.x = x.data();
  arguments.y = y.data();
  if (op.keeps_rest) arguments.rest = TROUPE_TRY(scratch.made(x.dtype, 1, x.length)).data();
  TROUPE_TRY(scratch.blocks(SelectKernel::select, of_size(x), arguments.all_tiles, arguments));
  if (op.keeps_rest)
    TROUPE_TRY(scratch.threads(
        SelectKernel::append_rest, of_size(x), x.length,
        AppendArguments{.rest = arguments.rest, .y = y.data(), .count = count, .length = x.length}));
  return scratch.finish(y);
}

Result<void> run_op(const op::PrimitivesUnique& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  TROUPE_TRY(count_nothing(op.count, scratch));
  const GpuRows x = TROUPE_TRY(scratch.flat(op.x));
  if (x.length == 0) return {};
  const GpuTarget y = TROUPE_TRY(scratch.target_flat(op.y, true));
  auto* const flags = TROUPE_TRY(scratch.array<unsigned char>(x.length));
  TROUPE_TRY(scratch.threads(SelectKernel::mark_runs, of_size(x), x.length,
                             RunArguments{.x = x.data(),
                                          .flags = flags,
                                          .length = x.length,
                                          .order = key_order(x.dtype, false)}));
  auto* const count = on.data<long long>(op.count);
  SelectArguments arguments = TROUPE_TRY(select_arguments(flags, x.length, count, scratch));
  arguments.x = x.data();
  arguments.y = y.data();
  auto* const begins = op.has_lengths ? TROUPE_TRY(scratch.array<long long>(x.length)) : nullptr;
  arguments.positions = begins;
  TROUPE_TRY(scratch.blocks(SelectKernel::select, of_size(x), arguments.all_tiles, arguments));
  TROUPE_TRY(scratch.finish(y));
  if (!op.has_lengths) return {};
  const GpuTarget lengths = TROUPE_TRY(scratch.target_flat(op.lengths, true));
  TROUPE_TRY(scratch.threads(SelectKernel::run_lengths, {}, x.length,
                             RunLengthArguments{.begins = begins,
                                                .lengths = lengths.data(),
                                                .count = count,
                                                .length = x.length,
                                                .wide = is_wide(lengths)}));
  return scratch.finish(lengths);
}

Result<void> run_op(const op::PrimitivesSearch& op, const LaneTools& on) {
  if (op::element_count(op.places) == 0) return {};
  PrimitivesScratch scratch(on);
  const GpuRows sorted = TROUPE_TRY(scratch.flat(op.sorted));
  const GpuRows keys = TROUPE_TRY(scratch.flat(op.keys));
  const GpuTarget places = TROUPE_TRY(scratch.target_flat(op.places));
  TROUPE_TRY(scratch.threads(SelectKernel::search, of_size(keys), keys.length,
                             SearchArguments{.sorted = sorted.data(),
                                             .keys = keys.data(),
                                             .places = places.data(),
                                             .length = sorted.length,
                                             .keys_count = keys.length,
                                             .order = key_order(op.keys.dtype, false),
                                             .after_equal = op.after_equal,
                                             .wide = is_wide(places)}));
  return scratch.finish(places);
}

Result<void> run_op(const op::PrimitivesSets& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  FirstFinding* const finding = TROUPE_TRY(scratch.no_finding(op.verdict));
  const GpuRows a = TROUPE_TRY(scratch.flat(op.a));
  const GpuRows b = TROUPE_TRY(scratch.flat(op.b));
  if (a.length + b.length == 0) return count_nothing(op.count, scratch);
  TROUPE_TRY(scratch.threads(SelectKernel::check_keys, of_size(a), a.length,
                             ascending(a, op::PrimitivesFault::a_falls, finding)));
  TROUPE_TRY(scratch.threads(SelectKernel::check_keys, of_size(b), b.length,
                             ascending(b, op::PrimitivesFault::b_falls, finding)));
  TROUPE_TRY(scratch.threads(SelectKernel::tell_finding, {}, 1,
                             VerdictArguments{.finding = finding,
                                              .verdict = on.data<int>(op.verdict),
                                              .data = nullptr,
                                              .stride = 0,
                                              .length = 0,
                                              .bound = 0,
                                              .wide = false}));
  const GpuTarget y = TROUPE_TRY(scratch.target_flat(op.y, true));
  const GpuRows flags = TROUPE_TRY(scratch.made(DType::i64, 1, a.length + b.length + 1));
  const SetArguments arguments{.a = a.data(),
                               .b = b.data(),
                               .y = y.data(),
                               .flags = flags.data<long long>(),
                               .count = on.data<long long>(op.count),
                               .finding = finding,
                               .a_length = a.length,
                               .b_length = b.length,
                               .order = key_order(a.dtype, false),
                               .operation = static_cast<int>(op.operation)};
  TROUPE_TRY(scratch.threads(SelectKernel::mark_set, of_size(a), flags.length, arguments));
  TROUPE_TRY(sum_before(flags, scratch));
  TROUPE_TRY(scratch.threads(SelectKernel::place_set, of_size(a), flags.length, arguments));
  return scratch.finish(y);
}

}  // namespace troupe::cuda

#endif

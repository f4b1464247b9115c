// A backtrace as a dying worker writes it and as people read it. The worker writes from a signal handler, so it writes
// what it finds: `libx.so+0x1264(_ZN1x4failEv) <- troupe-worker+0x42(main)`. The app makes lines of it, with names that
// can be read. It trusts none of the text, because whatever killed the worker may have written there, too.
//
//   #0 x::fail(), libx.so+0x1264
//   #1 main, troupe-worker+0x42
//
// `addr2line -Cfpe libx.so 0x1264` gives the file and the line, where the module has debug information. The app leaves
// that to people: the file would be one that the worker names, and a worker may lie.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::inline v0::wire {

/// Between two frames, as the worker writes them.
inline constexpr std::string_view kFrameSeparator = " <- ";
/// A longer symbol is left out: half a symbol cannot be made readable.
inline constexpr std::size_t kMaxSymbolBytes = 512;

/// A line for each frame, each after a line break and two blanks. It follows the first line of an error's message.
std::string readable_backtrace(std::string_view written);

/// A function's name as in its source, without what is inside the angle brackets where it would be longer than a line.
/// What is no such symbol, or would become enormous, stays as it is.
std::string readable_symbol(const std::string& symbol);

/// The message of an error without its backtrace, for a log: one line.
std::string_view without_backtrace(std::string_view message) noexcept;

}  // namespace troupe::inline v0::wire

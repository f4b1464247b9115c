// What the worker's loop does with the bytes of a record, and what must hold of whatever comes out: for tests that make
// bytes which nobody meant.
#pragma once

#include <gtest/gtest.h>

#include "troupe/op/fields.hpp"

namespace troupe::op {

/// What the worker's loop does with bytes that may be anything. True when they were an op that may run.
inline bool survives(std::span<const std::byte> bytes) {
  AnyOp op;
  const Result<void> decoded = op.decode(bytes);
  if (!decoded) {
    EXPECT_EQ(decoded.error().kind(), ErrorKind::invalid_argument);
    return false;
  }
  Views views;
  op.info().views(op.get(), views);
  Toucher toucher;
  const Result<void> examined = examine(op.info(), op.get(), views, toucher);
  const ErrorKind kind = examined ? ErrorKind::invalid_argument : examined.error().kind();
  EXPECT_TRUE(kind == ErrorKind::invalid_argument || kind == ErrorKind::unsupported) << name(kind);
  (void)op.info().work(op.get(), toucher.elements());
  for (const Touch& touch : toucher.touches().all()) {
    EXPECT_FALSE(touch.range.empty());
    EXPECT_LT(chunk_of(touch.range.begin), kMaxChunks);
    EXPECT_EQ(chunk_of(touch.range.begin), chunk_of(touch.range.end - 1));
    EXPECT_TRUE(touch.reads || touch.writes);
  }
  EXPECT_FALSE(describe(op).empty());
  return examined.has_value();
}

}  // namespace troupe::op

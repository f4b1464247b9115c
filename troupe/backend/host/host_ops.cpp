#include "troupe/backend/host/host_ops.hpp"

#include "troupe/backend/op_notes.hpp"
#include "troupe/op/families.hpp"

namespace troupe::host {

#define TROUPE_FAMILY(name, lane) void add_##name(RunTable& table);
TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY

namespace {

RunTable table_of_all() {
  RunTable table;
#define TROUPE_FAMILY(name, lane) add_##name(table);
  TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY
  return table;
}

}  // namespace

HostOps::HostOps(HostMemory& memory, Team& team, const backend::Setup& setup)
    : here_(memory, team), plugins_(setup), programs_(memory, setup), table_(table_of_all()) {}

Result<void> HostOps::run(const backend::Work& work, const op::AnyOp& op, bool& has_begun) noexcept {
  const RunTable::Run how = table_.find(op.info().kind);
  if (!how) return fail(ErrorKind::unsupported, std::string(op.info().name) + " cannot be run on the CPU");
  backend::at_static_op(work.lane, work.ticket, op.info().name);
  try {
    Result<void> result = how(op.get(), HostTools(here_, work, plugins_, fft_plans_, programs_, has_begun));
    backend::at_no_op();
    return result;
  } catch (...) {
    backend::at_no_op();
    return fail(detail::current_exception_as_error());
  }
}

}  // namespace troupe::host

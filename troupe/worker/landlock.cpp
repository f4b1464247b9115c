#include "troupe/worker/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "troupe/wire/sandbox_support.hpp"

namespace troupe::worker {
namespace {

// From linux/landlock.h, which may be older than the kernel.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr int kPathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;  // from version 4 on
  std::uint64_t scopes = 0;   // from version 6 on
};
struct [[gnu::packed]] PathAttributes {
  std::uint64_t allowed;
  std::int32_t parent;
};

constexpr std::uint64_t bit(int number) noexcept { return std::uint64_t{1} << number; }
constexpr std::uint64_t kExecute = bit(0), kWriteFile = bit(1), kReadFile = bit(2), kReadFolder = bit(3),
                        kMakeCharacterDevice = bit(6), kMakeBlockDevice = bit(11), kRefer = bit(13),
                        kTruncate = bit(14), kUseDevice = bit(15);
constexpr std::uint64_t kTcp = bit(0) | bit(1);
constexpr std::uint64_t kAbstractSockets = bit(0), kSignalsToOthers = bit(1);
/// The rights that apply to a file; a folder has more.
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kUseDevice;

std::uint64_t known_rights(int version) noexcept {
  if (version >= 5) return bit(16) - 1;
  if (version >= 3) return bit(15) - 1;
  return version == 2 ? bit(14) - 1 : bit(13) - 1;
}

std::size_t attributes_bytes(int version) noexcept {
  if (version >= wire::kLandlockWithSignals) return 24;
  return version >= 4 ? 16 : 8;
}

RulesetAttributes attributes_of(int version, LandlockDomain::Closes closes) noexcept {
  RulesetAttributes attributes;
  if (version >= wire::kLandlockWithSignals) attributes.scopes = kSignalsToOthers;
  if (closes == LandlockDomain::Closes::files) {
    attributes.files = known_rights(version);
    if (version >= 4) attributes.network = kTcp;
    if (version >= wire::kLandlockWithSignals) attributes.scopes |= kAbstractSockets;
  } else if (attributes.scopes == 0) {
    // A domain must close something. One that closes anything of files also forbids moving files between folders,
    // unless that is allowed.
    attributes.files = kMakeCharacterDevice | kMakeBlockDevice | (version >= 2 ? kRefer : 0);
  }
  return attributes;
}

}  // namespace

Result<LandlockDomain> LandlockDomain::make(int version, Closes closes) {
  const RulesetAttributes attributes = attributes_of(version, closes);
  wire::Descriptor ruleset(static_cast<int>(syscall(kCreateRuleset, &attributes, attributes_bytes(version), 0)));
  if (!ruleset) return fail(wire::errno_error(ErrorKind::unsupported, "making a Landlock domain", errno));
  LandlockDomain domain(std::move(ruleset), attributes.files);
  if (closes == Closes::processes && (attributes.files & kRefer) != 0) {
    domain.handled_ = kRefer;
    TROUPE_TRY(domain.allow("/", FileAccess::read_write));
  }
  return domain;
}

Result<bool> LandlockDomain::allow(const std::string& path, FileAccess access) {
  const wire::Descriptor parent(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat what{};
  if (!parent || fstat(parent.get(), &what) != 0) return false;
  std::uint64_t rights = access == FileAccess::read ? kExecute | kReadFile | kReadFolder : ~std::uint64_t{0};
  if (!S_ISDIR(what.st_mode)) rights &= kOfFiles;
  const PathAttributes attributes{.allowed = rights & handled_, .parent = parent.get()};
  if (syscall(kAddRule, ruleset_.get(), kPathBeneath, &attributes, 0) != 0)
    return fail(wire::errno_error(ErrorKind::unsupported, "opening " + path + " in a Landlock domain", errno));
  return true;
}

Result<void> LandlockDomain::enter() {
  if (syscall(kRestrictSelf, ruleset_.get(), 0) == 0) return {};
  return fail(wire::errno_error(ErrorKind::unsupported, "entering a Landlock domain", errno));
}

}  // namespace troupe::worker

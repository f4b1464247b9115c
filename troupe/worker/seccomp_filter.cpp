#include "troupe/worker/seccomp_filter.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "troupe/wire/descriptor.hpp"

namespace troupe::worker {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

/// Numbers from here on are the same calls again, for 32-bit pointers on x86-64; no other processor has them.
constexpr std::uint32_t kFirstOther = 0x4000'0000;

// Calls that are newer than some headers; their numbers are the same on every processor.
constexpr int kPidfdGetfd = 438, kProcessMadvise = 440, kMountSetattr = 442, kProcessMrelease = 448, kFchmodat2 = 452,
              kSetxattrat = 463, kRemovexattrat = 466, kClone3 = 435, kOpenTree = 428, kMoveMount = 429, kFsopen = 430,
              kFsconfig = 431, kFsmount = 432, kFspick = 433, kIoUringSetup = 425;

/// Calls that reach into the memory and the descriptors of other processes.
constexpr std::array kIntoOthers{SYS_ptrace,  SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
                                 kPidfdGetfd, kProcessMadvise,      kProcessMrelease};

constexpr std::array kNotInStrict{
    // the network, also through io_uring, whose calls no filter sees; new sockets are refused below
    SYS_connect,
    kIoUringSetup,
    // new programs; new processes are refused below, where threads are allowed
    SYS_execve,
    SYS_execveat,
    // memory and queues that processes find by name
    SYS_shmget,
    SYS_shmat,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    // changes to files that Landlock does not check
    SYS_truncate,
    SYS_fchmod,
    SYS_fchmodat,
    kFchmodat2,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    kSetxattrat,
    kRemovexattrat,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    // the machine
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    kOpenTree,
    kMoveMount,
    kFsopen,
    kFsconfig,
    kFsmount,
    kFspick,
    kMountSetattr,
    SYS_setns,
    SYS_unshare,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
#if defined(__x86_64__)
    // older calls, which ARM never had
    SYS_fork,
    SYS_vfork,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_ioperm,
    SYS_iopl,
    SYS_kexec_file_load,
#endif
};

constexpr std::uint32_t refusal(int number) noexcept {
  return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(number) & SECCOMP_RET_DATA);
}

/// Writes the program. A jump counts the instructions that it passes over.
class FilterWriter {
 public:
  void load(std::size_t offset) { put(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void answer(std::uint32_t what) { put(BPF_RET | BPF_K, what); }
  void answer_if(std::uint16_t comparison, std::uint32_t value, std::uint32_t what) {
    put(static_cast<std::uint16_t>(BPF_JMP | comparison | BPF_K), value, 0, 1);
    answer(what);
  }
  void refuse(int call, int number = EPERM) { answer_if(BPF_JEQ, static_cast<std::uint32_t>(call), refusal(number)); }
  void refuse_all(std::span<const int> calls) {
    for (const int call : calls) refuse(call);
  }
  /// The next `count` instructions are for this call alone.
  void skip_unless(int call, std::uint8_t count) {
    put(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, count);
  }
  void keep_bits(std::uint32_t bits) { put(BPF_ALU | BPF_AND | BPF_K, bits); }
  void skip_if(std::uint32_t value, std::uint8_t count) { put(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0); }

  std::vector<sock_filter> program;

 private:
  void put(std::uint16_t code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    program.push_back({.code = code, .jt = if_true, .jf = if_false, .k = value});
  }
};

/// The low half of an argument.
constexpr std::size_t argument(std::size_t which) noexcept { return offsetof(seccomp_data, args) + 8 * which; }

}  // namespace

namespace {

/// A socket of the kind that the CUDA driver opens when it starts. It does not start without `bind` and `listen` (tried
/// with driver 580: `cuInit` answers 304). But nothing comes out of the socket, for nobody is let in (`accept`), and it
/// can connect to nobody (`connect` is refused to all).
void allow_local_socket(FilterWriter& out) {
  constexpr std::uint32_t kTypeBits = 0xF;
  out.refuse(SYS_accept);
  out.refuse(SYS_accept4);
  out.skip_unless(SYS_socket, 8);
  out.load(argument(0));
  out.skip_if(AF_UNIX, 1);
  out.answer(refusal(EPERM));
  out.load(argument(1));
  out.keep_bits(kTypeBits);
  out.answer_if(BPF_JEQ, SOCK_SEQPACKET, SECCOMP_RET_ALLOW);
  out.answer(refusal(EPERM));
}

}  // namespace

std::vector<sock_filter> filter_of(Sandbox level, std::string_view backend) {
  FilterWriter out;
  if (level == Sandbox::none) return out.program;
  out.load(offsetof(seccomp_data, arch));
  out.program.push_back({.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 1, .jf = 0, .k = kArchitecture});
  out.answer(refusal(ENOSYS));
  out.load(offsetof(seccomp_data, nr));
  out.answer_if(BPF_JGE, kFirstOther, refusal(ENOSYS));
  out.refuse_all(kIntoOthers);
  if (level == Sandbox::strict) {
    out.refuse_all(kNotInStrict);
    if (backend == "cuda")
      allow_local_socket(out);
    else
      out.refuse(SYS_socket);
    out.refuse(kClone3, ENOSYS);  // a filter cannot see its flags; the C library then uses `clone`
    out.skip_unless(SYS_clone, 4);
    out.load(argument(0));
    out.answer_if(BPF_JSET, CLONE_THREAD, SECCOMP_RET_ALLOW);
    out.answer(refusal(EPERM));
  }
  out.skip_unless(SYS_prlimit64, 4);  // allowed for the process itself only
  out.load(argument(0));
  out.answer_if(BPF_JEQ, 0, SECCOMP_RET_ALLOW);
  out.answer(refusal(EPERM));
  out.answer(SECCOMP_RET_ALLOW);
  return out.program;
}

Result<void> install_filter(std::vector<sock_filter> program) {
  const sock_fprog all{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  // Without SPEC_ALLOW some kernels slow down everything that the process computes.
  const unsigned flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  const long answer = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &all);
  if (answer == 0) return {};
  const int number = answer > 0 ? EBUSY : errno;  // > 0: a thread that cannot follow
  return fail(wire::errno_error(ErrorKind::unsupported, "installing a filter of system calls", number));
}

}  // namespace troupe::worker

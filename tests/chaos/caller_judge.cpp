// What must come of an op, and what a caller makes of what came.
#include <algorithm>
#include <cmath>

#include "tests/chaos/caller.hpp"
#include "tests/chaos/deeds.hpp"

namespace troupe::chaos {
namespace {

constexpr std::size_t kMaxKept = 4;
constexpr std::size_t kRemembered = 30;

std::string text_of(const Job& job) {
  return std::string(name(job.step.deed)) + " from " + std::to_string(job.step.from) + " to " +
         std::to_string(job.step.to) + (job.is_repair ? " (a repair)" : "");
}

using State = Slot::State;

}  // namespace

bool Caller::reads_only_good(const Step& step) const {
  const DeedTraits does = traits(step.deed);
  return (!does.reads_from || slot(step.from).state == State::good) &&
         (!does.in_place || slot(step.to).state == State::good);
}

double Caller::bound_after(const Step& step) const {
  const double number = std::abs(step.value);
  const double product = 9.0 * edge_ * number;
  switch (step.deed) {
    case Deed::axpy: return slot(step.to).bound + number * slot(step.from).bound;
    case Deed::scale: return number * slot(step.to).bound;
    case Deed::gemm:
    case Deed::layer:
    case Deed::einsum: return product;
    case Deed::blend: return slot(step.from).bound + 3 * number;
    case Deed::gemm_add: return slot(step.to).bound + product;
    case Deed::random: return kMostDrawn;
    case Deed::spectrum: return kOfSpectrum;
    case Deed::fill:
    case Deed::renew: return number;
    case Deed::write_host:
    case Deed::write_vector: return 100;
    case Deed::stripes: return std::max(slot(step.from).bound, slot(step.to).bound);
    default: return slot(step.from).bound;
  }
}

void Caller::foresee(const Step& step) {
  const DeedTraits does = traits(step.deed);
  if (!does.writes_to) return;
  const bool only_good = reads_only_good(step);
  Slot& to = own(step.to);
  const std::vector<float>& from = slot(step.from).expected;
  const auto number = static_cast<float>(step.value);
  const std::size_t n = edge_;
  to.bound = bound_after(step);
  const bool starts_afresh = does.whole && !does.in_place;
  const std::uint64_t of_source = does.reads_from ? slot(step.from).past_shortages : past_shortages_;
  to.past_shortages = std::min({past_shortages_, of_source, starts_afresh ? past_shortages_ : to.past_shortages});
  const auto each = [&](auto&& element) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) to.expected[i * n + j] = element(i, j);
  };
  switch (step.deed) {
    case Deed::fill:
    case Deed::renew: std::ranges::fill(to.expected, number); break;
    case Deed::random: std::ranges::copy(scene_.drawn_by(step.value).first(n * n), to.expected.begin()); break;
    case Deed::spectrum: std::ranges::fill(to.expected, kOfSpectrum); break;
    case Deed::transpose: each([&](std::size_t i, std::size_t j) { return from[j * n + i]; }); break;
    case Deed::sort:
      std::ranges::copy(from, to.expected.begin());
      for (auto row = to.expected.begin(); row != to.expected.end(); row += edge_) std::sort(row, row + edge_);
      break;
    case Deed::greatest:
      each([&](std::size_t i, std::size_t j) {
        return *std::max_element(from.begin() + static_cast<std::ptrdiff_t>(i * n),
                                 from.begin() + static_cast<std::ptrdiff_t>(i * n + j + 1));
      });
      break;
    case Deed::solve:
    case Deed::sparse:
    case Deed::gather:
    case Deed::convolve:
    case Deed::reverse: each([&](std::size_t i, std::size_t j) { return from[(n - 1 - i) * n + j]; }); break;
    case Deed::broadcast: each([&](std::size_t, std::size_t j) { return from[j]; }); break;
    case Deed::stripes:
      each([&](std::size_t i, std::size_t j) { return (j % 2 == 1 ? from : to.expected)[i * n + j]; });
      break;
    case Deed::axpy:
      each([&](std::size_t i, std::size_t j) { return to.expected[i * n + j] + number * from[i * n + j]; });
      break;
    case Deed::scale: each([&](std::size_t i, std::size_t j) { return to.expected[i * n + j] * number; }); break;
    case Deed::einsum:
    case Deed::gemm: each([&](std::size_t i, std::size_t j) { return number * shared_.product[i * n + j]; }); break;
    case Deed::layer:
      each([&](std::size_t i, std::size_t j) { return std::max(0.0F, number * shared_.product[i * n + j]); });
      break;
    case Deed::blend:
      each([&](std::size_t i, std::size_t j) { return from[j * n + i] + number * shared_.contents[0][i * n + j]; });
      break;
    case Deed::gemm_add:
      each([&](std::size_t i, std::size_t j) {
        return to.expected[i * n + j] + number * shared_.transposed_product[i * n + j];
      });
      break;
    case Deed::write_host:
    case Deed::write_vector: each([&](std::size_t i, std::size_t j) { return pattern(step.value, i * n + j); }); break;
    default: std::ranges::copy(from, to.expected.begin());
  }
  // What is not waited for may be cut off without our knowing, if it works in place or on what may be cut off.
  to.reads_as_tainted = false;
  if (does.in_place || !only_good)
    to.state = State::doubtful;
  else if (does.whole)
    to.state = State::good;
}

void Caller::answered(const Job& job) {
  ++scene_.ledger.answered;
  if (waits_.fetch_sub(1) != 1) complain(Complaint::reply_doubled, job, "nobody waited");
}

void Caller::remember(const Job& job, const std::string& what) {
  if (history_.size() == kRemembered) history_.pop_front();
  history_.push_back(text_of(job) + " with " + std::to_string(job.step.value) + ": " + what + ", generation " +
                     std::to_string(scene_.device.generation()));
}

void Caller::ended(const Job& job, const Result<void>& result) {
  answered(job);
  remember(job, result ? "ended well" : "ended in " + std::string(name(result.error().kind())));
  if (job.expects_taint) {
    if (result) complain(Complaint::wrong_result, job, "an array that was cut off could be read");
    if (!result && result.error().kind() != ErrorKind::buffer_tainted) explain(job, result.error());
    return;
  }
  if (!result) return explain(job, result.error());
  const DeedTraits does = traits(job.step.deed);
  if (does.writes_to && (does.whole || does.in_place)) {
    own(job.step.to).state = State::good;
    own(job.step.to).past_shortages = past_shortages_;
  }
  check_host_arrays(job);
}

void Caller::check_host_arrays(const Job& job) {
  if (job.step.deed == Deed::read) {
    ++scene_.ledger.arrays_checked;
    const std::string wrong = difference(host_in_.span(), slot(job.step.from).expected);
    if (!wrong.empty()) complain(Complaint::wrong_result, job, wrong);
  } else if (job.step.deed == Deed::sum) {
    double total = 0;
    for (const float number : slot(job.step.from).expected) total += number;
    if (host_total_[0] != total)
      complain(Complaint::wrong_result, job,
               "the sum is " + std::to_string(host_total_[0]) + " and not " + std::to_string(total));
  }
}

void Caller::ended(const Job& job, const Result<HostArray<float>>& result) {
  answered(job);
  remember(job, result ? "read" : "ended in " + std::string(name(result.error().kind())));
  ++scene_.ledger.arrays_checked;
  const Slot& read = job.kept ? *job.kept : slot(job.step.from);
  if (!result)
    explain(job, result.error());
  else if (const std::string wrong = difference(result->span(), read.expected); !wrong.empty())
    complain(Complaint::wrong_result, job, wrong);
  else if (job.step.deed == Deed::keep) {
    Slot aside = read;
    aside.state = State::good;
    if (!renew(own(job.step.from))) return;
    if (kept_.size() < kMaxKept)
      kept_.push_back(std::move(aside));
    else
      kept_[next_kept_++ % kMaxKept] = std::move(aside);
  }
  if (job.kept && final_check_) kept_.pop_back();
}

bool Caller::is_starved(const Error& error) const noexcept {
  return error.kind() == ErrorKind::out_of_memory && scene_.ledger.was_short_since(past_shortages_);
}

bool Caller::read_what_starved(const Job& job, const Error& error) const noexcept {
  const DeedTraits does = traits(job.step.deed);
  const auto was_starved = [&](const Slot& read) { return scene_.ledger.was_short_since(read.past_shortages); };
  if (error.kind() != ErrorKind::buffer_tainted || job.kept) return false;  // what is kept was good once
  const bool reads_own = does.reads_from && job.step.from < kFirstShared;
  return (reads_own && was_starved(slot(job.step.from))) || (does.in_place && was_starved(slot(job.step.to)));
}

void Caller::explain(const Job& job, const Error& error) {
  const DeedTraits does = traits(job.step.deed);
  const ErrorKind kind = error.kind();
  const bool cut_off = does.in_place && scene_.is_end_of_worker(kind);
  const auto complain_of = [&](Complaint complaint) { complain(complaint, job, error.to_string()); };

  if (kind == ErrorKind::timeout) {
    if (job.step.deed != Deed::give_up) complain_of(Complaint::reply_lost);
  } else if (cut_off) {
    ++scene_.ledger.cut_off_in_place;
  } else if (kind == ErrorKind::buffer_tainted && !job.reads_good) {
    ++scene_.ledger.read_what_was_cut_off;
  } else if (is_starved(error)) {
    ++scene_.ledger.starved;
  } else if (read_what_starved(job, error)) {
    ++scene_.ledger.starved;
    if (does.reads_from && job.step.from < kFirstShared) own(job.step.from).state = State::broken;
  } else if (scene_.ledger.excuses_by_scribble(error)) {
    if (does.reads_from && job.step.from < kFirstShared) own(job.step.from).state = State::broken;
  } else if (kind == ErrorKind::worker_crashed || kind == ErrorKind::context_poisoned ||
             kind == ErrorKind::deadline_exceeded) {
    complain_of(Complaint::blamed_wrongly);
  } else if (kind == ErrorKind::buffer_tainted) {
    complain_of(Complaint::array_lost);
  } else {
    complain_of(Complaint::unexplained_error);
  }
  if (job.kept) return;
  // Which of the arrays it was is not known; all that might be are written anew.
  if (does.reads_from && slot(job.step.from).state != State::good) own(job.step.from).state = State::broken;
  if (does.writes_to) {
    own(job.step.to).state = State::broken;
    own(job.step.to).reads_as_tainted = cut_off;
  }
}

void Caller::complain(Complaint complaint, const Job& job, const std::string& details) {
  std::string text = where() + ", " + text_of(job) + ": " + details;
  if (complaint == Complaint::wrong_result)
    for (const std::string& before : history_) text += "\n    before: " + before;
  scene_.ledger.complain(complaint, text);
}

}  // namespace troupe::chaos

// Which op comes next, and how it is made. What must come of it is in caller_judge.cpp.
#include "tests/chaos/caller.hpp"

#include "tests/chaos/deeds.hpp"

namespace troupe::chaos {
namespace {

/// Above this an axpy or a product might need more digits than a float has.
constexpr double kMaxNumber = 4e6;
/// So many callers use big arrays, of so many floats: there is room for that.
constexpr std::uint32_t kBigCallers = 3;
constexpr std::int64_t kBigElements = kBigBytes / 4;
constexpr Duration kHardlyAnyPatience = std::chrono::microseconds(100);

std::span<const std::byte> bytes_of(const float& number) { return std::as_bytes(std::span(&number, 1)); }

/// A view that cannot be made gives an empty array, and then the op is refused.
AnyArray or_empty(Result<AnyArray> array) { return array ? std::move(*array) : AnyArray(); }

AnyArray odd_columns(const AnyArray& array) { return or_empty(array.slice(1, 1, array.shape()[1], 2)); }
AnyArray rows_reversed(const AnyArray& array) { return or_empty(array.slice(0, array.shape()[0] - 1, -1, -1)); }
AnyArray first_row_repeated(const AnyArray& array) {
  const Result<AnyArray> row = array.slice(0, 0, 1);
  return row ? or_empty(row->broadcast(array.shape())) : AnyArray();
}

}  // namespace

Caller::Caller(Scene& scene, std::uint32_t number)
    : scene_(scene), number_(number), edge_(scene.plan.edge(number)), shared_(scene.matrices(edge_)) {
  for (int i = 0; i < kSlots; ++i) slots_.push_back({.array = value(scene_.device.array<float>({edge_, edge_}))});
  slots_.push_back({.array = value(scene_.device.array<std::int32_t>({edge_, edge_}))});
  for (Slot& own : slots_) own.expected.resize(std::size_t{edge_} * edge_);
  for (std::size_t i = 0; i < kShared; ++i)
    slots_.push_back(
        {.array = shared_.arrays[i], .expected = shared_.contents[i], .bound = 3, .state = Slot::State::good});
  host_in_ = value(scene_.device.host_array<float>({edge_, edge_}));
  host_out_ = value(scene_.device.host_array<float>({edge_, edge_}));
  host_total_ = value(scene_.device.host_array<double>({1}));
}

const Slot& Caller::slot(int index) const { return slots_[static_cast<std::size_t>(index)]; }

std::optional<Job> Caller::next() {
  past_shortages_ = scene_.ledger.past_shortages();
  if (!pending_ && scene_.progress.stopping()) return next_check();
  throwaway_ = {};
  if (!pending_) {
    pending_ = scene_.plan.step(number_, step_++);
    ++scene_.ledger.steps;
    scene_.progress.made();
    if (pending_->deed == Deed::renew) renew(own(pending_->to));
  }
  const DeedTraits does = traits(pending_->deed);
  if (does.reads_from && slot(pending_->from).state == Slot::State::broken) return repair(pending_->from);
  if (does.in_place && slot(pending_->to).state == Slot::State::broken) return repair(pending_->to);
  if (does.writes_to && !does.whole && slot(pending_->to).state == Slot::State::broken) return repair(pending_->to);
  return as_job(*std::exchange(pending_, std::nullopt));
}

/// At the end: all that was kept, then all own arrays but the one of integers.
std::optional<Job> Caller::next_check() {
  if (!final_check_) final_check_ = 0;
  if (!kept_.empty()) {
    const Job job{.step = {.deed = Deed::check_kept}, .how = Job::How::read, .kept = &kept_.back()};
    next_kept_ = kept_.size();  // goes when it has been read
    return job;
  }
  while (*final_check_ < kSlots && slot(*final_check_).state == Slot::State::broken) ++*final_check_;
  if (*final_check_ >= kSlots) return std::nullopt;
  return prepared({.step = {.deed = Deed::read, .from = (*final_check_)++}});
}

Job Caller::repair(int index) {
  Slot& broken = own(index);
  if (std::exchange(broken.reads_as_tainted, false) && index < kSlots)
    return {.step = {.deed = Deed::read, .from = index}, .expects_taint = true};
  return prepared({.step = {.deed = Deed::fill, .to = index, .value = index + 1}, .is_repair = true});
}

Job Caller::prepared(Job job) {
  job.reads_good = job.kept || reads_only_good(job.step);
  foresee(job.step);
  return job;
}

Job Caller::as_job(Step step) {
  const bool may_grow = traits(step.deed).in_place || step.deed == Deed::blend;
  if (may_grow && bound_after(step) > kMaxNumber) step.deed = Deed::fill;
  if (step.deed == Deed::solve && !scene_.can_solve) step.deed = Deed::reverse;
  if (step.deed == Deed::check_kept && kept_.empty()) step.deed = Deed::nop;
  if (step.deed == Deed::big && number_ >= kBigCallers) step.deed = Deed::nop;
  Job job{.step = step};
  job.how = step.waits || traits(step.deed).must_wait ? Job::How::wait : Job::How::submit;
  if (step.deed == Deed::read_fresh || step.deed == Deed::keep) job.how = Job::How::read;
  if (step.deed == Deed::check_kept) {
    job.how = Job::How::read;
    job.kept = &kept_[next_kept_++ % kept_.size()];
  }
  if (step.deed == Deed::give_up) job.patience = kHardlyAnyPatience;
  return prepared(job);
}

bool Caller::renew(Slot& renewed) {
  Result<Array<float>> fresh = scene_.device.array<float>({edge_, edge_});
  if (!fresh) {
    if (is_starved(fresh.error()))
      ++scene_.ledger.starved;
    else
      scene_.ledger.complain(Complaint::unexplained_error, "allocating: " + fresh.error().to_string());
    return false;
  }
  renewed.array = std::move(*fresh);
  renewed.state = Slot::State::broken;
  renewed.reads_as_tainted = false;
  return true;
}

void Caller::submit(const Job& job) {
  if (const Result<void> submitted = call(job).submit(); !submitted) explain(job, submitted.error());
}

Call<HostArray<float>> Caller::read_call(const Job& job) {
  const Result<Array<float>> array = (job.kept ? *job.kept : slot(job.step.from)).array.as<float>();
  doing_.store(job.step.deed);
  waits_.fetch_add(1);
  ++scene_.ledger.asked;
  return scene_.device.read(*array);
}

/// A plugin's function, or a kernel that does the same.
Call<void> Caller::call_own_code(const Step& step) const {
  const Device& device = scene_.device;
  const std::optional<Kernels>& kernels = scene_.kernels;
  const AnyArray& from = slot(step.from).array;
  const AnyArray& to = slot(step.to).array;
  const AnyArray& total = host_total_;
  const auto number = static_cast<float>(step.value);
  if (step.deed == Deed::scale)
    return kernels ? kernels->scale(to, number)
                   : device.call_plugin(scene_.plugin, "scale", {updates(to)}, bytes_of(number));
  if (step.deed == Deed::sum)
    return kernels ? kernels->sum(from, total) : device.call_plugin(scene_.plugin, "sum", {reads(from), writes(total)});
  return kernels ? kernels->copy(from, to) : device.call_plugin(scene_.plugin, "copy", {reads(from), writes(to)});
}

/// Rows are channels; the filters are those that put them in reverse order.
Call<void> Caller::convolve(const AnyArray& from, const AnyArray& to) const {
  const std::int64_t edge = from.shape()[0];
  Result<AnyArray> x = from.reshape({1, edge, edge});
  Result<AnyArray> y = to.reshape({1, edge, edge});
  Result<Array<float>> w = shared_.upside_down.reshape({edge, edge, 1});
  if (!x) return fail(std::move(x).error());
  if (!y) return fail(std::move(y).error());
  if (!w) return fail(std::move(w).error());
  return scene_.device.dnn().convolution(*x, *w, *y);
}

Call<void> Caller::call(const Job& job) {
  const Device& device = scene_.device;
  remember(job, job.how == Job::How::wait ? "waited for" : "submitted");
  const AnyArray& from = slot(job.step.from).array;
  const AnyArray& to = slot(job.step.to).array;
  const auto number = static_cast<float>(job.step.value);
  doing_.store(job.step.deed);
  if (job.how == Job::How::wait) {
    waits_.fetch_add(1);
    ++scene_.ledger.asked;
  }
  switch (job.step.deed) {
    case Deed::fill:
    case Deed::renew: return device.fill(to, number);
    case Deed::copy: return device.copy(from, to);
    case Deed::transpose: return device.copy(from.transpose(), to);
    case Deed::stripes: return device.copy(odd_columns(from), odd_columns(to));
    case Deed::reverse: return device.copy(rows_reversed(from), to);
    case Deed::broadcast: return device.copy(first_row_repeated(from), to);
    case Deed::cast_out:
    case Deed::cast_in: return device.cast(from, to);
    case Deed::axpy: return device.blas().axpy(number, from, to);
    case Deed::scale:
    case Deed::plugin_copy:
    case Deed::sum: return call_own_code(job.step);
    case Deed::gemm: return device.blas().gemm(shared_.arrays[0], shared_.arrays[1], to, {.alpha = number});
    case Deed::gemm_add:
      return device.blas().gemm(shared_.arrays[0], shared_.arrays[1].transpose(), to, {.alpha = number, .beta = 1.0});
    case Deed::layer:
      return device.matmul().multiply(shared_.arrays[0], shared_.arrays[1], to,
                                      {.alpha = number, .activation = Activation::relu});
    case Deed::blend: return device.blas().geam(from.transpose(), shared_.arrays[0], to, {.beta = number});
    case Deed::solve: return device.solver().solve(shared_.upside_down, from, to);
    case Deed::sparse: return device.sparse().multiply(shared_.sparse_upside_down, from, to);
    case Deed::einsum:
      return device.tensor().einsum("ij,jk->ik", shared_.arrays[0], shared_.arrays[1], to, {.alpha = number});
    case Deed::random: {
      Generator generator = scene_.generator(job.step.value);
      return device.random().integers(generator, to, kLeastDrawn, kMostDrawn + 1);
    }
    case Deed::sort: return device.primitives().sort(from, to);
    case Deed::greatest: return device.primitives().scan(Combine::max, from, to);
    case Deed::gather: return device.primitives().gather(from, shared_.backwards, to);
    case Deed::convolve: return convolve(from, to);
    case Deed::spectrum: return device.fft().inverse(shared_.spectrum, to, {.axes = {0, 1}, .norm = FftNorm::forward});
    case Deed::write_host:
      for (std::size_t i = 0; i < std::size_t{edge_} * edge_; ++i)
        host_out_[static_cast<std::int64_t>(i)] = pattern(job.step.value, i);
      return device.copy(host_out_, to);
    case Deed::write_vector: return device.write(*to.as<float>(), pattern(job.step.value, edge_));
    case Deed::read: return device.copy(from, host_in_);
    case Deed::give_up:
    case Deed::big: {
      const Shape shape = job.step.deed == Deed::big ? Shape{kBigElements} : from.shape();
      Result<Array<float>> fresh = device.array<float>(shape);
      if (!fresh) return fail(std::move(fresh).error());
      throwaway_ = *fresh;
      return job.step.deed == Deed::big ? device.fill(*fresh, number) : device.copy(from, *fresh);
    }
    case Deed::read_fresh:
    case Deed::keep:
    case Deed::check_kept:
    case Deed::nop: break;
  }
  return device.nop();
}

std::string Caller::where() const {
  return "caller " + std::to_string(number_) + ", step " + std::to_string(step_) + ", " +
         (waits_.load() != 0 ? "waits for " : "after ") + std::string(name(doing_.load()));
}

}  // namespace troupe::chaos

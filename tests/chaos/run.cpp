#include "tests/chaos/run.hpp"

namespace troupe::chaos {

Task<void> CallerActor::on(Run) {
  while (const std::optional<Job> job = caller_->next()) {
    if (job->how == Job::How::submit)
      caller_->submit(*job);
    else if (job->how == Job::How::read)
      caller_->ended(*job, co_await caller_->read_call(*job).wait_at_most(job->patience));
    else
      caller_->ended(*job, co_await caller_->call(*job).wait_at_most(job->patience));
  }
  running_->fetch_sub(1);
}

void run_in_thread(Caller& caller) {
  while (const std::optional<Job> job = caller.next()) {
    if (job->how == Job::How::submit)
      caller.submit(*job);
    else if (job->how == Job::How::read)
      caller.ended(*job, caller.read_call(*job).wait_at_most(job->patience).get());
    else
      caller.ended(*job, caller.call(*job).wait_at_most(job->patience).get());
  }
}

Task<void> CulpritActor::on(Fault fault) {
  Crime crime = culprit_->begin(fault);
  for (bool again = true; again;) again = culprit_->committed(crime, co_await culprit_->call(crime));
  if (crime.array) {
    culprit_->read_after(crime, co_await culprit_->read(crime));
    culprit_->rewritten(crime, co_await culprit_->rewrite(crime));
    culprit_->read_again(crime, co_await culprit_->read(crime));
  }
  if (std::optional<Kept> kept = culprit_->next_kept(crime))
    culprit_->check(crime, *kept, co_await culprit_->read(*kept));
  culprit_->over(crime);
}

void run_in_thread(Culprit& culprit, const Fault& fault) {
  Crime crime = culprit.begin(fault);
  for (bool again = true; again;) again = culprit.committed(crime, culprit.call(crime).get());
  if (crime.array) {
    culprit.read_after(crime, culprit.read(crime).get());
    culprit.rewritten(crime, culprit.rewrite(crime).get());
    culprit.read_again(crime, culprit.read(crime).get());
  }
  if (std::optional<Kept> kept = culprit.next_kept(crime)) culprit.check(crime, *kept, culprit.read(*kept).get());
  culprit.over(crime);
}

}  // namespace troupe::chaos

#include "tests/chaos/trainer.hpp"

#include <algorithm>

namespace troupe::chaos {
namespace {

constexpr std::int64_t kElements = 1000;
constexpr int kStepsBetweenChecks = 16;

}  // namespace

Trainer::Trainer(Scene& scene, std::uint32_t number)
    : scene_(scene), number_(number), count_(made()), doubled_(made()) {}

Versioned<float> Trainer::made() const {
  Versioned<float> both = value(Versioned<float>::make(scene_.device, {kElements}));
  value(scene_.device.fill(both.now(), 0.0f).get());
  return both;
}

bool Trainer::goes_on() const noexcept { return !scene_.progress.stopping() || !was_checked_; }

bool Trainer::checks_next() const noexcept {
  return !was_checked_ && (scene_.progress.stopping() || committed_ % kStepsBetweenChecks == 0);
}

void Trainer::step(Scope& on) {
  past_shortages_ = scene_.ledger.past_shortages();
  was_checked_ = false;
  waits_ = true;
  ++scene_.ledger.asked;
  on.assign(on.next(count_), count_.now() + 1.0f);
  const Array<float> twice = on.eval(2.0f * (count_.now() + 1.0f));
  on.run(scene_.device.copy(twice, on.next(doubled_)));
}

void Trainer::ended(const Result<void>& result) {
  ++scene_.ledger.answered;
  if (!waits_.exchange(false)) scene_.ledger.complain(Complaint::reply_doubled, where() + ": nobody waited");
  if (result) {
    ++committed_;
    ++scene_.ledger.steps_committed;
  } else if (!is_excused(result.error())) {
    scene_.ledger.complain(Complaint::blamed_wrongly, where() + ": " + result.error().to_string());
  }
}

bool Trainer::is_excused(const Error& error) {
  if (error.kind() == ErrorKind::out_of_memory && scene_.ledger.was_short_since(past_shortages_)) {
    ++scene_.ledger.starved;
    return true;
  }
  if (!scene_.ledger.excuses_by_scribble(error)) return false;
  write_anew();  // what counts may be lost, too
  return true;
}

void Trainer::write_anew() {
  const auto number = static_cast<float>(committed_.load());
  for (const Result<void>& submitted : {Result<void>(scene_.device.fill(count_.now(), number).submit()),
                                        Result<void>(scene_.device.fill(doubled_.now(), 2 * number).submit())})
    if (!submitted)
      scene_.ledger.complain(Complaint::unexplained_error, where() + ": " + submitted.error().to_string());
}

Call<HostArray<float>> Trainer::read(const Array<float>& array) {
  past_shortages_ = scene_.ledger.past_shortages();
  return scene_.device.read(array);
}

void Trainer::check(const Result<HostArray<float>>& count, const Result<HostArray<float>>& doubled) {
  was_checked_ = true;
  const auto expected = static_cast<float>(committed_.load());
  check_one("the count", count, expected);
  check_one("its double", doubled, 2 * expected);
}

void Trainer::check_one(const char* what, const Result<HostArray<float>>& found, float expected) {
  const std::string who = where() + ", " + what + ": ";
  if (!found) {
    if (!is_excused(found.error())) scene_.ledger.complain(Complaint::array_lost, who + found.error().to_string());
  } else if (!std::ranges::all_of(*found, [&](float number) { return number == expected; })) {
    scene_.ledger.complain(Complaint::wrong_result,
                           who + "expected " + std::to_string(expected) + " and found " + std::to_string((*found)[0]));
  } else {
    ++scene_.ledger.arrays_checked;
  }
}

std::string Trainer::where() const {
  return "trainer " + std::to_string(number_) + " after " + std::to_string(committed_.load()) + " steps" +
         (waits_ ? ", waiting" : "");
}

Task<void> TrainerActor::on(Run) {
  while (trainer_->goes_on()) {
    if (trainer_->checks_next()) {
      const Result<HostArray<float>> count = co_await trainer_->read(trainer_->count());
      const Result<HostArray<float>> doubled = co_await trainer_->read(trainer_->doubled());
      trainer_->check(count, doubled);
    } else {
      Scope on(trainer_->device());
      trainer_->step(on);
      trainer_->ended(co_await on.commit());
    }
  }
  running_->fetch_sub(1);
}

void run_in_thread(Trainer& trainer) {
  while (trainer.goes_on()) {
    if (trainer.checks_next()) {
      const Result<HostArray<float>> count = trainer.read(trainer.count()).get();
      const Result<HostArray<float>> doubled = trainer.read(trainer.doubled()).get();
      trainer.check(count, doubled);
    } else {
      Scope on(trainer.device());
      trainer.step(on);
      trainer.ended(on.commit().get());
    }
  }
}

}  // namespace troupe::chaos

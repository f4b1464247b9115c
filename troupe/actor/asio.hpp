// Runs actors on a Boost.Asio executor of yours: an `io_context`, a `thread_pool`, a strand. It needs Boost's headers,
// so troupe.hpp does not include it.
//
//   boost::asio::thread_pool threads(2);
//   Dispatcher* on_asio = system.adopt(std::make_unique<AsioDispatcher>(threads.get_executor()));
//   auto counter = system.spawn<Counter>({.dispatcher = on_asio});
//
// The executor must go on running until the `System` is destroyed.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include "troupe/actor/cell.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// A dispatcher whose turns run on a Boost.Asio executor of yours.
class AsioDispatcher final : public Dispatcher {
 public:
  explicit AsioDispatcher(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  void schedule(Runnable& runnable, Scheduling) noexcept override {
    boost::asio::post(executor_, [turn = &runnable] { turn->run(); });
  }

 private:
  boost::asio::any_io_executor executor_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests: one thread takes requests in, and two others work on them; the thread that works on a
 * request also ends it. It shows proftap's C++ objects, flows and async spans, and runs until it is
 * killed:
 *
 *	requests 9999
 *	proftap capture 9999 500 --log_dir logs
 *
 * In the trace an arrow leads from each "take in" to the "work" that it caused, and the lines "request"
 * hold the requests from beginning to end, whichever threads they went through.
 */
#include <proftap/proftap.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace
{

struct request {
	uint64_t number;
	ptap::async_span span; /* ends with the request, in any thread */
};

class queue
{
      public:
	void put(request r)
	{
		std::lock_guard<std::mutex> lock(mutex_);

		requests_.push_back(std::move(r));
		length_ = requests_.size();
		not_empty_.notify_one();
	}
	request take()
	{
		std::unique_lock<std::mutex> lock(mutex_);

		not_empty_.wait(lock, [this] { return !requests_.empty(); });
		request r = std::move(requests_.front());
		requests_.pop_front();
		length_ = requests_.size();
		return r;
	}

      private:
	std::mutex mutex_;
	std::condition_variable not_empty_;
	std::deque<request> requests_;
	ptap::counter length_{"queue"};
};

/* This lives as long as the program, because the workers never end. */
queue &waiting = *new queue;

void sleep_ms(int ms)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

void work(const char *name)
{
	ptap::thread_name(name);
	for (;;) {
		request r = waiting.take();

		PTAP_SPAN_ARGS("work", PTAP_U("number", r.number));
		PTAP_FLOW_IN("job", r.number);
		/* The name is known only at run time. */
		ptap::span kind(("kind " + std::to_string(r.number % 3)).c_str());
		sleep_ms(3);
	}
}

void take_in(uint64_t number)
{
	PTAP_SPAN_ARGS("take in", PTAP_U("number", number));
	request r{number, ptap::async_span("request", number)};

	PTAP_FLOW_OUT("job", number);
	waiting.put(std::move(r));
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc > 2 || (argc == 2 && argv[1][std::strspn(argv[1], "0123456789")])) {
		std::fputs("usage: requests [PORT]   of the profiler; any free one without it\n",
			stderr);
		return 2;
	}
	ptap::server server(static_cast<uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0));

	if (!server) {
		std::fprintf(stderr, "requests: %s\n", ptap_last_error());
		return 1;
	}
	std::printf("requests: port %d\n", server.port());
	std::fflush(stdout);
	ptap::thread_name("front");
	std::thread(work, "worker 1").detach();
	std::thread(work, "worker 2").detach();
	for (uint64_t number = 1;; number++) {
		take_in(number);
		sleep_ms(2);
	}
}

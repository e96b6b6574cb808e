/* SPDX-License-Identifier: Apache-2.0 */
/* Throws through spans, and annotates in destructors of the program and of its threads. */
#include <cstdio>
#include <stdexcept>
#include <thread>

#include <proftap/proftap.hpp>

#include "tests/guest/guest.h"

namespace
{

const int n_rounds = 100;

struct Annotated {
	const char *name;
	explicit Annotated(const char *n) : name(n)
	{
	}
	~Annotated()
	{
		PTAP_SPAN_DYN(name);
	}
	void touch()
	{
	}
};

Annotated at_program_end("static destructor");
thread_local Annotated at_thread_end("thread destructor");

int sink(int depth)
{
	PTAP_SPAN("thrown through");
	if (depth == 0)
		throw std::runtime_error("from below");
	return sink(depth - 1) + 1;
}

int run_round()
{
	PTAP_SPAN("round");
	ptap::span lowest("at level 0", 0);
	try {
		return sink(3);
	} catch (const std::runtime_error &) {
		PTAP_SPAN("caught");
		return 1;
	}
}

void run_thread()
{
	at_thread_end.touch();
	run_round();
}

} // namespace

int main()
{
	int n = 0;

	GUEST_START();
	for (int i = 0; i < n_rounds; i++)
		n += run_round();
	for (int i = 0; i < n_rounds; i++)
		std::thread(run_thread).join();
	std::printf("%d rounds\n", n);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap/proftap.hpp: <proftap/proftap.h> as C++ objects.
 *
 *	ptap::server server(9999);                   stops the server at its end
 *	ptap::span span(file.c_str());               a span with a name made at run time
 *	ptap::async_span request("request", id);     may be moved to another thread and end there
 *	static ptap::counter queue("queue");         queue = length;
 *
 * C++11 and up; nothing throws, and nothing but the headers of proftap is needed. Where a name is a
 * literal the macros (PTAP_SPAN("decode") and the rest) are faster: they copy it once, not each
 * time.
 *
 * Cost while nothing is recorded: one load and a branch. -DPTAP_DISABLE turns all but the server
 * into nothing.
 */
#ifndef PROFTAP_PROFTAP_HPP
#define PROFTAP_PROFTAP_HPP

#include <proftap/proftap.h>

namespace ptap
{

/*
 * A server for this process, from its constructor to its destructor. If one is running already, or
 * none could be started, the object owns none and its destructor does nothing.
 */
class server
{
      public:
	/* 127.0.0.1:|port|, 0: any free one; see ptap_server_start(). */
	explicit server(uint16_t port) noexcept
	    : error_(ptap_server_start(port)), owns_(error_ == 0)
	{
	}
	explicit server(const ptap_server_options &options) noexcept
	    : error_(ptap_server_start_with(&options)), owns_(error_ == 0)
	{
	}
	~server()
	{
		stop();
	}
	server(const server &) = delete;
	server &operator=(const server &) = delete;

	/* True if this object started the server and has not stopped it since. */
	explicit operator bool() const noexcept
	{
		return owns_;
	}
	/* 0, or the enum ptap_error of the failed start; ptap_last_error() has the sentence. */
	int error() const noexcept
	{
		return error_;
	}
	/* The port in use, whoever started the server; 0 when none runs. */
	int port() const noexcept
	{
		return ptap_server_port();
	}
	/* Stops the server before the destructor does; 0 also when there is nothing to stop. */
	int stop() noexcept
	{
		const bool owned = owns_;

		owns_ = false;
		return owned ? ptap_server_stop() : 0;
	}

      private:
	int error_;
	bool owns_;
};

/* See ptap_thread_name(). */
inline void thread_name(const char *name) noexcept
{
	ptap_thread_name(name);
}

#if !defined(PTAP_DISABLE)

/*
 * A span of this thread until its destructor. |name| is any string, copied now. It must be
 * destroyed in the thread that made it, and before the spans around it: otherwise it is not
 * recorded, which is counted. Use async_span in a coroutine, or in an object that another thread
 * destroys.
 */
class span
{
      public:
	explicit span(const char *name, int level = 1) noexcept : token_(ptap_impl_none())
	{
		const uint32_t word = ptap_impl_word();

		if (__builtin_expect(static_cast<int>(word & 3u) >= ptap_impl_at_least_1(level), 0))
			token_ = ptap_impl_begin_dyn(name, word);
	}
	~span()
	{
		ptap_impl_close(&token_);
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;

      private:
	ptap_impl_token token_;
};

/*
 * An async span: from its constructor to its destructor or end(), in whichever thread. Move it to
 * where the work goes on. |name| is not copied: use a literal, or a string that lives as long.
 * |id|: unique among the open ones of that name.
 */
class async_span
{
      public:
	async_span() noexcept : name_(nullptr), id_(0)
	{
	}
	async_span(const char *name, uint64_t id) noexcept : name_(name), id_(id)
	{
		PTAP_ASYNC_BEGIN_DYN(name, id);
	}
	async_span(async_span &&other) noexcept : name_(other.name_), id_(other.id_)
	{
		other.name_ = nullptr;
	}
	async_span &operator=(async_span &&other) noexcept
	{
		if (this != &other) {
			end();
			name_ = other.name_;
			id_ = other.id_;
			other.name_ = nullptr;
		}
		return *this;
	}
	~async_span()
	{
		end();
	}

	/* Ends it now; does nothing if it has ended, or was moved away. */
	void end() noexcept
	{
		if (name_)
			PTAP_ASYNC_END_DYN(name_, id_);
		name_ = nullptr;
	}

      private:
	const char *name_;
	uint64_t id_;
};

/*
 * A counter: assigning a number takes a sample. |name| is copied once, at the first sample of each
 * object: make the object static, or as long-lived as the program, and the name a literal, which
 * must exist until then.
 */
class counter
{
      public:
	explicit constexpr counter(const char *name) noexcept : site_{0, {0}, name}
	{
	}
	counter(const counter &) = delete;
	counter &operator=(const counter &) = delete;

	/* int64 or double, by the value's type. */
	template <typename T> counter &operator=(T value) noexcept
	{
		const uint32_t word = ptap_impl_word();

		if (__builtin_expect((word & 3u) != 0, 0))
			ptap_impl_counter(&site_, word, value);
		return *this;
	}

      private:
	ptap_impl_site site_;
};

#else

class span
{
      public:
	explicit span(const char *, int = 1) noexcept
	{
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;
};

class async_span
{
      public:
	async_span() noexcept
	{
	}
	async_span(const char *, uint64_t) noexcept
	{
	}
	async_span(async_span &&) noexcept
	{
	}
	async_span &operator=(async_span &&) noexcept
	{
		return *this;
	}
	void end() noexcept
	{
	}
};

class counter
{
      public:
	explicit constexpr counter(const char *) noexcept
	{
	}
	counter(const counter &) = delete;
	counter &operator=(const counter &) = delete;
	template <typename T> counter &operator=(T) noexcept
	{
		return *this;
	}
};

#endif

} /* namespace ptap */

#endif

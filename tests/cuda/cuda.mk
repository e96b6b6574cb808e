# SPDX-License-Identifier: Apache-2.0
# The tests of the CUDA collector, with fakes of NVIDIA's libraries. To add one, add a file, a line in cuda_tests, and
# its _SOURCES and _LDADD.
cuda_tests = \
	cuda/test_begin \
	cuda/test_buffers \
	cuda/test_calls \
	cuda/test_contexts \
	cuda/test_counters \
	cuda/test_detach \
	cuda/test_ends \
	cuda/test_fake \
	cuda/test_fork \
	cuda/test_old \
	cuda/test_records \
	cuda/test_search \
	cuda/test_session \
	cuda/test_window

cuda_host = \
	cuda/fake.h \
	cuda/host.c \
	cuda/host.h \
	cuda/libraries.c \
	cuda/libraries.h
cuda_libs = \
	$(top_builddir)/lib/plugins/cuda/libcuda-collector.la \
	$(CHECK_LIBS)

cuda_test_begin_SOURCES = $(cuda_host) cuda/test_begin.c
cuda_test_begin_LDADD = $(cuda_libs)
cuda_test_buffers_SOURCES = $(cuda_host) cuda/test_buffers.c
cuda_test_buffers_LDADD = $(cuda_libs)
cuda_test_calls_SOURCES = $(cuda_host) cuda/test_calls.c
cuda_test_calls_LDADD = $(cuda_libs)
cuda_test_contexts_SOURCES = $(cuda_host) cuda/test_contexts.c
cuda_test_contexts_LDADD = $(cuda_libs)
cuda_test_counters_SOURCES = $(cuda_host) cuda/test_counters.c
cuda_test_counters_LDADD = $(cuda_libs)
cuda_test_detach_SOURCES = $(cuda_host) cuda/test_detach.c
cuda_test_detach_LDADD = $(cuda_libs)
cuda_test_ends_SOURCES = $(cuda_host) cuda/test_ends.c
cuda_test_ends_LDADD = $(cuda_libs)
cuda_test_fake_SOURCES = $(cuda_host) cuda/test_fake.c
cuda_test_fake_LDADD = $(cuda_libs)
cuda_test_fork_SOURCES = $(cuda_host) cuda/test_fork.c
cuda_test_fork_LDADD = $(cuda_libs)
cuda_test_old_SOURCES = $(cuda_host) cuda/test_old.c
cuda_test_old_LDADD = $(cuda_libs)
cuda_test_records_SOURCES = $(cuda_host) cuda/test_records.c
cuda_test_records_LDADD = $(cuda_libs)
cuda_test_search_SOURCES = $(cuda_host) cuda/test_search.c
cuda_test_search_LDADD = $(cuda_libs)
cuda_test_session_SOURCES = $(cuda_host) cuda/test_session.c
cuda_test_session_LDADD = $(cuda_libs)
cuda_test_window_SOURCES = $(cuda_host) cuda/test_window.c
cuda_test_window_LDADD = $(cuda_libs)

# tests/integration/test_cuda.py records this program.
cuda_programs = \
	cuda/program
cuda_program_SOURCES = \
	cuda/fake.h \
	cuda/program.c
cuda_program_LDADD = $(top_builddir)/lib/libproftap.la

# These libraries replace NVIDIA's: the driver's, CUPTI, and an old CUPTI that has only the functions of all versions.
CUDA_COMPILE = $(MKDIR_P) cuda && $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) $(LDFLAGS) -shared -fPIC
cuda_fake_driver = $(srcdir)/cuda/fake_driver.c
cuda_fake_cupti = \
	$(srcdir)/cuda/fake_activity.c \
	$(srcdir)/cuda/fake_buffers.c \
	$(srcdir)/cuda/fake_mapped.c \
	$(srcdir)/cuda/fake_program.c \
	$(srcdir)/cuda/fake_record.c \
	$(srcdir)/cuda/fake_sampling.c \
	$(srcdir)/cuda/fake_state.c \
	$(srcdir)/cuda/fake_subscriber.c
cuda_fake_headers = \
	$(srcdir)/cuda/fake.h \
	$(srcdir)/cuda/fake_inside.h
cuda/fake_libcuda.so: $(cuda_fake_driver) $(cuda_fake_headers)
	$(AM_V_CCLD)$(CUDA_COMPILE) -Wl,-soname,libcuda.so.1 -o $@ $(cuda_fake_driver)
cuda/fake_libcupti.so: $(cuda_fake_cupti) $(cuda_fake_headers)
	$(AM_V_CCLD)$(CUDA_COMPILE) -Wl,-soname,libcupti.so.13 -o $@ $(cuda_fake_cupti)
cuda/fake_libcupti_old.so: $(cuda_fake_cupti) $(cuda_fake_headers)
	$(AM_V_CCLD)$(CUDA_COMPILE) -DFAKE_IS_OLD -Wl,-soname,libcupti.so.11.8 -o $@ $(cuda_fake_cupti)
# An empty library with the name of one of CUPTI's: for the tests it is enough that the file exists.
cuda/libnvperf_host.so: cuda/fake_libcupti.so
	$(AM_V_CCLD)$(CUDA_COMPILE) -Wl,-soname,libnvperf_host.so -o $@ -x c /dev/null
cuda_fakes = \
	cuda/libnvperf_host.so \
	cuda/fake_libcuda.so \
	cuda/fake_libcupti.so \
	cuda/fake_libcupti_old.so
cuda_data = \
	cuda/fake_activity.c \
	cuda/fake_buffers.c \
	cuda/fake_driver.c \
	cuda/fake_inside.h \
	cuda/fake_mapped.c \
	cuda/fake_program.c \
	cuda/fake_record.c \
	cuda/fake_sampling.c \
	cuda/fake_state.c \
	cuda/fake_subscriber.c

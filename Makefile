# SPDX-License-Identifier: Apache-2.0
# The front door of a checkout: bootstraps, configures in build/ and forwards every target there.
# Not distributed: a tarball is configured and built in place.
B = build
CONFIGURE_FLAGS ?=
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
FORWARD = $(MAKE) --no-print-directory $(JOBS) -C $(B)

# A new test is a new file: automake and configure follow when the list of them changes.
$(shell tests/lists)

.PHONY: all bench bench-large bench-peers check check-aarch64 check-asan check-format check-tsan clean demo fuzz
.PHONY: interop interop-large nightly
.NOTPARALLEL:

all: $(B)/config.status
	+@$(FORWARD) all

# A target that somebody runs installs what it needs; plain `make` only says what is missing.
demo: PACKAGES = build
check: PACKAGES = build check
bench bench-large: PACKAGES = build check bench
bench-peers: PACKAGES = build check bench peers
interop interop-large: PACKAGES = build check interop
nightly: PACKAGES = build check nightly

demo bench bench-large bench-peers interop interop-large nightly: install-packages $(B)/config.status
	+@$(FORWARD) $@

check: install-packages $(B)/config.status
	@find $(B)/tests -name '*.trs' -delete
	+@failed=0; $(FORWARD) check || failed=1; tests/tally $(B)/tests || failed=1; exit $$failed

check-asan:
	@$(MAKE) check B=build-asan CONFIGURE_FLAGS='$(CONFIGURE_FLAGS) --enable-sanitizers=address'

check-tsan:
	@$(MAKE) check B=build-tsan CONFIGURE_FLAGS='$(CONFIGURE_FLAGS) --enable-sanitizers=thread'

# The library and the tests of its ring for another processor, emulated; in build-aarch64.
check-aarch64: PACKAGES = aarch64
check-aarch64: install-packages
	@mkdir -p build-aarch64
	@$(MAKE) --no-print-directory $(JOBS) -C build-aarch64 -f ../tests/aarch64/Makefile check

# Each decoder for FUZZ_SECONDS; what is found lies in build-fuzz/tests/fuzz/found. libFuzzer comes with clang.
fuzz: PACKAGES = build fuzz
fuzz: install-packages
	@$(MAKE) --no-print-directory B=build-fuzz CC=clang-14 \
		CONFIGURE_FLAGS='$(CONFIGURE_FLAGS) --enable-sanitizers=fuzzer' run-fuzz

check-format: PACKAGES = format
check-format: install-packages
	@git ls-files -co --exclude-standard '*.c' '*.cc' '*.h' '*.hpp' | xargs clang-format --dry-run -Werror

.PHONY: install-packages
install-packages:
	@./packages install $(PACKAGES)

# Nothing is built unless all of it can be. The time stamp of configure is renewed by an installation.
$(B)/config.status: configure
	@./packages missing build
	@mkdir -p $(B)
	cd $(B) && ../configure $(CONFIGURE_FLAGS)

configure: configure.ac
	@./packages missing build
	autoreconf --install

clean:
	+@test ! -e $(B)/Makefile || $(FORWARD) clean

# make would otherwise look for a way to remake these.
Makefile configure.ac: ;

.DEFAULT:
	@$(MAKE) --no-print-directory $(B)/config.status
	+@$(FORWARD) $@

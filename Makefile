# SPDX-License-Identifier: Apache-2.0
# The Makefile of a checkout: it bootstraps, configures in build/ and forwards every target there.
# A tarball does not contain it; a tarball is configured and built in place.
B = build
CONFIGURE_FLAGS ?=
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
FORWARD = $(MAKE) --no-print-directory $(JOBS) -C $(B)

# tests/lists writes the list of the tests' files. automake and configure run again when it changes, so a new file is
# all that a new test needs.
$(shell tests/lists)

.PHONY: all bench bench-large bench-peers check check-aarch64 check-asan check-deb check-distro check-format check-image
.PHONY: check-rpm check-tsan clean deb demo fuzz image interop interop-large nightly rpm
.NOTPARALLEL:

all: $(B)/config.status
	+@$(FORWARD) all

# The stages of ./packages that a target needs. They are installed first; plain `make` only names missing packages.
stages.bench = build check bench
stages.bench-large = build check bench
stages.bench-peers = build check bench peers
stages.check = build check
stages.check-aarch64 = aarch64
stages.check-deb = build check-deb dist
stages.check-distro = distro
stages.check-format = format
stages.check-image = build dist image
stages.check-rpm = build dist rpm
stages.deb = build deb dist
stages.demo = build
stages.fuzz = build fuzz
stages.image = build dist image
stages.interop = build check interop
stages.interop-large = build check interop
stages.nightly = build check nightly
stages.rpm = build dist rpm

demo bench bench-large bench-peers interop interop-large nightly: install-packages $(B)/config.status
	+@$(FORWARD) $@

deb check-deb image check-image rpm check-rpm: install-packages $(B)/config.status
	+@$(FORWARD) $@

check: install-packages $(B)/config.status
	@find $(B)/tests -name '*.trs' -delete
	+@failed=0; $(FORWARD) check || failed=1; tests/tally $(B)/tests || failed=1; exit $$failed

check-asan:
	@$(MAKE) check B=build-asan CONFIGURE_FLAGS='$(CONFIGURE_FLAGS) --enable-sanitizers=address'

check-tsan:
	@$(MAKE) check B=build-tsan CONFIGURE_FLAGS='$(CONFIGURE_FLAGS) --enable-sanitizers=thread'

# Builds the library and the tests of its ring for aarch64 in build-aarch64, and runs them under an emulator.
check-aarch64: install-packages
	@mkdir -p build-aarch64
	@$(MAKE) --no-print-directory $(JOBS) -C build-aarch64 -f ../tests/aarch64/Makefile check

# Runs `make demo` in a bare Debian of another release, which it keeps in /var/cache/proftap.
check-distro: install-packages
	@tests/distro

# Fuzzes each decoder for FUZZ_SECONDS. build-fuzz/tests/fuzz/found holds the inputs that broke one. libFuzzer comes
# with clang.
fuzz: install-packages
	@$(MAKE) --no-print-directory B=build-fuzz CC=clang \
		CONFIGURE_FLAGS='$(CONFIGURE_FLAGS) --enable-sanitizers=fuzzer' run-fuzz

check-format: install-packages
	@git ls-files -co --exclude-standard '*.c' '*.cc' '*.h' '*.hpp' | xargs clang-format --dry-run -Werror

.PHONY: install-packages
install-packages:
	@./packages install $(sort $(foreach goal,$(MAKECMDGOALS),$(stages.$(goal))))

# A missing package stops the build before it begins. `./packages install` renews the time stamp of configure, so
# configure runs again.
$(B)/config.status: configure
	@./packages missing build
	@mkdir -p $(B)
	cd $(B) && ../configure $(CONFIGURE_FLAGS)

configure: configure.ac
	@./packages missing build
	autoreconf --install

clean:
	+@test ! -e $(B)/Makefile || $(FORWARD) clean

# Without this rule make would search for an implicit rule that remakes these files.
Makefile configure.ac: ;

.DEFAULT:
	@$(MAKE) --no-print-directory $(B)/config.status
	+@$(FORWARD) $@

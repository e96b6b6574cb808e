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

# A target with PACKAGES first installs the packages of these stages; plain `make` only names missing packages.
demo: PACKAGES = build
check: PACKAGES = build check
bench bench-large: PACKAGES = build check bench
bench-peers: PACKAGES = build check bench peers
interop interop-large: PACKAGES = build check interop
nightly: PACKAGES = build check nightly
deb: PACKAGES = build deb
check-deb: PACKAGES = build check-deb
rpm check-rpm: PACKAGES = build rpm
image check-image: PACKAGES = build image

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
check-aarch64: PACKAGES = aarch64
check-aarch64: install-packages
	@mkdir -p build-aarch64
	@$(MAKE) --no-print-directory $(JOBS) -C build-aarch64 -f ../tests/aarch64/Makefile check

# Runs `make demo` in a bare Debian of another release, which it keeps in /var/cache/proftap.
check-distro: PACKAGES = distro
check-distro: install-packages
	@tests/distro

# Fuzzes each decoder for FUZZ_SECONDS. build-fuzz/tests/fuzz/found holds the inputs that broke one. libFuzzer comes
# with clang.
fuzz: PACKAGES = build fuzz
fuzz: install-packages
	@$(MAKE) --no-print-directory B=build-fuzz CC=clang \
		CONFIGURE_FLAGS='$(CONFIGURE_FLAGS) --enable-sanitizers=fuzzer' run-fuzz

check-format: PACKAGES = format
check-format: install-packages
	@git ls-files -co --exclude-standard '*.c' '*.cc' '*.h' '*.hpp' | xargs clang-format --dry-run -Werror

.PHONY: install-packages
install-packages:
	@./packages install $(PACKAGES)

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

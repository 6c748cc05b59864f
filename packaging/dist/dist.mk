# SPDX-License-Identifier: GPL-3.0-or-later
# An archive of programs for any Linux: packaging/dist/archive.
DIST_ARCH ?= x86_64
DIST_FILE  = build/smtune-$(VERSION)-linux-$(DIST_ARCH).tar.xz
WHEEL_FILE = build/smtune-$(VERSION)-py3-none-manylinux_2_28_$(DIST_ARCH).whl
archive    = MAKE='$(MAKE)' PYTHON='$(PYTHON)' packaging/dist/archive $(DIST_ARCH) $(VERSION)
wheel      = $(PYTHON) packaging/dist/wheel $(DIST_FILE) $(WHEEL_FILE)

dist-bin: deps-dist ## build/smtune-VERSION-linux-ARCH.tar.xz, which runs without installation (DIST_ARCH=aarch64)
	@$(archive)
wheel: dist-bin ## build/smtune-VERSION-py3-none-manylinux_2_28_ARCH.whl: those programs and the Python package
	@$(wheel)
# tests/dist says what is done there.
check-dist: ## make archive and wheel, and use them in releases of Debian (DEBIAN=one)
	@( packaging/deps install apt $(DIST_DEPS) || exit 77 ) && $(archive) && $(wheel) && \
	 PYTHON='$(PYTHON)' tests/contain tests/dist $(DIST_FILE) $(WHEEL_FILE) $(or $(DEBIAN),bullseye bookworm trixie sid) || { \
	 [ $$? = 77 ] && echo "THE ARCHIVE IS NOT TESTED HERE"; exit; }
# tests/kernel says what is done there.
check-kernel: ## use the archive with old kernels in qemu, and with its store on NFS (DEBIAN=one)
	@( packaging/deps install apt $(DIST_DEPS) || exit 77 ) && $(archive) && \
	 tests/contain tests/kernel $(DIST_FILE) $(or $(DEBIAN),buster bullseye trixie) || { \
	 [ $$? = 77 ] && echo "NO KERNEL IS TESTED HERE"; exit; }

# tests/arm says what is done there.
check-arm: DIST_ARCH = aarch64
check-arm: $(PROGS:%=$(BUILD)/%) ## make archive and wheel for aarch64, run them and the unit tests with qemu
	@( packaging/deps install apt $(DIST_DEPS) $(ARM_DEPS) || exit 77 ) && $(archive) && $(wheel) && \
	 MAKE='$(MAKE)' PYTHON='$(PYTHON)' tests/contain tests/arm $(DIST_FILE) $(WHEEL_FILE) $(BUILD) || { \
	 [ $$? = 77 ] && echo "NOTHING IS TESTED FOR AARCH64 HERE"; exit; }

check-portable: ## all that runs the programs elsewhere: check-oldest, check-dist, check-kernel, check-arm
	@for goal in check-oldest check-dist check-kernel check-arm; do \
	 $(MAKE) --no-print-directory $$goal || exit; done

.PHONY: dist-bin wheel check-dist check-arm check-kernel check-portable

# SPDX-License-Identifier: GPL-3.0-or-later
# The packages that smtune needs, and their installation. packaging/packages has
# those to build and run, for each package manager; tests want Debian.
DEPS = $(shell packaging/deps list apt)
# To test as well.
TEST_DEPS := g++ clang libclang-rt-dev clang-format clang-tidy cppcheck \
        universal-ctags gcovr mandoc shellcheck sqlite3 openssl debootstrap \
        git zsh fish libcmocka-dev python3 python3-pytest python3-pytest-timeout \
        python3-pytest-xdist python3-pytest-rerunfailures python3-yaml \
        python3-jsonschema python3-selenium python3-torch python3-pandas \
        python3-pip python3-setuptools python3-wheel mypy curl dpkg-dev environment-modules \
        chromium chromium-driver nginx locales
# For a cluster below a directory (tests/slurm/lab). If apt lacks one of them,
# the tests on a cluster are skipped.
SLURM_DEPS := slurmctld slurmd slurm-client munge slurmdbd slurmrestd \
        slurm-wlm-mysql-plugin slurm-wlm-jwt-plugin mariadb-server-core \
        mariadb-client-core curl
# For an archive of programs (packaging/dist); autoconf and tcl make what some
# source packages lack.
DIST_DEPS := autoconf automake binutils curl dpkg-dev gcc libc6-dev libtool m4 \
        make pkg-config python3-pip python3-setuptools python3-wheel tcl xz-utils
# To run what is built for aarch64 (tests/arm).
ARM_DEPS := qemu-user-static libc6-arm64-cross
# For a package of Debian (packaging/debian).
DEB_DEPS := build-essential debhelper
# For tests in another release of Debian (tests/debian).
DEBIAN_DEPS = make $(DEPS) $(SLURM_DEPS) $(filter-out clang% libclang% cppcheck \
        universal-ctags gcovr shellcheck chromium% %selenium %torch %pandas %pip %setuptools \
        %wheel mypy debootstrap environment-modules,$(TEST_DEPS)) lmod \
        $(if $(filter sid,$(DEBIAN)),apptainer busybox-static)

deps: ## install what building needs (DRY=1: print how; WITH=apt|dnf|zypper|apk|pacman|conda)
	@packaging/deps install $(WITH) $(if $(DRY),-n)
deps-test: ## install through apt what building and testing need
	@packaging/deps install apt $(DEPS) $(TEST_DEPS)
	-@packaging/deps install apt $(SLURM_DEPS)
deps-dist: ## install through apt what dist-bin needs
	@packaging/deps install apt $(DIST_DEPS)

.PHONY: deps deps-test deps-dist

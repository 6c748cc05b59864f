# SPDX-License-Identifier: GPL-3.0-or-later
# Packages for the system of this machine, from the sources: packaging/pack.
SOURCES = $(BUILD)/smtune-$(VERSION).tar.gz

deb: dist ## build/smtune_VERSION-1_ARCH.deb, for this release of Debian or Ubuntu
	@packaging/deps install apt $(DEPS) $(DEB_DEPS)
	@packaging/pack deb $(SOURCES)
rpm: dist ## build/smtune-VERSION-1.ARCH.rpm, for this release of Fedora, RHEL or openSUSE
	@command -v rpmbuild >/dev/null || packaging/deps install apt $(DEPS) rpm
	@packaging/pack rpm $(SOURCES)
# tests/packages says what is done there.
check-packages: ## build both and install them in releases of Debian (DEBIAN=one); on trixie the image of Docker too
	@MAKE='$(MAKE)' tests/contain tests/packages $(VERSION) $(or $(DEBIAN),bookworm trixie) || { \
	 [ $$? = 77 ] && echo "NOT ALL PACKAGES ARE TESTED HERE"; exit; }

.PHONY: deb rpm check-packages

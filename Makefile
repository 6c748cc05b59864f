# SPDX-License-Identifier: GPL-3.0-or-later
# smtune: build, manual pages, installation. `make help` lists all targets.
# Everything is built below build/; the same with sanitizers, which the tests
# use, below build/san/. Other parts have a makefile in their folder: see
# `include` below.

VERSION    := 0.1.0
PREFIX     ?= /usr/local
bindir     ?= $(PREFIX)/bin
datadir    ?= $(PREFIX)/share
mandir     ?= $(datadir)/man
docdir     ?= $(datadir)/doc/smtune
PKG_CONFIG ?= pkg-config
PYTHON     ?= /usr/bin/python3
ifeq ($(origin CC),default)
CC := gcc
endif

PKGS  := libuv yaml-0.1 sqlite3 gsl jansson libpcre2-8 zlib nettle libmicrohttpd
WARN  := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wformat=2 \
         -Wwrite-strings -Wcast-qual -Wpointer-arith -Wstrict-prototypes \
         -Wmissing-prototypes -Wold-style-definition -Wimplicit-fallthrough \
         -Wswitch-enum -Wnull-dereference -Wdouble-promotion \
         $(if $(WERROR),-Werror) \
         $(if $(findstring clang,$(CC)),-Wno-unknown-warning-option -Wno-double-promotion \
         -Wno-format-nonliteral -Wno-string-concatenation \
         -Wno-missing-field-initializers)
# -g1 is what a backtrace needs, in a third less time; a debugger wants -g.
CFLAGS ?= -O2 -g1 -D_FORTIFY_SOURCE=2
# Fedora and openSUSE have cblas.h there.
HEADERS := $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null) \
         $(if $(wildcard /usr/include/openblas/cblas.h),-idirafter /usr/include/openblas)
BASE_FLAGS := -std=gnu17 -D_GNU_SOURCE -DSMTUNE_VERSION='"$(VERSION)"' -I. \
         $(WARN) -fno-common -fstack-protector-strong $(strip $(HEADERS))
SANITIZERS := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \
         -fno-sanitize-recover=undefined
# OpenBLAS comes first: only a program that calls it itself is linked with it,
# because its threads spin for a while at every start.
LIBS  := -Wl,--as-needed -lopenblas \
         $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lm -lpthread

# All sources but those with a main() are one library. A program is its main
# file and what it needs of the library.
BUILD     := build
SANITIZED := build/san
FOLDERS := base store strategies workflows executors orchestrator dashboard \
         cli training
SHIM    := executors/shim/main
SCHEMA  := store/schema/schema
MAINS := $(wildcard cli/main.c $(SHIM).c training/main.c)
SRC   := $(filter-out $(MAINS) training/mpi/%, \
         $(wildcard $(FOLDERS:%=%/*.c) $(FOLDERS:%=%/*/*.c) $(FOLDERS:%=%/*/*/*.c)))
PROGS := $(if $(filter cli/%,$(MAINS)),smtune) \
         $(if $(filter executors/%,$(MAINS)),smtune-shim) \
         $(if $(filter training/%,$(MAINS)),smtrain)
MAN   := $(addprefix $(BUILD)/man/,$(notdir $(basename $(wildcard man/*.in)) \
         $(wildcard man/*.[0-9])))
SHELLS := bash zsh fish
COMPLETIONS := $(if $(filter smtune,$(PROGS)),$(SHELLS:%=$(BUILD)/completions/%))

# `  CC base/err.o`, or the command itself with V=1.
quiet := $(if $(V),,@)
show   = $(if $(V),@:,@printf '  %-4s %s\n' $1 $(@:build/%=%))
comma := ,

.DEFAULT_GOAL := all
# Goals that compile nothing, themselves.
IDLE := check check-all check-quick clean compile-flags deps deps-dist deps-test \
        dist format help uninstall web-test
include packages.mk dashboard/dashboard.mk training/training.mk \
 packaging/dist/dist.mk packaging/packaging.mk tests/bench/bench.mk tests/cuda/cuda.mk tests/tests.mk

all: ## build programs and manual pages
all: $(BUILD)/probe/shown $(BUILD)/libsmtune.a $(PROGS:%=$(BUILD)/%) \
 $(PLUGINS:%=$(BUILD)/%) $(MAN) $(COMPLETIONS)

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.* ## /\1\t/p' \
	 $(filter-out %.d,$(MAKEFILE_LIST)) | \
	 awk -F '\t' '{ printf "  make %-16s %s\n", $$1, $$2 }'
	@echo
	@echo 'Variables: V=1 (show commands) CC=clang WERROR=1 CFLAGS LDFLAGS'
	@echo '  PREFIX DESTDIR; T=name (one file of tests)'
	@echo '  CUDA=yes|no MPI=yes|no (insist, skip) NVCC MPICC CUDA_ARCHES'
	@echo '  DIST_ARCH=aarch64 DIST_CACHE DIST_MIRRORS (dist-bin)'
	@echo '  FUZZ_SECONDS=n FUZZ_INPUTS=n (for each fuzz target) PYTHON PKG_CONFIG'
	@echo '  SET=tune|report METHODS=a,b SEEDS=n PEERS=tpe,gp PICTURE=f.svg (bench-regret)'

quickstart: deps ## install what is missing, build, tune a real model
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc)) \
	 CUDA=no MPI=no $(PROGS:%=$(BUILD)/%)
	$(BUILD)/smtune run examples/quickstart.yaml
	@echo; echo 'The best model on the test set, which was not used until now:'
	$(BUILD)/smtrain mlp --test \
	 --checkpoint-dir "$$($(BUILD)/smtune best last --checkpoints)"

# Programs ----------------------------------------------------------------

$(BUILD)/%: FLAGS = $(CFLAGS)
# gcc makes no vector code of a choice between two numbers that could trap. And
# it copies the code behind a limit (fast_exp) for those at the limit: the loop
# then divides each number again for every copy. Last bits change with the first
# flag where a processor multiplies and adds at once (AVX-512), nowhere else.
VECTORIZED := -O3 -fno-math-errno -fno-trapping-math
UNCOPIED   := $(if $(findstring clang,$(CC)),,-fno-thread-jumps)
$(BUILD)/strategies/%: FLAGS = $(CFLAGS) $(VECTORIZED)
$(BUILD)/training/%: FLAGS = $(CFLAGS) $(VECTORIZED) $(UNCOPIED)
$(SANITIZED)/%: FLAGS = $(SANITIZERS)
# Sanitizers describe each global in a table of pointers: megabytes that a
# program would have to relocate at each start.
$(SANITIZED)/%: NO_PIE = -no-pie

define compile
$(call show,CC)
@mkdir -p $(@D)
$(quiet)$(CC) $(BASE_FLAGS) $(FLAGS) -MMD -MP -c -o $@ $<
endef
$(BUILD)/%.o: %.c $(BUILD)/flags
	$(compile)
$(SANITIZED)/%.o: %.c $(SANITIZED)/flags
	$(compile)

# Changes when the compiler or its flags do, so that objects are made anew.
$(BUILD)/flags $(SANITIZED)/flags: FORCE
	@{ [ -e $@ ] && $(PKG_CONFIG) --exists $(PKGS); } 2>/dev/null || \
	 CC='$(CC)' PKG_CONFIG='$(PKG_CONFIG)' \
	 CFLAGS='$(subst ','\'',$(HEADERS) $(CFLAGS))' packaging/deps missing
	@mkdir -p $(@D)
	@f='$(subst ','\'',$(CC) $(BASE_FLAGS) $(FLAGS) $(VECTORIZED) $(UNCOPIED))'; \
	 echo "$$f" | cmp -s - $@ || echo "$$f" >$@

# Written again only where the date is another one.
%/cli/source_date.c: FORCE
	@mkdir -p $(@D)
	@printf '#include "cli/source_date.h"\nconst int64_t source_date_s = %s;\n' \
	 "$$(packaging/source-date)" >$@.tmp
	@if cmp -s $@.tmp $@; then rm $@.tmp; else mv $@.tmp $@; fi
%/cli/source_date.o: %/cli/source_date.c %/flags
	$(compile)

# The schema's SQL becomes a part of the program.
$(BUILD)/$(SCHEMA).o $(SANITIZED)/$(SCHEMA).o: $(wildcard $(SCHEMA)*.sql)

$(BUILD)/libsmtune.a: $(SRC:%.c=$(BUILD)/%.o) $(BUILD)/dashboard/page_files.o
$(SANITIZED)/libsmtune.a: $(SRC:%.c=$(SANITIZED)/%.o) $(SANITIZED)/dashboard/page_files.o
%/libsmtune.a:
	$(call show,AR)
	$(quiet)rm -f $@ && $(AR) qcs $@ $^

define link
$(call show,LD)
@mkdir -p $(@D)
$(quiet)$(CC) $(FLAGS) $(NO_PIE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS) $(EXTRA_LIBS)
endef
$(BUILD)/smtune $(SANITIZED)/smtune: %/smtune: %/cli/main.o \
 %/cli/source_date.o %/libsmtune.a
	$(link)
$(BUILD)/smtune-shim $(SANITIZED)/smtune-shim: %/smtune-shim: %/$(SHIM).o %/libsmtune.a
	$(link)
$(BUILD)/smtrain $(SANITIZED)/smtrain: %/smtrain: %/training/main.o %/libsmtune.a
	$(link)

# Manual pages and completions come from the program's own tables. SELF prints
# them: where it is built for another machine, one that runs here.
SELF ?= $(BUILD)/smtune
$(BUILD)/man/%: man/%
	@mkdir -p $(@D)
	$(quiet)cp $< $@
$(BUILD)/man/smtune.1: man/smtune.1.in $(BUILD)/smtune
	$(call fill,@COMMANDS@,help --man)
$(BUILD)/man/smtune-experiment.5: man/smtune-experiment.5.in $(BUILD)/smtune
	$(call fill,@KEYS@,schema --man)
$(BUILD)/man/smtune-workflow.5: man/smtune-workflow.5.in $(BUILD)/smtune
	$(call fill,@KEYS@,schema workflow --man)
$(BUILD)/man/smtune-config.5: man/smtune-config.5.in $(BUILD)/smtune
	$(call fill,@KEYS@,schema config --man)
define fill
$(call show,MAN)
@mkdir -p $(@D)
$(quiet)$(SELF) $2 >$@.part
$(quiet)sed -e '/^$1$$/{r $@.part' -e 'd}' -e 's/@VERSION@/$(VERSION)/' $< >$@.tmp
$(quiet)rm $@.part && mv $@.tmp $@
endef
$(BUILD)/completions/%: $(BUILD)/smtune
	@mkdir -p $(@D)
	$(quiet)$(SELF) completion $* >$@.tmp && mv $@.tmp $@

# Installation ------------------------------------------------------------

man_at   = $(DESTDIR)$(mandir)/man$(subst .,,$(suffix $1))/$(notdir $1)
bash_at := bash-completion/completions/smtune
zsh_at  := zsh/site-functions/_smtune
fish_at := fish/vendor_completions.d/smtune.fish
# The file looks for bin/ where its share/ is.
module_at := modulefiles/smtune/$(VERSION)

install: all ## to PREFIX (DESTDIR for packagers)
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(docdir)/examples \
	 $(DESTDIR)$(docdir)/dashboard $(DESTDIR)$(docdir)/decisions
	install $(PROGS:%=$(BUILD)/%) $(PLUGINS:%=$(BUILD)/%) $(DESTDIR)$(bindir)
	install -m 644 README.md CHANGES.md LICENSE $(WEB)/LICENSES \
	 $(wildcard docs/*.md docs/*.svg) $(DESTDIR)$(docdir)
	install -m 644 $(wildcard docs/dashboard/*) $(DESTDIR)$(docdir)/dashboard
	install -m 644 $(wildcard docs/decisions/*) $(DESTDIR)$(docdir)/decisions
	$(if $(wildcard examples/*),cp -r examples/. $(DESTDIR)$(docdir)/examples)
	$(foreach page,$(MAN),install -D -m 644 $(page) $(call man_at,$(page));)
	$(foreach shell,$(COMPLETIONS),install -D -m 644 $(shell) \
	 $(DESTDIR)$(datadir)/$($(notdir $(shell))_at);)
	$(if $(filter $(PREFIX)/bin:$(PREFIX)/share,$(bindir):$(datadir)),install -D -m 644 \
	 packaging/modulefile $(DESTDIR)$(datadir)/$(module_at))
uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR)$(bindir)/,$(PROGS) smtrain-mpi.so smtrain-cuda.so) \
	 $(foreach page,$(MAN),$(call man_at,$(page))) \
	 $(foreach shell,$(SHELLS),$(DESTDIR)$(datadir)/$($(shell)_at)) \
	 $(DESTDIR)$(datadir)/$(module_at)
	rm -rf $(DESTDIR)$(docdir)

dist: ## build/smtune-VERSION.tar.gz: the sources of the last commit
	@mkdir -p $(BUILD)
	git archive --prefix=smtune-$(VERSION)/ -o $(BUILD)/smtune-$(VERSION).tar.gz HEAD
clean: ## remove build/
	rm -rf build

FORCE:
# Reading what a thousand objects depend on takes a second.
ifneq ($(filter-out $(IDLE),$(or $(MAKECMDGOALS),all)),)
-include $(shell find $(BUILD) \( -path $(BUILD)/dist -o -path '$(BUILD)/*/deb' \
 -o -path '$(BUILD)/*/rpm' \) -prune -o -type f -name '*.d' -print 2>/dev/null)
endif
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help quickstart web web-test deps install uninstall dist clean FORCE

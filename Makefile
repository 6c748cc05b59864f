# smtune: `make help` lists what there is to do.

CC       ?= gcc
PKGS     := libuv yaml-0.1 sqlite3 gsl jansson libpcre2-8
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wformat=2 \
            -Wwrite-strings -Wcast-qual -Wpointer-arith -Wstrict-prototypes \
            -Wmissing-prototypes -Wold-style-definition \
            -Wimplicit-fallthrough -Wswitch-enum -Wnull-dereference \
            -Wdouble-promotion
CFLAGS   ?= -O2 -g
ALL_CFLAGS := -std=gnu17 -D_GNU_SOURCE -I. $(WARN) -fno-common \
            -fstack-protector-strong $(shell pkg-config --cflags $(PKGS)) \
            $(CFLAGS)
LIBS     := $(shell pkg-config --libs $(PKGS) | sed 's/-lgslcblas//') \
            -lopenblas -lm -lpthread

B        := build
LIB_SRC  := $(wildcard base/*.c strategies/*.c workflows/*.c store/*.c \
            orchestrator/*.c) $(filter-out executors/shim%,$(wildcard executors/*.c))
CLI_SRC  := $(wildcard cli/*.c)
LIB_OBJ  := $(LIB_SRC:%.c=$B/%.o)

all: $B/libsmtune.a

$B/libsmtune.a: $(LIB_OBJ)
	$(AR) rcs $@ $^

$B/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

-include $(LIB_OBJ:.o=.d)
.PHONY: all

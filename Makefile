# DTrace for Linux
#
#   make          build/dtrace and build/libdtrace.so, usable in place
#   make test     all tests
#   make SAN=1    the same with AddressSanitizer and UBSan, in build-san/
BUILD   ?= $(if $(SAN),build-san,build)
CC      ?= gcc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CPPFLAGS += -Isrc -Iinclude -D_GNU_SOURCE
SANFLAGS := $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
, := ,
PKGS    := libbpf
LDLIBS  += $(shell pkg-config --libs $(PKGS)) -lm

SRC := $(wildcard src/*/*.c) $(wildcard src/*/*/*.c)
OBJ := $(SRC:%.c=$(BUILD)/%.o)

all: $(BUILD)/dtrace

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SANFLAGS) $(WARN) -std=gnu11 -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(BUILD)/libdtrace.a: $(OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/libdtrace.so: $(OBJ)
	$(CC) -shared $(CFLAGS) $(SANFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/dtrace: $(BUILD)/cmd/dtrace.o $(BUILD)/libdtrace.so
	$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $< -L$(BUILD) -ldtrace -Wl,-rpath,'$$ORIGIN'

clean:
	rm -rf build build-san

-include $(OBJ:.o=.d)
.PHONY: all clean test

# DTrace for Linux
#
#   make             build/dtrace, build/dwatch, build/dtraced and build/libdtrace.so, usable in place
#   make test        all tests; test/run NAME... runs some
#   make test-san    the same under AddressSanitizer and UBSan, in build-san/
#   make test-kernels  the kernel engine on Linux 6.1 and 6.12, in virtual machines (6 minutes)
#   make fuzz        libFuzzer programs in build/fuzz/ (needs clang)
#   make fuzz-run    run each of them for FUZZTIME seconds
#   make bench       speed and memory of the compiler and of the formats about stacks
#   make static      build/static/dtrace, one file for any Linux 6.1 or newer
#   make deb         Debian packages in build/deb
#   make dist        a tar file of the sources
#   make install     PREFIX=/usr/local, DESTDIR
#   make ARCH=aarch64  for another CPU, with Debian's cross compiler, in build-aarch64/; SYSROOT=DIR: with the libraries of that
#                    root file system (test/guests/arm64-root makes one), else with packages of that architecture (libelf-dev:arm64)
#   make format      clang-format over our sources; headers and the tables of providers are laid out by hand
#
# SHARED=1: the commands use the shared library. V=1 shows whole command lines. Objects depend on the headers they include (-MMD).
, := ,
VERSION  := 1.0
# The CPU that is compiled for. ARCH on the command line is another than this machine's.
CROSS    := $(if $(filter command line,$(origin ARCH)),$(filter-out $(shell uname -m),$(ARCH)))
BUILD    ?= $(if $(CROSS),build-$(ARCH),$(if $(SAN),build-san,build))
PREFIX   ?= /usr/local
CC       := $(if $(filter default,$(origin CC)),gcc,$(CC))
ifneq ($(CROSS),)
override CC := $(subst gcc,$(ARCH)-linux-gnu-gcc,$(CC))$(if $(SYSROOT), --sysroot=$(SYSROOT))
PKG_CONFIG := $(if $(SYSROOT),PKG_CONFIG_SYSROOT_DIR=$(SYSROOT)) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(ARCH)-linux-gnu/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
endif
PKG_CONFIG ?= pkg-config
AR       := $(if $(CROSS),$(ARCH)-linux-gnu-)ar
CFLAGS   ?= -O2 -g
WARN     := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CPPFLAGS += -Isrc -Iinclude -D_GNU_SOURCE
SANFLAGS := $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
COMPILE  := $(CC) $(CPPFLAGS) $(CFLAGS) $(SANFLAGS) $(WARN) -std=gnu11 -fPIC -fvisibility=hidden -MMD -MP
# Libraries from the distribution, by pkg-config name. libbpf: the bpf() system call (src/bpf, src/kernel); libelf,
# libdw: ELF and DWARF, liblzma: compressed symbol tables (src/elf); zlib: compressed CTF (src/type) and profiles (src/format). Without a .pc file:
# libiberty demangles (static), Zydis decodes instructions of x86-64 (src/arch). The library of mathematics is not used by most
# builds, and would be a third of a megabyte of memory.
PKGS     := libbpf libelf libdw liblzma zlib
LDLIBS   += $(shell $(PKG_CONFIG) --libs $(PKGS)) -Wl,--as-needed -lZydis -Wl,--no-as-needed -l:libiberty.a -Wl,--exclude-libs,libiberty.a \
	    -Wl,--as-needed -lm -lpthread -Wl,--no-as-needed

# Addresses in tables take 8 bytes instead of 32 in the file, where the C library (glibc 2.36) can relocate them, and the linker knows it for this CPU.
PACKED   := $(if $(shell grep -q GLIBC_ABI_DT_RELR $$($(CC) -print-file-name=libc.so.6) 2>/dev/null && \
	$(CC) -shared -nostdlib -Wl$(,)--fatal-warnings$(,)-z$(,)pack-relative-relocs -o /dev/null -x c /dev/null 2>/dev/null && echo yes),-Wl$(,)-z$(,)pack-relative-relocs)
LINK     := $(CC) $(CFLAGS) $(LDFLAGS) $(PACKED) $(SANFLAGS)

# Folders of all CPUs are compiled, files named host_*.c only for their own.
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
HOST := $(wildcard src/arch/*/host_*.c)
SRC  := $(filter-out $(HOST) src/process/runtime/%,$(wildcard src/*/*.c src/*/*/*.c)) $(filter src/arch/$(ARCH)/%,$(HOST))
OBJ  := $(SRC:%.c=$(BUILD)/%.o)
# Pages that are part of the program: a string of that name each.
PAGES := $(wildcard src/*/*.html)
OBJ  += $(PAGES:%.html=$(BUILD)/%.html.o) $(BUILD)/runtime/bytes.o
CMD  := $(patsubst %.c,$(BUILD)/%.o,$(wildcard cmd/*.c))
DWATCH := $(patsubst %.c,$(BUILD)/%.o,$(wildcard cmd/dwatch/*.c) cmd/dirs.c)
DTRACED := $(patsubst %.c,$(BUILD)/%.o,$(wildcard cmd/dtraced/*.c) $(wildcard cmd/serve*.c) cmd/microhttpd.c cmd/value_text.c) $(BUILD)/cmd/page.o
UNIT := $(patsubst %.c,$(BUILD)/%,$(wildcard test/unit/test_*.c))

Q := $(if $(V),,@)
say = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-4s %s\n' $(1) $(2))

# The number is the library's interface: programs that were linked with another one are not started.
SONAME := libdtrace.so.1

all: $(BUILD)/dtrace $(BUILD)/dwatch $(BUILD)/dtraced $(BUILD)/$(SONAME) $(BUILD)/libdtrace.so

# What runs once, when a session begins, is small rather than fast, and has no tables for unwinding (debuggers use those of -g).
SMALL := $(if $(findstring -O2,$(CFLAGS)),-Os -fno-asynchronous-unwind-tables)
$(foreach d,arch dif jail process session fleet kernel proc probe/providers bpf/plan bpf/translate,$(eval $(BUILD)/src/$(d)/%.o: SIZE := $(SMALL)))
$(BUILD)/cmd/%.o: SIZE := $(SMALL)

$(BUILD)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(SIZE) -c -o $@ $<

# A line "@include FILE" stands for that file, beside the page.
$(BUILD)/%.html.c: %.html $(wildcard src/*/*.css src/*/*.js)
	@mkdir -p $(@D)
	$(Q){ printf 'extern const char dt_page_%s[];\nconst char dt_page_%s[] =\n' $(basename $(notdir $<)) $(basename $(notdir $<)); \
		awk -v dir=$(<D) '/^@include / { file = dir "/" $$2; while ((getline line <file) > 0) print line; next } { print }' $< | \
		sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/'; echo ';'; } >$@

$(BUILD)/%.html.o: $(BUILD)/%.html.c
	$(Q)$(COMPILE) -c -o $@ $<

# ---- the runtime of the process engine: code for a target, without a C library (src/process/runtime/runtime.h) ----
# It uses general registers only, no string instructions (the direction flag may be any), and must not have variables (runtime.ld).
RT    := $(BUILD)/runtime
RTSRC := $(wildcard src/process/runtime/*.c) src/dif/quantize.c src/base/map.c $(patsubst %,src/vm/%.c,interp vm_memory vars dynvar \
	subr subr_str subr_text subr_path subr_json subr_net vm_action vm_ecb vm_value)
RTOBJ := $(RTSRC:%.c=$(RT)/%.o)
RTCC  := $(CC) -Isrc/process/runtime/libc $(CPPFLAGS) -DDT_IN_TARGET -O2 -g $(WARN) -std=gnu11 -ffreestanding -fPIE -fvisibility=hidden \
	-ffunction-sections -fdata-sections -mgeneral-regs-only -fno-stack-protector -fno-tree-loop-distribute-patterns \
	-fcf-protection=none -fno-asynchronous-unwind-tables -mstringop-strategy=unrolled_loop -MMD -MP -flto
$(RT)/src/process/runtime/rt_libc.o: RTCC += -fno-lto

$(RT)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(RTCC) -c -o $@ $<

$(RT)/runtime: $(RTOBJ) src/arch/$(ARCH)/host_enter.S src/process/runtime/runtime.ld
	$(call say,LD,$@)
	$(Q)$(RTCC) -flto=2 -nostdlib -static -no-pie -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments \
		-Wl,-T,src/process/runtime/runtime.ld -o $@ $(RTOBJ) src/arch/$(ARCH)/host_enter.S
	$(Q)! objdump -d $@ | grep '%[xyz]mm\|%st\|\<rep\|\<stos\|%ds:' || { rm $@; false; }

# Without code for this CPU there is no runtime, and the engine says so.
$(RT)/bytes.o: $(if $(wildcard src/arch/$(ARCH)/host_enter.S),$(RT)/runtime)
	@mkdir -p $(@D)
	$(Q)$(if $(wildcard src/arch/$(ARCH)/host_enter.S),objcopy -O binary -j .all -j .constants $(RT)/runtime $(@:.o=.bin),printf '\0' >$(@:.o=.bin)) && { \
		printf '#include "process/process.h"\nconst unsigned char dt_pe_runtime[] = {'; \
		od -An -v -tu1 $(@:.o=.bin) | sed 's/ *\([0-9][0-9]*\)/\1,/g'; echo '};'; \
		echo 'const size_t dt_pe_runtime_size = sizeof(dt_pe_runtime);'; } >$(@:.o=.c)
	$(Q)$(COMPILE) -c -o $@ $(@:.o=.c)

$(BUILD)/libdtrace.a: $(OBJ)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/$(SONAME): $(OBJ) src/libdtrace.map
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=src/libdtrace.map -o $@ $(OBJ) $(LDLIBS)

$(BUILD)/libdtrace.so: $(BUILD)/$(SONAME)
	@ln -sfn $(SONAME) $@

# The commands include the library, so nothing is searched for when they start. A program with file
# capabilities (setcap) would not find libdtrace.so beside it: the dynamic linker ignores $ORIGIN then. It
# also starts 0.1 ms faster. With SHARED=1 they use the shared library: for packages, which put it where the
# dynamic linker looks and where only root writes.
WITHIN := $(if $(SHARED),$(BUILD)/libdtrace.so,$(BUILD)/libdtrace.a)
WITH   := $(if $(SHARED),-Wl$(,)--as-needed -lm -lpthread -Wl$(,)--no-as-needed,$(LDLIBS))

$(BUILD)/dtrace: $(CMD) $(BUILD)/cmd/page.o $(WITHIN)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(WITH)
	@ln -sfn $(CURDIR)/lib $(BUILD)/lib
	@ln -sfn $(CURDIR)/tools $(BUILD)/tools

$(BUILD)/dwatch: $(DWATCH) $(WITHIN)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(WITH)
	@ln -sfn $(CURDIR)/profiles $(BUILD)/profiles

$(BUILD)/dtraced: $(DTRACED) $(WITHIN)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(WITH)

# The page of --serve; its flame graph is that of the format.
$(BUILD)/cmd/page.o: packaging/embed $(wildcard cmd/page/*.*) src/format/flamegraph.css src/format/flamegraph.js
	@mkdir -p $(@D)
	$(Q)packaging/embed cmd/serve.h 'struct page_file page_files' $(filter-out $<,$^) >$(@:.o=.c) && $(COMPILE) -iquote . -c -o $@ $(@:.o=.c)

# ---- one file that needs nothing else: all libraries and the D files inside ----
STATIC := $(BUILD)/static
$(STATIC)/libZydis.a:
	@mkdir -p $(@D)
	$(Q)CC="$(CC)" packaging/zydis $(@D)

$(STATIC)/files.o: packaging/embed $(wildcard lib/*.d lib/*.dm lib/$(ARCH)/*.d tools/*.d)
	@mkdir -p $(@D)
	$(Q)packaging/embed session/embedded.h 'struct dt_embedded dt_embedded_files' $(filter %.d %.dm,$^) >$(@:.o=.c) && $(COMPILE) -c -o $@ $(@:.o=.c)

# The page of --serve, if there is a static libmicrohttpd (Debian: libmicrohttpd-dev); without HTTPS.
HTTPD := $(filter /%,$(shell $(CC) -print-file-name=libmicrohttpd.a))
$(STATIC)/notls.o: packaging/notls.c
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

# The linker warns of functions of the C library that look for shared libraries at run time (names of users and services).
$(STATIC)/dtrace: $(CMD) $(BUILD)/cmd/page.o $(STATIC)/files.o $(BUILD)/libdtrace.a $(STATIC)/libZydis.a $(if $(HTTPD),$(STATIC)/notls.o)
	$(call say,LD,$@)
	$(Q)$(CC) -static $(CFLAGS) -Wl,--gc-sections -o $@ $^ $(if $(HTTPD),-u MHD_start_daemon $(HTTPD)) -lbpf -ldw -lelf -lz -llzma -lbz2 -l:libiberty.a -lm -lpthread 2>$@.log || { cat $@.log >&2; false; }
	$(Q)strip $@

# ---- packages ----
dist: # the sources of the last commit
	@mkdir -p $(BUILD)
	git archive --prefix=dtrace-$(VERSION)/ -o $(BUILD)/dtrace-$(VERSION).tar.gz HEAD

deb: # needs debhelper and what debian/control names; the packages are in build/deb
	packaging/deb $(BUILD)/deb

static: $(STATIC)/dtrace
	@ls -l $<

# ---- tests ----
$(BUILD)/test/unit/%: $(BUILD)/test/unit/%.o $(BUILD)/libdtrace.a
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(LDLIBS)

unit: $(UNIT)

test: all unit
	@BUILD=$(BUILD) test/run

test-san:
	@$(MAKE) SAN=1 test

# Status 77: no QEMU or no kernels are available here; it has said so.
test-kernels: all
	@BUILD=$(BUILD) test/guests/run || [ $$? = 77 ]

# ---- fuzzing: the library once more, with clang's instrumentation ----
FUZZDIR  ?= build/fuzz
FUZZ     := $(patsubst test/fuzz/%.c,$(FUZZDIR)/%,$(wildcard test/fuzz/fuzz_*.c))
FUZZOBJ  := $(SRC:%.c=$(FUZZDIR)/obj/%.o) $(PAGES:%.html=$(BUILD)/%.html.o) $(BUILD)/runtime/bytes.o
FUZZCC   := clang $(CPPFLAGS) -O1 -g -std=gnu11 -fno-omit-frame-pointer -fno-sanitize-recover=undefined
FUZZTIME ?= 20

$(FUZZDIR)/obj/%.o: %.c
	$(call say,FUZZ,$<)
	@mkdir -p $(@D)
	$(Q)$(FUZZCC) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<

$(FUZZDIR)/%: $(FUZZDIR)/obj/test/fuzz/%.o $(FUZZOBJ)
	$(call say,LD,$@)
	$(Q)$(FUZZCC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(LDLIBS)

fuzz: $(FUZZ)

fuzz-run: fuzz
	@test/fuzz/run $(FUZZTIME) $(FUZZ)

# ---- the rest ----
bench: all
	@bench/compare $(BUILD)
	@BUILD=$(BUILD) bench/format
	@BUILD=$(BUILD) bench/records
	@BUILD=$(BUILD) bench/serve

# Folders and the section of the manual: a distribution may want others (debian/rules).
LIBDIR     ?= $(PREFIX)/lib
MANSECTION ?= 1
UNITDIR    ?= $(PREFIX)/lib/systemd/system
PUT        := install -m 644 -D -t
install: all
	install -m 755 -D -t $(DESTDIR)$(PREFIX)/sbin $(BUILD)/dtrace $(BUILD)/dwatch $(BUILD)/dtraced
	install -m 755 -D -t $(DESTDIR)$(LIBDIR) $(BUILD)/$(SONAME)
	ln -sfn $(SONAME) $(DESTDIR)$(LIBDIR)/libdtrace.so
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' packaging/libdtrace.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/libdtrace.pc
	$(PUT) $(DESTDIR)$(PREFIX)/lib/dtrace lib/*.d $(wildcard lib/*.dm)
	for cpu in $(notdir $(patsubst %/,%,$(wildcard lib/*/))); do $(PUT) $(DESTDIR)$(PREFIX)/lib/dtrace/$$cpu lib/$$cpu/*.d || exit 1; done
	$(PUT) $(DESTDIR)$(PREFIX)/include include/dtrace.h
	$(PUT) $(DESTDIR)$(PREFIX)/share/zsh/site-functions completion/_dtrace completion/_dwatch
	$(PUT) $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d completion/dtrace.fish completion/dwatch.fish
	for c in dtrace dwatch; do install -m 644 -D completion/$$c.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$c; done
	$(PUT) $(DESTDIR)$(PREFIX)/share/man/man3 doc/libdtrace.3
	install -d $(DESTDIR)$(PREFIX)/share/man/man$(MANSECTION)
	for c in dtrace dwatch; do sed 's/^\(\.TH [A-Z]*\) 1/\1 $(MANSECTION)/' doc/$$c.1 >$(DESTDIR)$(PREFIX)/share/man/man$(MANSECTION)/$$c.$(MANSECTION); done
	$(PUT) $(DESTDIR)$(PREFIX)/share/man/man8 doc/dtraced.8
	install -d $(DESTDIR)$(UNITDIR)
	sed 's|@SBIN@|$(PREFIX)/sbin|' packaging/dtraced.service >$(DESTDIR)$(UNITDIR)/dtraced.service
	install -m 755 -D -t $(DESTDIR)$(PREFIX)/share/dtrace/tools tools/*.d
	$(PUT) $(DESTDIR)$(PREFIX)/share/dtrace/profiles profiles/*
	tools/mkman $(DESTDIR)$(PREFIX)/share/man/man8
	doc/mkman $(DESTDIR)$(PREFIX)/share/man/man7

format:
	clang-format -i $(wildcard src/*/*.c src/bpf/*/*.c src/arch/*/*.c cmd/*.c cmd/dwatch/*.c cmd/dtraced/*.c)

clean:
	rm -rf build build-san

DEPS := $(OBJ:.o=.d) $(RTOBJ:.o=.d) $(CMD:.o=.d) $(DWATCH:.o=.d) $(DTRACED:.o=.d) $(UNIT:=.d) $(FUZZOBJ:.o=.d) $(FUZZ:$(FUZZDIR)/%=$(FUZZDIR)/obj/test/fuzz/%.d)
-include $(wildcard $(DEPS))
.SECONDARY:
.PHONY: all static dist deb unit test test-san test-kernels fuzz fuzz-run bench install format clean

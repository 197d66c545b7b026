# include/dtrace.h alone is enough, in C and in C++, with all warnings; a program that uses it links and runs.
# needs: gcc readelf
# uses: g++
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
echo '#include <dtrace.h>' >only.c
for std in c99 c11 c17; do
	gcc -std=$std -Wall -Wextra -Wpedantic -Werror -I "$SRC/include" -fsyntax-only only.c || { echo "not $std"; fails=1; }
done
cat >use.c <<'C'
#include <dtrace.h>
#include <stdlib.h>

static int probe(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg)
{
	(void)h;
	printf("%s:%s:%s:%s\n", p->provider, p->module, p->function, p->name);
	return ++*(int *)arg == 3;
}

static int diag(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text, void *arg)
{
	(void)h;
	(void)arg;
	printf("[%d] %s\n", (int)kind, text);
	return 0;
}

int main(void)
{
	dtrace_hdl_t *h = dtrace_open(NULL);
	dtrace_prog_t *p;
	int n = 0;

	if (!h || dtrace_setopt(h, "engine", "vm") < 0 || dtrace_setopt(h, "quiet", NULL) < 0)
		return 1;
	if (dtrace_compile_string(h, "BEGIN { trace(nosuch); }", NULL))
		return 1;
	printf("%s: %s\n", dtrace_errtag(h), dtrace_errtext(h));
	dtrace_probe_iter(h, "dtrace:::", DTRACE_SPEC_NAME, probe, &n);
	dtrace_handle_diag(h, diag, NULL);
	p = dtrace_compile_string(h, "BEGIN { printf(\"%d\\n\", 6 * 7); @ = count(); } BEGIN { trace(*(int *)0); } BEGIN { exit(3); }", NULL);
	if (!p || dtrace_enable(h, p, NULL) < 0 || dtrace_go(h) < 0)
		return 1;
	while (dtrace_work(h, stdout) == DTRACE_WORK_OKAY)
		dtrace_sleep(h);
	dtrace_stop(h);
	dtrace_work(h, stdout);
	dtrace_aggregate_print(h, stdout);
	n = dtrace_exit_status(h);
	dtrace_close(h);
	return n;
}
C
want="D_IDENT_UNDEF: in action list: failed to resolve nosuch: unknown identifier
dtrace:::BEGIN
dtrace:::END
dtrace:::ERROR
42
[1] error on enabled probe ID 2 (ID 1: dtrace:::BEGIN): invalid address (0x0) in action #1 at DIF offset 4
[1] *(int *)0: address 0x0 is not mapped

                1"
san=
nm -D "$BUILD/libdtrace.so" | grep -q __asan_init && san=-fsanitize=address,undefined
run() { # compiler and flags, source
	"$@" $san -Wall -Wextra -Werror -I "$SRC/include" -o use -L"$BUILD" -ldtrace -Wl,-rpath,"$BUILD" || { echo "$*: does not build"; fails=1; return; }
	got=$(./use)
	expect 3 $? "$*"
	expect "$want" "$(sed 's/: failed to resolve.*/: failed to resolve nosuch: unknown identifier/' <<<"$got")" "$*"
}
run gcc use.c
if command -v g++ >/dev/null; then
	cp use.c use.cc
	for std in c++11 c++17; do run g++ -std=$std use.cc; done
fi
# what the library exports is what the header declares
declared=$(sed 's,/\*.*,,' "$SRC/include/dtrace.h" | sed -nE 's/^DTRACE_API .*[ *](dtrace_[a-z_]+)\(.*/\1/p' | sort)
exported=$(nm -D --defined-only "$BUILD/libdtrace.so" | awk '$2 == "T" && $3 ~ /^dtrace_/ { print $3 }' | sort)
expect "$declared" "$(sed 's/@.*//' <<<"$exported")" "exported names"
# each with the version of the library that brought it; programs are linked with the library's number
expect "" "$(grep -v '@@LIBDTRACE_1[.][0-9]*$' <<<"$exported")" "names without a version"
expect libdtrace.so.1 "$(readelf -d use | sed -n 's/.*(NEEDED).*\[\(libdtrace.*\)\]/\1/p')" "soname"
others=$(nm -D --defined-only "$BUILD/libdtrace.so" | awk '$2 ~ /[TDRB]/ && $3 !~ /^(dtrace_|_|__)/ { print $3 }' | grep -v -e asan -e ubsan -e LIBDTRACE)
expect "" "$others" "other exported names"
# the manual page has every function
expect "" "$(for f in $declared; do grep -q "$f" "$SRC/doc/libdtrace.3" || echo "$f"; done)" "not in doc/libdtrace.3"

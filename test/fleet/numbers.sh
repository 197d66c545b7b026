# Clauses on probes of other machines, and on those that join here while it traces, have numbers of their own.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
agent web-2
printf 'int plugged(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }\n' >"$TMP/plug.c"
cat >"$TMP/host.c" <<'EOT'
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv) /* host LIBRARY...: close 1000, load each library and call it, close 1001 */
{
	close(1000);
	for (int i = 1; i < argc; i++) {
		void *lib = dlopen(argv[i], RTLD_NOW);
		int (*f)(int) = lib ? (int (*)(int))dlsym(lib, "plugged") : 0;

		if (!f)
			return 1;
		f(i);
	}
	close(1001);
	return 0;
}
EOT
for i in one two; do gcc -O2 -shared -fPIC -o "$TMP/lib$i.so" "$TMP/plug.c" || exit 1; done
gcc -O2 -o "$TMP/$load" "$TMP/host.c" -ldl || exit 1

# In ndjson a record has the probe of its clause's number, which is kept: a number that two have would show one for both.
fleet -Z -O ndjson -n "web-*:syscall::close:entry /$mine/ { trace(arg0); } pid\$target:lib*:plugged:entry { trace(arg0); }" \
	-c "$TMP/$load $TMP/libone.so $TMP/libtwo.so"
expect 0 $status
cat >"$TMP/read.py" <<'EOT'
import collections, json, sys
clauses = collections.defaultdict(set)
lines = []
for line in sys.stdin:
    o = json.loads(line)
    if o["type"] == "record":
        p = o["probe"]
        where = (p.get("machine", "host"), p["module"], p["function"])
        clauses[o["clause"]].add(where)
        lines.append(" ".join([*where, str(o["output"][0]["value"])]))
print(*sorted(lines), sep="\n")
print(len(clauses), max(len(c) for c in clauses.values()))
EOT
expect "host libone.so plugged 1
host libtwo.so plugged 2
web-1 vmlinux close 1000
web-1 vmlinux close 1001
web-2 vmlinux close 1000
web-2 vmlinux close 1001
4 1" "$(/usr/bin/python3 "$TMP/read.py" <"$TMP/out")"

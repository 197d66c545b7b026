# timeout: 300
# pid* in processes that start later: an installed library from its first call on, however short they live; and another file
# with the same name and build id, in another mount namespace.
# needs: root bpf mountns gcc
. "$SRC/test/lib.bash"
cat >"$TMP/lib.c" <<'EOT'
int later_called(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }
EOT
cat >"$TMP/prog.c" <<'EOT'
#include <unistd.h>
int later_called(int n);
int main(int argc, char **argv)
{
	(void)argv;
	do
		later_called(1);
	while (argc > 1 && usleep(10000) == 0 && getppid() != 1);
	return 0;
}
EOT
gcc -O1 -shared -fPIC -Wl,-soname,liblater.so.1 -Wl,--build-id -o "$TMP/liblater.so.1" "$TMP/lib.c" && gcc -O1 -o "$TMP/prog" "$TMP/prog.c" "$TMP/liblater.so.1" || exit 1
mkdir "$TMP/dir"

# installed, as far as dtrace and its children can see
cat >"$TMP/installed" <<EOT
mount -t tmpfs none /usr/local/lib && cp $TMP/liblater.so.1 /usr/local/lib/ || exit 3
export LD_LIBRARY_PATH=/usr/local/lib
cat >$TMP/short <<X
for i in 1 2 3 4 5 6 7 8 9 10; do $TMP/prog; done
X
for module in 'liblater.so*' liblater liblater.so.1; do
	$DTRACE -qn "pid*:\$module:later_called:entry, pid*:\$module:later_called:return { @[probename] = count(); }" -c "sh $TMP/short" || exit 4
done
EOT
unshare -m sh "$TMP/installed" >"$TMP/out" 2>"$TMP/err"
expect 0 $? "$(cat "$TMP/err")"
expect "entry 10 return 10 entry 10 return 10 entry 10 return 10" "$(sed '/entry/{h;d};/return/{x;G}' "$TMP/out" | grep . | xargs)" "$(cat "$TMP/err")"

# a copy is another file: probes are also put there, though its build id is known
cp "$TMP/liblater.so.1" "$TMP/dir/"
LD_LIBRARY_PATH=$TMP/dir "$TMP/prog" wait &
first=$!
cat >"$TMP/inside" <<EOT
mount -t tmpfs none $TMP/dir && cp $TMP/liblater.so.1 $TMP/dir/ || exit 3
LD_LIBRARY_PATH=$TMP/dir exec $TMP/prog wait
EOT
: >"$TMP/out" # discard earlier output
timeout 200 "$DTRACE" -qx switchrate=50hz -n "
	pid*:liblater.so.1:later_called:entry /pid == $first && !a++/ { printf(\"first\\n\"); }
	pid*:liblater.so.1:later_called:entry /pid != $first/ { printf(\"second %d\\n\", pid); exit(0); }" >"$TMP/out" 2>"$TMP/err" &
tracer=$!
wait_for 60 grep -q first "$TMP/out"
unshare -m sh "$TMP/inside" &
second=$!
wait_for 60 grep -q second "$TMP/out"
kill $first $second
wait $tracer
expect "first second $second" "$(xargs <"$TMP/out")" "$(cat "$TMP/err")"

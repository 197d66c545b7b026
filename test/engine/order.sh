# Records of all CPUs come in order of time.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
ktrace -q -x switchrate=1ms -n 'syscall::getppid:entry /pid == $target/ { printf("%d\n", timestamp); }' -c "$TMP/work 20000 4"
expect 80000 "$(grep -c . "$TMP/out")"
sed '/^$/d' "$TMP/out" | sort -nc || expect sorted "not sorted"

# -x cpu=N: only what happens on that CPU is traced; a CPU that does not exist is an error.
# needs: root bpf gcc taskset
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
for n in 0 $(($(nproc) - 1)); do
	ktrace -q -x cpu="$n" -n 'syscall::getppid:entry /pid == $target/ { @[cpu] = count(); } END { printa("%d %@d\n", @); }' \
		-c "taskset -c 0 $TMP/work 1000 1"
	expect 0 "$status" "$err"
	expect "$([ "$n" = 0 ] && echo 0 1000)" "$(sed '/^$/d' "$TMP/out")" "calls on CPU 0 seen with -x cpu=$n"
done
ktrace -q -x cpu=4000 -n 'profile-20ms { exit(0); }'
expect 1 "$status"
expect 1 "$(grep -c 'cpu=4000: this machine has CPUs 0 to' "$TMP/err")" "message"

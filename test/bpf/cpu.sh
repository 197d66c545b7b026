# -x cpu=N: only what fires on that CPU is traced; a CPU that is not there is an error.
. "$SRC/test/bpf/lib.bash"
for n in 0 $(($(nproc) - 1)); do
	k -q -x cpu="$n" -n 'profile-20ms { @[cpu] = count(); } tick-200ms { exit(0); } END { printa("%d\n", @); }'
	expect 0 "$status"
	expect "$n" "$(sed '/^$/d' "$TMP/out")" "CPUs seen with -x cpu=$n"
done
k -q -x cpu=4000 -n 'profile-20ms { exit(0); }'
expect 1 "$status"
expect 1 "$(grep -c 'cpu=4000: this machine has CPUs 0 to' "$TMP/err")" "message"

# The fill policy: a CPU whose buffer is full records nothing more, the others and END still do. No drop is counted, and
# the consumer stops at its next status check.
# needs: root bpf gcc taskset
# timeout: 200
. "$SRC/test/lib.bash"
[ "$(nproc)" -gt 1 ] || skip "one CPU only"
me=fill$$
build $me engine/work.c -lpthread
set -- $(taskset -cp $$ | sed 's/.*: //; s/[,-]/ /g') # two that we may use
a=$1 b=$2

fill() { # BUFSIZE N PAUSE: so many calls on CPU a, then two on b
	ktrace -q -x bufpolicy=fill -x "bufsize=$1" -x statusrate=10s -n '
		syscall::getppid:entry /execname == "'$me'"/ { printf("on %d\n", cpu); }
		syscall::getppid:entry /execname == "'$me'"/ { n[cpu]++; }
		END { printf("end %d %d\n", n['$a'], n['$b']); }' \
		-c "sh -c 'sleep $3; taskset -c $a $TMP/$me $2 1; taskset -c $b $TMP/$me 2 1'"
}

check() { # BUFSIZE N
	local recorded pause
	# Status checks are 10 s apart, and the first comes when dtrace looks for the first time. If that was after the buffer was full, or
	# the machine is too slow for one such interval, once more, with another pause before the calls.
	for pause in 0.2 0.5 1 2 4; do
		SECONDS=0
		fill "$1" "$2" $pause
		[ $SECONDS -lt 9 ] && ! grep -qx "end $2 0" "$TMP/out" && break
	done
	[ $SECONDS -lt 9 ] || skip "this machine is too slow"
	expect "end $2 2" "$(grep '^end' "$TMP/out")" "$1, at the end"
	expect 2 "$(lines "^on $b$")" "$1, the other CPU"
	recorded=$(lines "^on $a$")
	[ "$recorded" -gt 2 ] && [ "$recorded" -lt "$2" ] || expect "some of $2" "$recorded" "$1, the full one"
	expect "" "$err" "$1, messages"
}
check 1k 200
check 128k 20000
# With a status check that comes, tracing ends by itself.
ktrace -q -x bufpolicy=fill -x bufsize=1k -n 'profile-997 { trace(1); }'
expect 0 "$status"
expect "" "$err"

# The process engine with signal handlers, siglongjmp(), fork(), vfork() and exec: the program is not affected, firings are counted
# or lost and counted.
# needs: gcc
# timeout: 300
. "$SRC/test/lib.bash"
build victim process/victim.c -lpthread
n=$(scale 200000)
# (evaltime: at its default, the command is stopped where the gates of other tests may be)
inside() {
	"$DTRACE" -x engine=process -x evaltime=postinit "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}

inside -q -c "$TMP/victim -t 2 -n $n -s" -n 'pid$target:a.out:work:entry,pid$target:a.out:handled:entry { @[probefunc] = count(); }'
expect "0 calls $((2 * n))" "$status $(grep calls <<<"$out")" "$err"
expect $((2 * n)) "$(value work)"

# the handler leaves a firing for ever, two hundred times: the thread fires again
inside -q -c "$TMP/victim -n 5000 -j" -n 'pid$target:a.out:work:entry { @[probefunc] = count(); }'
expect "0 calls 5000" "$status $(grep calls <<<"$out")" "$err"
[ "$(value work)" -gt 0 ] || { echo "no firing"; count_failure; }

# the same while it holds the lock of associative arrays
inside -q -c "$TMP/victim -n 5000 -j" -n 'pid$target:a.out:work:entry { a[arg0, "key"]++; } pid$target:a.out:once:entry { b["once"] = 7; } END { trace(b["once"]); }'
expect "0 calls 5000 7" "$status $(echo $out)" "$err"

# a child of fork() fires nothing and works; the command of vfork() is not traced
inside -q -c "$TMP/victim -t 2 -n 1000 -f -v" -n 'pid$target:a.out:work:entry { @[probefunc] = count(); }'
expect "0 child 7 command 0 calls 2000 work 2000" "$status $(echo $out)" "$err"

# exec: nothing of dtrace is left, and the new program runs
inside -q -c "sh -c 'exec $TMP/victim -n 10'" -n 'pid$target:libc.so.6:execve:entry { @[probefunc] = count(); }'
expect "0 calls 10 execve 1" "$status $(echo $out)" "$err"

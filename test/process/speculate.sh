# The process engine: speculations: of one thread, of several, of BEGIN and END; what does not fit is counted.
# needs: gcc
. "$SRC/test/lib.bash"
build victim process/victim.c -lpthread
inside() {
	"$DTRACE" -x engine=process -x evaltime=postinit -o "$TMP/records" "$@" >"$TMP/own" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/records") err=$(cat "$TMP/err")
	cp "$TMP/records" "$TMP/out"
	rm -f "$TMP/records"
}

# each call of a thread: committed or discarded at its return
inside -q -x nspec=8 -c "$TMP/victim -t 4 -n 1000" -n '
	pid$target:a.out:work:entry { self->s = speculation(); }
	pid$target:a.out:work:entry /self->s/ { speculate(self->s); printf("in %d %d\n", tid, arg0); }
	pid$target:a.out:work:return /self->s/ { speculate(self->s); printf("out %d %d\n", tid, arg1); }
	pid$target:a.out:work:return /self->s && arg1 == 124/ { commit(self->s); self->s = 0; n++; }
	pid$target:a.out:work:return /self->s/ { discard(self->s); self->s = 0; }'
expect 0 "$status" "$err"
expect "" "$err"
expect "2000 0 2000 0" "$(lines '^in .* 1$') $(lines '^in .* 0$') $(lines '^out .* 124$') $(lines '^out .* 121$')"
# what one thread committed is in the order in which it was recorded
expect "" "$(awk '/^in/ { inside[$2]++ } /^out/ { if (!inside[$2]--) print "not begun:", $0 }' "$TMP/out")"

# one speculation of all threads, begun in BEGIN, committed in END; and by a probe while others write
inside -q -x specsize=1m -c "$TMP/victim -t 4 -n 500" -n '
	BEGIN { s = speculation(); } BEGIN { speculate(s); printf("begin %d\n", s); }
	pid$target:a.out:work:entry { speculate(s); printf("work %d\n", arg0); }
	END { speculate(s); printf("end\n"); } END { commit(s); }'
expect 0 "$status" "$err"
expect "begin 1 2000 end" "$(grep begin <<<"$out") $(lines '^work') $(tail -1 <<<"$out")" "$err"
inside -q -x nspec=2 -x specsize=1m -c "$TMP/victim -t 4 -n 2000" -n '
	BEGIN { s = speculation(); }
	pid$target:a.out:work:entry { speculate(s); printf("work\n"); }
	pid$target:a.out:work:return /++n % 50 == 0/ { this->old = s; s = speculation(); commit(this->old); }
	END { commit(s); }'
expect 0 "$status" "$err"
[ "$(lines work)" -gt 0 ] || { echo "nothing was committed: $err"; count_failure; }

# too small, or too few: counted, as by the other engines
loss() { # OPTIONS: the messages
	inside -q "$@" -c "$TMP/victim -n 10" -n '
		BEGIN { s = speculation(); }
		pid$target:a.out:work:entry { speculate(s); trace(arg0); trace(arg2); }
		pid$target:a.out:work:return { self->none = speculation(); }
		END { commit(s); }'
	grep -o '[0-9].*' <<<"$err"
}
expect "7 speculative drops
10 failed speculations (no speculative buffer available)" "$(loss -x specsize=100)"
expect "10 failed speculations (no speculative buffer available)" "$(loss)"

# a wrong number is a fault
inside -q -c "$TMP/victim -n 1" -n 'pid$target:a.out:work:entry { commit(7); } ERROR { printf("fault %d\n", arg4); }'
expect "fault 3" "$out" "$err"

# the default action
inside -c "$TMP/victim -n 3" -n 'BEGIN { s = speculation(); } pid$target:a.out:work:entry { speculate(s); } END { commit(s); } END { exit(3); }'
expect "3 3" "$status $(lines 'work:entry')" "$err"

# a handler that leaves the clause for ever leaves the speculation as well
inside -q -c "$TMP/victim -j -n 100" -n 'BEGIN { s = speculation(); }
	pid$target:a.out:work:entry { speculate(s); printf("work %s\n", copyinstr(arg1)); }
	pid$target:a.out:once:entry { discard(s); s = speculation(); } pid$target:a.out:once:entry { @[s] = count(); }
	END { commit(s); }'
expect_match '^calls 100$' "$(cat "$TMP/own")"
expect 1 "$(awk 'NF == 2 && $1 == 1 { print $2 }' "$TMP/out")" "$err"
expect 100 "$(lines '^work text$')" "$err"

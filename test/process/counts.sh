# The process engine: what it counts, records and keeps is what the program did, without any privilege.
# needs: gcc
. "$SRC/test/lib.bash"
build victim process/victim.c -lpthread
# (evaltime: at its default, the command is stopped where the gates of other tests may be)
inside() {
	"$DTRACE" -x engine=process -x evaltime=postinit "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}

# aggregations of several threads; arguments in registers and on the stack; global variables that BEGIN, END and probes share
inside -q -c "$TMP/victim -t 4 -n 5000" -n '
	BEGIN { total = 1; name = "first"; seen["begin"] = 1; }
	pid$target:a.out:work:entry { @c[probefunc] = count(); @s = sum(arg2 + arg5); @x = max(arg6); @n = min(arg3); @a = avg(arg0);
		@q = quantize(arg4); @l = lquantize(arg3, 0, 10, 2); @k[copyinstr(arg1), arg0] = count(); }
	pid$target:a.out:work:return { @r[arg1] = count(); }
	pid$target:a.out:once:entry { total += 41; name = strjoin(name, probename); seen[probemod] = 2; }
	END { printa("%s %@d\n", @c); printa("%@d ", @s); printa("%@d ", @x); printa("%@d ", @n); printa("%@d\n", @a);
		printa(@q); printa(@l); printa("%s %d %@d\n", @k); printa("= %d %@d\n", @r);
		printf("%d %s %d %d\n", total, name, seen["begin"], seen["victim"]); }'
expect 0 "$status" "$err"
expect "calls 20000
work 20000
180000 7 4 0
           value  ------------- Distribution ------------- count    
               2 |                                         0        
               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 20000    
               8 |                                         0        
           value  ------------- Distribution ------------- count    
               2 |                                         0        
               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 20000    
               6 |                                         0        
text 0 10000
text 1 10000
= 121 10000
= 124 10000
42 firstentry 1 2" "$(grep . <<<"$out")"

# records: all of them, in order of time, of every thread
# (in a file of its own: the program prints as well, at any moment)
inside -q -o "$TMP/records" -x bufsize=16m -c "$TMP/victim -t 3 -n 2000" -n 'pid$target:a.out:work:entry { printf("%d %d %d %s\n", timestamp, tid, self->n++, execname); }'
out=$(tee "$TMP/out" <"$TMP/records")
expect 0 "$status" "$err"
expect 6000 "$(lines ' victim$')"
expect "" "$(grep ' victim$' "$TMP/out" | awk '$1 < last { print "out of order:", $0 } { last = $1 } $3 != n[$2]++ { print "missing before:", $0 }')"
expect 3 "$(awk '/victim$/ { print $2 }' "$TMP/out" | sort -u | wc -l)" threads

# self->, timestamps, predicates, if
inside -q -c "$TMP/victim -n 500" -n 'pid$target:a.out:work:entry /arg0 == 1/ { self->t = timestamp; }
	pid$target:a.out:work:return /self->t/ { @[timestamp >= self->t ? "later" : "earlier"] = count(); self->t = 0; }
	pid$target:a.out:work:entry { if (arg0) { @odd = count(); } else { @even = count(); } }'
expect "250
250
calls 500
later 250" "$(sorted | grep . | LC_ALL=C sort)" "$err"

# a fault is DTrace's, not the program's; ERROR fires
inside -c "$TMP/victim -n 2" -qn 'pid$target:a.out:work:entry { trace(*(userland char *)arg0); } ERROR { printf("error %d at 0x%x\n", arg4, arg5); }'
expect "calls 2
error 1 at 0x0
error 1 at 0x1" "$(grep . <<<"$out")"
expect 2 "$(grep -c 'invalid address' "$TMP/err")" "$err"

# exit() ends tracing, not the program; the program goes on, unpatched
touch "$TMP/go"
inside -qn 'pid$target:a.out:work:entry /++n == 10/ { trace(n); exit(5); }' -c "$TMP/victim -n 100"
expect 5 "$status" "$err"
expect_match 10 "$out"

# what is not there says so
for try in 'stack()=stack() is not available' \
	'trace(curthread)=variable curthread is not available' 'trace(inet_ntoa(0))=inet_ntoa() is not available'; do
	inside -n "pid\$target:a.out:work:entry { ${try%%=*}; }" -c "$TMP/victim -n 1"
	expect 1 "$status"
	expect "dtrace: could not enable tracing: -x engine=process: ${try#*=}" "$(grep engine= <<<"$err")"
done
inside -n 'sched:::on-cpu { trace(1); }' -c "$TMP/victim -n 1"
expect_match 'engine=process: sched:.* is not a probe in one process' "$err"

# BEGIN and END alone are the interpreter's
inside -qn 'BEGIN { trace("a"); } END { trace("b"); } BEGIN { exit(4); }'
expect "4 ab" "$status $out"

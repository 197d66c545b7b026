# The process engine: buffers of records: nothing is lost when they begin anew; bufpolicy ring and fill as on the other engines.
# needs: gcc
# uses: root bpf
# timeout: 240
. "$SRC/test/lib.bash"
build buffers process/buffers.c -lpthread
inside() {
	"$DTRACE" -x engine=process -x evaltime=postinit "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
number='pid$target:a.out:work:entry { trace(arg0); }' # machine code
text='pid$target:a.out:work:entry { printf("%d %s\n", arg0, probefunc); }' # interpreted

# all that was written has been read, and the buffer begins anew; then comes more than it held before
inside -x bufsize=8m -x switchrate=50hz -c "$TMP/buffers 4000 40000" -qn 'pid$target:a.out:work:entry { printf("%d %d\n", arg1, arg0); }'
expect "0 40000 39999" "$status $(grep -c '^1 ' "$TMP/out") $(grep '^1 ' "$TMP/out" | tail -1 | cut -d' ' -f2)" "$err"
expect "" "$(awk '$1 == 1 && $2 != n++ { print "missing before", $0 }' "$TMP/out")" "$err"

# ring: the newest, at the end; a record of a number costs 24 bytes
newest() { # WHAT N RECORDS
	expect "0 $(($2 < $3 ? $2 : $3)) 0" "$status $(wc -l <"$TMP/numbers") $(awk -v n="$2" -v want="$3" 'NR == 1 { i = n > want ? n - want : 0 } $1 != i++ { bad++ } END { print bad + 0 }' "$TMP/numbers")" \
		"$1, $2 firings: $err $(head -3 "$TMP/numbers")"
}
for n in 0 1 99 100 101 5000; do
	inside -x bufpolicy=ring -x bufsize=2400 -c "$TMP/buffers $n" -n "$number"
	awk '$3 == "work:entry" { print $4 }' "$TMP/out" >"$TMP/numbers"
	newest numbers $n 100
	inside -x bufpolicy=ring -x bufsize=48k -x strsize=464 -c "$TMP/buffers $n" -qn "$text"
	grep ' work$' "$TMP/out" >"$TMP/numbers"
	newest text $n 100
done
# of each thread
inside -x bufpolicy=ring -x bufsize=2400 -c "$TMP/buffers 3000 0 -t" -qn 'pid$target:a.out:work:entry { printf("%d %d\n", arg0, arg1); }'
for kind in 0 2 3; do
	grep " $kind\$" "$TMP/out" >"$TMP/numbers"
	newest "thread $kind" 3000 75 # two numbers: 32 bytes
done
# records of several sizes, faults and ERROR: those that the interpreter has
script='BEGIN { s = "abcdefghij"; }'
for i in $(seq 40); do
	script+=" PROBE { printf(\"$i %s\\n\", substr(s, $((i % 10)))); } PROBE { printf(\"$i\\n\"); trace(*(int *)0); } PROBE { trace($i); trace(s); }"
done
script+=' PROBE { exit(3); } ERROR { printf("e %d\n", arg4); }'
for policy in ring fill; do
	for size in 1k 10k 50k 200k 4m; do
		options="-x bufpolicy=$policy -x bufsize=$size -x strsize=4k"
		"$DTRACE" -x engine=vm $options -qn "${script//PROBE/BEGIN}" >"$TMP/vm.out" 2>"$TMP/vm.err" </dev/null
		want=$?
		rm -f "$TMP/lines"
		inside $options -x evaltime=postinit -o "$TMP/lines" -qn "${script//PROBE/pid\$target:a.out:once:entry}" -c "$TMP/buffers"
		expect "$want" "$status" "$policy, bufsize=$size: $err"
		expect "$(cat "$TMP/vm.out")" "$(cat "$TMP/lines")" "$policy, bufsize=$size"
		expect "$(sed 's/ BEGIN//; s/ID [0-9]*: .*)/ID/' "$TMP/vm.err" | grep -c 'error on')" "$(grep -c 'error on' "$TMP/err")" "$policy, bufsize=$size: faults"
	done
done
# what is committed is as new as the commit
inside -x bufpolicy=ring -x bufsize=240 -c "$TMP/buffers 1000" -qn 'pid$target:a.out:work:entry { self->s = speculation(); } pid$target:a.out:work:entry { speculate(self->s); printf("%d\n", arg0); }
	pid$target:a.out:work:entry { commit(self->s); }'
expect "0 991" "$status $(grep -v calls "$TMP/out" | grep . | tail -9 | head -1)" "$err"

# fill: a full buffer ends tracing, with END; the program goes on
for clause in "$number" "$text"; do
	inside -x bufpolicy=fill -x bufsize=2k -x strsize=84 -c "$TMP/buffers 5000" -n "$clause END { trace(\"end\"); }"
	expect "0 calls 5000 1" "$status $(grep calls "$TMP/out") $(grep -c ':END *end *$' "$TMP/out")" "$err"
	expect "" "$(awk '/work/ && ($4 != "" ? $4 : $1) + 0 != n++ { print "missing before", $0 }' "$TMP/out")" "$err"
done

# and as the kernel engine
[ "$(id -u)" = 0 ] && "$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' >/dev/null 2>&1 || exit
for policy in ring fill; do
	for n in 10 100 3000; do
		for engine in process bpf; do
			rm -f "$TMP/$engine"
			"$DTRACE" -x engine=$engine -x evaltime=postinit -x bufpolicy=$policy -x bufsize=1k -o "$TMP/$engine" -c "$TMP/buffers $n" \
				-qn "$number" >/dev/null 2>"$TMP/$engine.err" </dev/null
			echo "$?" >>"$TMP/$engine"
		done
		[ $policy = fill ] || expect "$(tail -c 100 "$TMP/bpf")" "$(tail -c 100 "$TMP/process")" "$policy, $n"
		expect "$(tail -1 "$TMP/bpf")" "$(tail -1 "$TMP/process")" "$policy, $n"
		expect "$(cat "$TMP/bpf.err")" "$(cat "$TMP/process.err")" "$policy, $n"
	done
done

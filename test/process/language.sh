# The process engine prints for every .d test of the language what the interpreter does, where BEGIN is a probe in a process.
# Left out are tests about what differs there: names of the probe, the process, stacks, time.
# needs: gcc
# timeout: 600
. "$SRC/test/lib.bash"
build victim process/victim.c -lpthread
other='tick|profile|pid[0-9$]|probe(name|func|prov|mod)|stack|execname|\bpid\b'
n=0 refused=0
for test in "$SRC"/test/{subr,agg,printf,lang,action,var}/*.d; do
	options=$(sed -n 's|^// run: *||p' "$test")
	case " $options " in *" -q "*) ;; *) continue ;; esac
	grep -qE '^(dtrace:::)?BEGIN' "$test" && ! grep -qE "$other" "$test" || continue
	sed -E 's/^(dtrace:::)?BEGIN/pid$target:a.out:once:entry/' "$test" >"$TMP/inside.d"
	rm -f "$TMP/want" "$TMP/got"
	# shellcheck disable=SC2086
	"$DTRACE" -x engine=vm $options -o "$TMP/want" -s "$test" >"$TMP/own" 2>"$TMP/err1" </dev/null
	want=$?
	# shellcheck disable=SC2086
	"$DTRACE" -x engine=process -x evaltime=postinit $options -o "$TMP/got" -s "$TMP/inside.d" -c "$TMP/victim -n 1" >"$TMP/own" 2>"$TMP/err2" </dev/null
	got=$?
	if grep -q 'engine=process: .* is not available' "$TMP/err2"; then
		refused=$((refused + 1))
		continue
	fi
	n=$((n + 1))
	expect "$want $(cat "$TMP/want" 2>&1)" "$got $(cat "$TMP/got" 2>&1)" "$test"
done
[ $n -ge 100 ] || { echo "only $n tests"; count_failure; }
[ $refused -le 8 ] || { echo "$refused tests use what is not available"; count_failure; }

# The process engine comes and goes while programs compute, sleep, wait, read and take signals, on a busy machine; they notice nothing,
# and not one byte of their code is changed in the end. ATTACHES=1000 for a long run.
# needs: gcc python3
# timeout: 3600
. "$SRC/test/lib.bash"
build waits process/waits.c -lpthread
own_libraries "$TMP/waits"
kinds=(spin sleep poll wait read signal)
attaches=${ATTACHES:-$(scale 12)}
at_end 'touch "$TMP/stop"; kill $load ${pids[*]} 2>/dev/null'
nice -n 19 sh -c 'while :; do :; done' &
load=$!
pids=()
for kind in "${kinds[@]}"; do
	LD_LIBRARY_PATH="$TMP/lib" "$TMP/waits" $kind "$TMP/stop.$kind" >"$TMP/$kind.out" &
	pids+=($!)
done
counted() { od -An -td8 "$TMP/stop.$1.count" 2>/dev/null | tr -d ' '; }
runs() { [ "$(counted "$1")" -gt "$2" ] 2>/dev/null; }
for kind in "${kinds[@]}"; do wait_for 20 runs $kind 0; done
for i in $(seq "$attaches"); do
	k=$((i % ${#kinds[@]}))
	"$DTRACE" -x engine=process -qn 'pid$target:a.out:work:entry { @ = count(); } pid$target:libc.so.6:*poll*:,pid$target:libc.so.6:*wait*:entry { @a = count(); }
		pid$target:a.out:work:entry /++n == 2/ { exit(0); }' -p "${pids[k]}" >"$TMP/out" 2>"$TMP/err" </dev/null
	expect 0 $? "$i, ${kinds[k]}: $(cat "$TMP/err")"
	kill -0 "${pids[k]}" || break
done
for k in "${!kinds[@]}"; do
	kind=${kinds[k]}
	wait_for 20 runs $kind "$(counted $kind)"
	expect "" "$(python3 "$SRC/test/process/text.py" "${pids[k]}")" "$kind"
	touch "$TMP/stop.$kind"
	wait "${pids[k]}"
	expect "0 end" "$? $(cat "$TMP/$kind.out")" "$kind"
done

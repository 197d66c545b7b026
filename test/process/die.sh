# The process engine: dtrace is killed after each step of getting in and out in turn, alone or with its keeper, and the keeper after
# each of its own. The target goes on with its own registers, and without a system call that fails; if there is a keeper, nothing
# of dtrace is left. Some of the steps; STEPS=all for all of them.
# needs: gcc python3
# timeout: 3600
. "$SRC/test/lib.bash"
sanitized && skip "a library is loaded before that of the sanitizer"
build waits process/waits.c -lpthread
build die.so process/die.c -shared -fPIC -ldl
kinds=(spin sleep poll read signal)
stride=$([ "${STEPS-}" = all ] && echo 1 || echo 23)
counted() { od -An -td8 "$TMP/$kind.stop.count" 2>/dev/null | tr -d ' '; }
gone() { ! kill -0 $pid 2>/dev/null; }
runs() { gone || [ "$(counted)" -gt "$1" ] 2>/dev/null; }
free() { gone || grep -qx 'TracerPid:	0' "/proc/$pid/status"; }
clean() { gone || { free && [ -z "$(python3 "$SRC/test/process/text.py" "$pid")" ]; }; }
patched() { python3 "$SRC/test/process/text.py" "$pid" | grep -q 'in the file'; }
at_end 'kill $pid 2>/dev/null'
begin() { # N: a target
	kind=${kinds[$1 % ${#kinds[@]}]}
	rm -f "$TMP/$kind.stop" "$TMP/$kind.stop.count" "$TMP/note"
	"$TMP/waits" $kind "$TMP/$kind.stop" >"$TMP/waits.out" &
	pid=$!
	wait_for 10 runs 0
}
end() { # WHAT: the target runs on, and ends as it should
	wait_for 20 runs "$(counted)"
	wait_for 20 free
	touch "$TMP/$kind.stop"
	wait $pid
	expect "0 end" "$? $(cat "$TMP/waits.out")" "$kind, $1"
}
die() { # CLAUSE NAME=VALUE...
	env LD_PRELOAD="$TMP/die.so" DIE_NOTE="$TMP/note" "${@:2}" "$DTRACE" -x engine=process -qn "pid\$target:a.out:work:entry $1" -p $pid \
		>"$TMP/out" 2>&1 </dev/null
}
killed() { [ -e "$TMP/note" ] && return; expect "0 " "$1 $(tr -d '\n' <"$TMP/out")" "the last"; return 1; }

# dtrace alone: the keeper leaves nothing behind
for ((n = 1; ; n += stride)); do
	begin $n
	die '{ exit(0); }' DIE_AT=$n
	killed $? || break
	wait_for 20 clean
	end "dtrace was killed at step $n"
done
end "it was traced"
expect 1 $((n > 100)) "there are $n steps"

# dtrace and the keeper
for ((n = 8; ; n += stride)); do
	begin $n
	die '{ exit(0); }' DIE_AT=$n DIE_BOTH=1
	killed $? || break
	end "both were killed at step $n"
done
end "it was traced"

# the keeper, after dtrace was killed while it traced
for ((n = 1; ; n += stride)); do
	begin $n
	die '{ @ = count(); }' DIE_KEEPER_AT=$n &
	tracer=$!
	wait_for 20 patched
	read -r child _ <"/proc/$tracer/task/$tracer/children"
	kill -9 ${child:-$tracer}
	wait $tracer 2>/dev/null
	noted() { [ -e "$TMP/note" ] || clean; }
	wait_for 20 noted
	[ -e "$TMP/note" ] || break
	end "the keeper was killed at step $n"
done
end "it was traced"
expect 1 $((n > 20)) "there are $n steps of the keeper"

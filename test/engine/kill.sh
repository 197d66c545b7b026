# timeout: 90
# SIGKILL of dtrace leaves nothing behind: no program, map or link in the kernel, no stopped child.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
build objects engine/objects.c -lbpf

# What processes have open: "map 12".
held_by() { grep -hsE '^(prog|map|link)_id:' "$@" | sed 's/_id:[[:space:]]*/ /' | sort -u; }
# The maps of a process, also those that only its programs know.
maps_of() {
	held_by /proc/$1/fdinfo/* >"$TMP/its"
	{ cat "$TMP/its"; "$TMP/objects" -u $(sed -n 's/^prog //p' "$TMP/its"); } | sort -u | grep ^map
}
# Programs and links that are new, and maps of the victim, that no process holds.
orphans() {
	"$TMP/objects" dt >"$TMP/after"
	held_by /proc/[0-9]*/fdinfo/* >"$TMP/held"
	awk -v held="$TMP/held" -v before="$TMP/before" -v mine="$TMP/mine" 'BEGIN {
			while ((getline x <held) > 0) has[x]
			while ((getline x <before) > 0) old[x]
			while ((getline x <mine) > 0) its[x]
		}
		!(($1 " " $2) in has) && ($1 == "map" ? $0 in its : !($0 in old))' "$TMP/after"
}
nothing_left() { [ -z "$(orphans)" ]; }
runs() { grep -q "$1" "$TMP/o" 2>/dev/null; }

kill_it() { # dtrace arguments
	"$TMP/objects" dt >"$TMP/before"
	: >"$TMP/o"
	"$DTRACE" -q "$@" >"$TMP/o" 2>"$TMP/e" </dev/null &
	victim=$!
	wait_for 20 runs up || { echo "did not start: $*"; cat "$TMP/e"; fails=1; }
	maps_of $victim >"$TMP/mine"
	expect_match . "$(cat "$TMP/mine")" "maps of $*"
	kill -KILL $victim
	wait $victim 2>/dev/null
	wait_for 20 nothing_left || { echo "left behind by $*:"; orphans; fails=1; }
}

up='BEGIN { printf("up\n"); } tick-50ms { printf("up\n"); }'
kill_it -x switchrate=50ms -n "$up"' syscall:::entry { @[execname] = count(); @n = count(); self->a = 1; b[tid] = timestamp; }'
kill_it -x switchrate=50ms -n "$up"' syscall:::entry, syscall:::return, profile-997 { @ = quantize(arg0); }'
kill_it -x switchrate=50ms -n "$up"' sdt:sched::sched_switch { @[args[2]->pid] = count(); s = speculation(); discard(s); }'
# with a child: it continues
nap=$TMP/nap$$ # a unique name: no other processes may be touched
cp "$(command -v sleep)" "$nap"
naps() { # pids of those that have not ended (awk would stop at a file that is gone)
	cat /proc/[0-9]*/stat 2>/dev/null | awk -v name="($(basename "$nap"))" '$2 == name && $3 != "Z" { print $1 }'
}
state() { awk '{ print $3 }' "/proc/$1/stat"; }
kill_it -x switchrate=50ms -c "$nap 100" -n "$up"' syscall:::entry /pid == $target/ { @ = count(); }'
expect_match '^[SR]' "$(state "$(naps)")"
kill "$(naps)"
# the ring policy, which prints nothing, and probes inside the child: it says itself that it is up
printf '#!/bin/sh\necho up\nexec %s 100\n' "$nap" >"$TMP/talk"
chmod +x "$TMP/talk"
for more in "" 'pid$target:libc.so*:write:entry, pid$target:libc.so*:execve:entry { @[probefunc] = count(); trace(timestamp); }'; do
	kill_it -x bufpolicy=ring -c "$TMP/talk" -n "syscall:::entry /pid == \$target/ { trace(timestamp); } $more"
	wait_for 20 eval '[ -n "$(naps)" ]' # it says so before it execs
	expect_match '^[SR]' "$(state "$(naps)")"
	kill "$(naps)"
done
# killed before it releases its child: the child is not left waiting
became() { # the command, or nothing
	left=$(for p in /proc/[0-9]*; do
		[[ $(tr '\0' ' ' <"$p/cmdline") == "$DTRACE -q -c $nap "* ]] && echo "${p#/proc/}"
	done 2>/dev/null)
	[ -z "$left" ]
}
for delay in 0 0.005 0.01 0.02 0.03 0.05; do
	"$DTRACE" -q -c "$nap 100" -n "$up"' syscall:::entry { @ = count(); }' >/dev/null 2>&1 </dev/null &
	victim=$!
	sleep $delay
	kill -KILL $victim
	wait $victim 2>/dev/null
	wait_for 20 became || { echo "killed after ${delay}s: a child that never became the command"; kill -KILL $left; }
	for child in $(naps); do
		expect_match '^[SR]' "$(state "$child")"
		kill "$child"
	done
done

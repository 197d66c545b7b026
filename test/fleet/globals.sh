# Global variables and arrays that several machines share: one value, changed in order of time. A check for each rule of doc/fleet.md.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
agent web-2
close="syscall::close:entry /$mine"

# One variable: every firing of every machine counts once.
fleet -qn "*:$close/ { x++; } END { printf(\"%d\n\", x); }" -c "$(load 1000)"
expect 3000 "$(xargs <"$TMP/out")" "one variable"
expect "" "$err"

# A value of one machine, used on another; arrays with keys of a machine; strings; the front's own clauses.
fleet -qn "BEGIN { who[0] = \"none\"; last = 0; }
	web-1:$close/ { first[arg0] = timestamp; who[arg0] = vmname; }
	web-2:$close/ { self->fd = arg0; }
	web-2:syscall::close:return /first[self->fd]/ { printf(\"%d %s %s %d\n\", self->fd, vmname, who[self->fd], timestamp >= first[self->fd]);
		n[execname]++; self->fd = 0; }
	$close && arg0 == 1002/ { last = arg0; }
	END { printf(\"%d %d %s\n\", last, n[\"$load\"], who[0]); }" -c "$(load 3)"
expect "1000 web-2 web-1 1
1001 web-2 web-1 1
1002 3 none
1002 web-2 web-1 1" "$(sorted)" "a value of another machine"

# Each call is seen by all machines before the next: the variable never differs by more than the machines.
fleet -qn "web-1:$close/ { x = arg0; } web-2:$close && x/ { y = arg0; printf(\"%d\n\", y - x); }" -c "$(load 300)"
expect "yes 0" "$([ "$(grep -c . "$TMP/out")" -ge 299 ] && echo yes) $(grep -c -v -E '^(|0|1)$' "$TMP/out")" "order of time"

# Names that the front knows, and those that it does not.
fleet -qn "web-*:$close && arg0 == 1000/ { x++; trace(probefunc); printf(\" %s %d %s\n\", vmname, hostid != 0, execname); }" -c "$(load 1)"
expect "close web-1 1 $load
close web-2 1 $load" "$(sorted)"

# self-> that depends on a global is kept for the thread of its machine; one that does not stays there.
fleet -qn "web-*:$close/ { x++; self->mine = arg0; } web-*:$close && x > 0/ { self->on = x; }
	web-*:$close && self->on/ { @[vmname, self->on > 0, self->mine == arg0] = count(); }" -c "$(load 50)"
expect "web-1 1 1 50
web-2 1 1 50" "$(sorted)" "self->"

# this-> lasts for the clauses of one firing.
fleet -qn "web-*:$close/ { x++; this->n = x; this->a = arg0; } web-*:$close/ { @[this->n > 0, this->a == arg0] = count(); }" -c "$(load 50)"
expect "1 1 100" "$(sorted)" "this->"

# Aggregations of such clauses, and those of others with the same name, add up. Stacks are the machine's.
fleet -qn "web-1:$close/ { @a[stack(1)] = count(); } web-2:$close && x++ < 10/ { @a[stack(1)] = count(); @m = max(x); }" -c "$(load 30)"
expect "10 40" "$(awk 'NF == 1 && $1 ~ /^[0-9]+$/' "$TMP/out" | sort -n | xargs)" "aggregations"

# if, loops and switch.
fleet -qn "web-1:$close/ { x = arg0; if (x % 2) { odd++; } else { even++; even++; } for (this->i = 0; this->i < 3; this->i++) { rounds++; }
	switch (x) { case 1004: found = 1; break; default: others++; } }
	END { printf(\"%d %d %d %d %d\n\", odd, even, rounds, found, others); }" -c "$(load 10)"
expect "5 10 30 1 9" "$(xargs <"$TMP/out")" "control flow"

# Functions, with arguments of the machine and of the front.
fleet -qn "inline int64_t twice(int64_t a, int64_t b) { return (a * 2 + b); }
	web-1:$close && arg0 == 1003/ { x++; printf(\"%d %d %d\n\", twice(arg0, x), twice(x, arg0), twice(arg0, 1)); }" -c "$(load 5)"
expect "2007 1005 2007" "$(xargs <"$TMP/out")" "functions"

# A speculation of one machine, committed by another.
fleet -qn "web-1:$close/ { s[arg0] = speculation(); speculate(s[arg0]); printf(\"%d\n\", arg0); }
	web-2:$close/ { self->fd = arg0; }
	web-2:syscall::close:return /s[self->fd] && self->fd % 2/ { commit(s[self->fd]); s[self->fd] = 0; }
	web-2:syscall::close:return /s[self->fd]/ { discard(s[self->fd]); s[self->fd] = 0; }" -x nspec=64 -c "$(load 20)"
expect "$(seq 1001 2 1019)" "$(sorted)" "speculations"

# exit() in the front's part ends the session with that status; nothing later runs.
fleet -qn "web-*:$close/ { x++; printf(\"%d\n\", x); } web-*:$close && x == 5/ { exit(7); } END { printf(\"end %d\n\", x); }" -c "$(load 1000)"
expect "7 5 end 5" "$status $(grep -c '^[0-9]' "$TMP/out") $(grep end "$TMP/out")" "exit()"

# A fault in the front's part is one of that clause, and fires ERROR of the front.
fleet -qn "BEGIN { zero = 0; } web-1:$close && arg0 == 1001/ { printf(\"%d\n\", arg0 / zero); } ERROR { faults++; printf(\"error %d\n\", arg4); }
	END { printf(\"%d\n\", faults); }" -c "$(load 3)"
expect "error 4
1" "$(grep -v '^$' "$TMP/out")" "ERROR"
expect_match 'divide-by-zero' "$err"

# A fault in the machine's part is the machine's, and the front's part does not run.
fleet -qn "BEGIN { x = 1; } web-1:$close && arg0 == 1001/ { x += *(int *)arg0; } web-1:dtrace:::ERROR { printf(\"there\n\"); } END { printf(\"%d\n\", x); }" -c "$(load 3)"
expect "there 1" "$(xargs <"$TMP/out")" "a fault at the machine"

# A predicate of globals alone, no statements; objects in variables; formats.
fleet -n "web-1:$close/ { x++; } web-2:$close && arg0 == 1002 && x/ { }" -c "$(load 3)"
expect_match 'close:entry' "$out"
fleet -x oformat=ndjson -n "web-1:$close && arg0 < 1002/ { x++; trace(arg0); trace(execname); }" -c "$(load 3)"
expect 2 "$(lines "\"$load\"")" "ndjson"

fleet -O perfetto -o "$TMP/trace.pb" -n "web-1:$close/ { x++; trace(arg0); } web-2:$close/ { trace(execname); }" -c "$(load 3)"
expect "0 yes" "$status $([ -s "$TMP/trace.pb" ] && echo yes)" "a format that shows threads"

# What cannot be done is refused.
refused() { # PATTERN PROGRAM...
	local pattern=$1
	shift
	fleet "$@"
	expect 1 "$status" "$*"
	expect_match "$pattern" "$err"
}
refused 'a destructive action runs on its machine' -wn "web-1:$close && x++/ { raise(9); }"
refused 'it cannot use what is kept at the front' -n "web-1:$close/ { x = arg0; sym(x); }"
refused 'an earlier program of this session uses it on one machine' -n 'BEGIN { x = 1; }' -n "web-1:$close/ { x++; }"

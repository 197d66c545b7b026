# The lockstat provider: waits for locks of the kernel, against the tracepoints they use; acquire and release add up.
# timeout: 300
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
watch lockstat
build locks providers/locks.c -lpthread
n=$(scale 2000)
at_least() { [ "$(value "$1")" -ge "$2" ] || { echo "$3: $1 is $(value "$1"), expected at least $2"; cat "$TMP/out"; count_failure; }; }

# ---- every wait of a thread that began and ended is one probe: of the kind that the flags say, and not longer than it took ----
# (sdt fires first at an event that both have, so what it knows of a wait is kept until the next one)
cat >"$TMP/all.d" <<'D'
self uint64_t t[uint64_t]; self int slept[uint64_t], f[uint64_t], over[uint64_t];
sdt:::contention_begin /pid == $target && self->over[arg0]/ { self->over[arg0] = 0; self->t[arg0] = 0; self->slept[arg0] = 0; }
sdt:::contention_begin /pid == $target/ {
	self->t[arg0] = self->t[arg0] ? self->t[arg0] : timestamp; self->f[arg0] = arg1;
	self->slept[arg0] = self->slept[arg0] || !(arg1 & 1);
}
sdt:::contention_end /pid == $target && self->t[arg0]/ { @n["ends"] = sum(1); self->over[arg0] = 1; }
lockstat:::adaptive-block /pid == $target && self->t[arg0]/ { @n["block"] = sum(1); @bad["block"] = sum(!self->slept[arg0] || arg1 > timestamp - self->t[arg0]); }
lockstat:::adaptive-spin /pid == $target && self->t[arg0]/ { @n["aspin"] = sum(1); @bad["aspin"] = sum(self->slept[arg0] || arg1 > timestamp - self->t[arg0]); }
lockstat:::spin-spin /pid == $target && self->t[arg0]/ { @n["spin"] = sum(1); @bad["spin"] = sum(self->f[arg0] != 1 || arg1 > timestamp - self->t[arg0]); }
lockstat:::rw-spin /pid == $target && self->t[arg0]/ { @n["rwspin"] = sum(1); @bad["rwspin"] = sum((self->f[arg0] & 7) < 3); }
lockstat:::rw-block /pid == $target && self->t[arg0]/ { @n["rw"] = sum(1); @n[arg2 ? "reader" : "writer"] = sum(1); @n[arg3 ? "by-writer" : arg4 ? "by-readers" : "by-none"] = sum(1);
	@bad["rw"] = sum(arg2 != ((self->f[arg0] & 2) != 0) || arg3 > 1 || arg4 > 100 || arg1 > timestamp - self->t[arg0]); }
END { printa("%s %@d\n", @n); printa("bad-%s %@d\n", @bad); }
D
# All of that is true in every run. Which kinds of waits there are in one is chance: it runs until each has been there.
all_kinds() {
	ktrace -q -s "$TMP/all.d" -c "$TMP/locks $n"
	expect 0 "$status" "$err"
	# the tracer's own maps have locks; a wait for one of those inside a probe is not seen, and counts as a drop
	expect "" "$(grep -vE 'drops? on CPU' <<<"$err")" messages
	all=$(($(value block) + $(value aspin) + $(value spin) + $(value rw) + $(value rwspin)))
	drops=$(lost "drops? on CPU")
	[ $((all - $(value ends))) -le "$drops" ] && [ $(($(value ends) - all)) -le "$drops" ] ||
		{ echo "waits: $all of $(value ends), $drops drops"; cat "$TMP/out"; count_failure; }
	for p in block aspin spin rw; do expect 0 "$(value bad-$p)" "$p"; done
	expect "$(value rw)" $(($(value reader) + $(value writer))) "rw-block"
	for p in block aspin spin rw reader writer by-writer; do [ "$(value $p)" = 0 ] || seen[$p]=1; done
	[ ${#seen[@]} = 7 ]
}
declare -A seen
[ "$(nproc)" = 1 ] || wait_for 60 all_kinds
# spinning readers and writers: the list of all processes
spun() {
	ktrace -q -n 'lockstat:::rw-spin { @["rw-spin"] = count(); } END { printa("%s %@d\n", @); }' \
		-c "bash -c 'for k in 1 2 3 4; do (for ((i = 0; i < $(scale 600); i++)); do (exit 0); done) & done; wait'"
	expect 0 "$status" "rw-spin: $err"
	[ "$(value rw-spin)" != 0 ]
}
[ "$(nproc)" = 1 ] || wait_for 60 spun

# ---- acquire and release ----
if listed adaptive-acquire; then
	cat >"$TMP/acquire.d" <<-'D'
	lockstat:::adaptive-acquire /pid == $target/ { @n["taken"] = sum(1); self->d++; @bad["taken"] = sum(args[0]->owner.counter == 0); }
	lockstat:::adaptive-release /pid == $target/ { @n["given"] = sum(1); @bad["given"] = sum(((uint64_t)args[0]->owner.counter & ~7) != (uint64_t)curthread); }
	lockstat:::rw-acquire /pid == $target/ { @n[arg1 ? "reads" : "writes"] = sum(1); }
	lockstat:::rw-release /pid == $target/ { @n[arg1 ? "read" : "written"] = sum(1); }
	lockstat:::rw-downgrade /pid == $target/ { @n["downgraded"] = sum(1); }
	END { printa("%s %@d\n", @n); printa("bad-%s %@d\n", @bad); }
	D
	ktrace -q -s "$TMP/acquire.d" -c "$TMP/locks $(scale 200) 2"
	expect 0 "$status" "$err"
	for p in taken given reads read writes written; do at_least $p 1 acquire; done
	# what is acquired is released, except for a few that others acquire or release
	balance() { [ $(($1 - $2)) -le $(($1 / 20 + 5)) ] && [ $(($2 - $1)) -le $(($1 / 20 + 5)) ] || { echo "$3: $1 taken, $2 given back"; cat "$TMP/out"; count_failure; }; }
	balance "$(value taken)" "$(value given)" mutexes
	balance $(($(value reads) + $(value downgraded))) "$(value read)" readers
	balance $(($(value writes) - $(value downgraded))) "$(value written)" writers
	expect 0 "$(value bad-taken)" owner
	expect 0 "$(value bad-given)" owner
	# a probe for each function
	"$DTRACE" -lvn lockstat::mutex_lock:adaptive-acquire >"$TMP/out"
	expect_match 'lockstat +vmlinux +mutex_lock adaptive-acquire' "$(cat "$TMP/out")"
	expect "Unknown ISA" "$(echo $(sed -n 's/.*Dependency Class: //p' "$TMP/out"))" "classes"
	ktrace -q -n 'lockstat:::*-acquire /pid == $target/ { @[probefunc] = count(); } END { printa("%s %@d\n", @); }' -c "$TMP/locks 50 2"
	for p in mutex_lock down_read down_write; do at_least $p 1 function; done
else
	"$DTRACE" -n 'lockstat:::adaptive-acquire { exit(0); }' 2>"$TMP/err" && count_failure
	grep -q 'lockstat::mutex_lock:adaptive-acquire needs tracing of the kernel function mutex_lock: this kernel ' "$TMP/err" || { echo "no reason"; cat "$TMP/err"; count_failure; }
fi

"$DTRACE" -n 'lockstat:::spin-acquire { exit(0); }' 2>"$TMP/err" && count_failure
expect_match 'lockstat:::spin-acquire needs tracing of _raw_spin_lock' "$(cat "$TMP/err")"

expect "args[0]: struct rw_semaphore *
args[1]: uint64_t
args[2]: int
args[3]: int
args[4]: int" "$("$DTRACE" -lvn lockstat:::rw-block | sed -n 's/^.*\(args\[\)/\1/p')" "-lv"
expect "Unknown ISA" "$(echo $("$DTRACE" -lvn lockstat:::rw-block | sed -n 's/.*Dependency Class: //p'))" "classes"
for p in adaptive-block adaptive-spin spin-spin rw-block rw-spin; do
	listed $p || { echo "$p is missing"; count_failure; }
done
one_cpu=
[ "$(nproc)" -gt 1 ] || one_cpu='(adaptive-spin|spin-spin|rw-spin)$: who spins waits for another CPU'
rare='(killable|interruptible|trylock):.*-acquire$: few places of the kernel take locks so'
fired "$rare" ${one_cpu:+"$one_cpu"}

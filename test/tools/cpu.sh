# Tools about CPUs, the scheduler and interrupts.
# timeout: 120
# needs: root bpf btf gcc taskset
. "$SRC/test/lib.bash"
. "$SRC/test/tools/lib.bash"

# Each time that it sleeps, a wake-up follows: one wait for a CPU at least. Others may take the CPU away, so that there are
# more. Some kernels run no program while process 1 is the current one (doc/kernel-engine.md): neither a switch from it to the
# load is seen, nor a wake-up by an interrupt then. So beside each tool is counted how often the load is seen to get a CPU, and
# how often after it was seen to wait. The first time may have no time before it.
n=20
beside="sched:::enqueue { _waits[args[0]->pr_lwpid] = 1; }
	sched:::on-cpu /progenyof(\$target) && execname == \"$name\"/ { @_n[\"_on\"] = count(); }
	sched:::on-cpu /progenyof(\$target) && execname == \"$name\" && _waits[tid]/ { @_n[\"_waited\"] = count(); }
	sched:::on-cpu /_waits[tid]/ { _waits[tid] = 0; }
	END { printa(\"%s %@d\\n\", @_n); }"
often() { [ "$(value "$1")" -ge $((n / 4)) ] || want "at least $((n / 4)) times" "$(value "$1")" "$1"; }
seen() { # COUNT, what: as often as the load has got a CPU
	often _on
	[ "$1" -ge $(($(value _on) - 1)) ] || want "at least $(($(value _on) - 1))" "$1" "${2-}"
}
waited() { # COUNT: as often as it was seen to wait
	often _waited
	want "$(value _waited)" "$1"
}
tool runqlat "$name" -x argref -n "$beside" -- switch $n
waited "$(samples)"
tool runqlat nosuchname -- switch $n
want 0 "$(samples)" "another name"
tool runqslower 0 "$name" -x argref -n "$beside" -- switch $n
waited "$(rows "^[0-9]+ [0-9]+ [0-9]+ $name [0-9]+\$")"
tool cpudist "$name" -x argref -n "$beside" -- switch $n
seen "$(samples)"
tool cpudist "$name" 1 -x argref -n "$beside" -- switch $n
seen "$(samples)" off

tool cpuwalk "$name" -x argref -n "$beside" -- /usr/bin/taskset -c 0 "$TMP/$name" switch $n
want 0 "$(sum 4 "^[0-9]+ $name [1-9]")" "other CPUs than 0"
seen "$(sum 4 "^[0-9]+ $name 0 ")"
if [ "$(nproc)" -gt 1 ]; then
	tool migrations "$name" -- /usr/bin/taskset -c 0 "$TMP/$name" move $n
	want $((n / 2)) "$(sum 5 "^[0-9]+ $name 0 1 ")" "from 0 to 1"
	want $((n / 2)) "$(sum 5 "^[0-9]+ $name 1 0 ")" "from 1 to 0"
fi

# 99 samples in a second of CPU time. Where others have most of the CPU, each tick hits us or them by chance, and some are lost where
# the clock of the machine stumbles: half as many or half more is rare, and then once more. Another rate would be wrong each time.
sampled() { # HOW TO COUNT, FLAGS...
	tool profile "$name" 1 "${@:2}" -- spin 50
	k=$(eval "$1")
	[ "$k" -ge 25 ] && [ "$k" -le 75 ]
}
wait_for 30 sampled "sum 1 '^[0-9]+ samples\$'" || want "about 50" "$k"
[ "$(rows '`spins')" -ge 1 ] || want "a stack with spins" "$(rows spins)"
tool hotuser "$name" -- spin 50
want spins "$(squeezed | sed -n '3s/.*`//p')" "the hottest function"
tool hotkernel "$name" -- spin 50
want "Sampling at 999 Hz... Ctrl-C ends." "$(head -n 1 "$TMP/out")"

# waits of a millisecond in nanosleep(); shorter ones where the machine stumbles between the start of the timer and the sleep,
# and some are not seen (see above)
tool offcputime "$name" 500 -- switch $n
k=$(awk '/nanosleep/ { s = 1 } s && NF == 1 && $1 ~ /^[0-9]+$/ { t += $1; s = 0 } END { print t + 0 }' "$TMP/out")
[ "$k" -ge $((n * 250)) ] || want "at least $((n * 250)) us" "$k"
tool wakeuptime "$name" -- switch $n
k=$(awk -v w="wakes $name" 'index($0, w) { s = 1 } s && NF == 1 && $1 ~ /^[0-9]+$/ { t += $1; s = 0 } END { print t + 0 }' "$TMP/out")
[ "$k" -ge $((n * 250)) ] || want "at least $((n * 250)) us" "$k"

# the same as flame graphs: folded stacks add up to the same numbers, and the page is drawn from them
folded() { awk -v p="$1" 'index($0, p) && $NF ~ /^[0-9]+$/ { n += $NF } END { print n + 0 }' "$TMP/out"; }
wait_for 30 sampled "folded ';$name\`spins'" -O folded || want "about 50" "$k" folded
tool offcputime "$name" 500 -O folded -- switch $n
[ "$(folded nanosleep)" -ge $((n * 250)) ] || want "at least $((n * 250))" "$(folded nanosleep)" folded
tool wakeuptime "$name" -O folded -- switch $n
[ "$(folded "$name")" -ge $((n * 250)) ] || want "at least $((n * 250))" "$(folded "$name")" folded
for t in profile offcputime wakeuptime; do
	tool $t "$name" -O flamegraph -o "$TMP/$t.html" -- sleep $n
	want 1 "$(grep -c '</html>' "$TMP/$t.html")" "a page"
done

# what the kernel itself has counted: before and after tracing is more, but not less than what was seen
counted() { awk -v k="$1" '$1 == k { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' "$2"; }
before=$(counted SCHED: /proc/softirqs)
tool softirqs 1 -- sleep $n
k=$(sum 2 '^SCHED ')
after=$(counted SCHED: /proc/softirqs)
[ "$k" -le $((after - before)) ] || want "at most $((after - before))" "$k"
want "$(awk '/^[A-Z_]+ +[0-9]+ +[0-9]+ +[0-9]+$/ { n += $2 } END { print n + 0 }' "$TMP/out")" "$(samples)" "distribution and table"
before=$(awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) n += $i } END { print n + 0 }' /proc/interrupts)
tool hardirqs -- /bin/dd if=/dev/zero of="$TMP/file" bs=64k count=16 conv=fsync status=none
after=$(awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) n += $i } END { print n + 0 }' /proc/interrupts)
k=$(sum 3 '^[0-9]+ .* [0-9]+ [0-9]+ [0-9]+$')
[ "$k" -le $((after - before)) ] || want "at most $((after - before))" "$k"

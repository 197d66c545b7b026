# timeout: 120
# The cpc provider: its counts agree with getrusage(); invalid names are explained.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build faults engine/faults.c
n=$(scale 2000)
window='self int on; syscall::getpgid:entry /pid == $target/ { self->on = !self->on; }'

ktrace -q -c "$TMP/faults $n" -n "$window
	cpc:::page-faults-user-1, cpc:::page-faults-kernel-1 /self->on/ { @[\"faults\"] = count(); }
	cpc:::context-switches-all-1 /self->on/ { @[\"switches\"] = count(); }
	cpc:::page-faults-user-1 /self->on && arg0 == 0 && arg1 != 0/ { @u[\"user\"] = count(); }"
expect 0 "$status" "$err"
expect "" "$err"
read -r _ faults _ switches <<<"$(grep ^faults "$TMP/out")"
[ "$faults" -ge "$n" ] || { echo "only $faults faults"; fails=1; }
expect "$faults" "$(total '^  faults')" "page faults"
# (a switch between reading the counters and the call that opens or closes the window is in one of them only)
seen=$(total '^  switches')
[ $((seen - switches)) -ge -2 ] && [ $((seen - switches)) -le 2 ] || { echo "context switches: $seen instead of $switches"; fails=1; }
[ "$(total '^  user')" -ge "$n" ] || { echo "too few faults of the program itself: $out"; fails=1; }

# every tenth of each CPU, in any process; those before the first and after the last are less than ten
ktrace -q -c "$TMP/faults $n" -n 'cpc:::minor-faults-all-10 { @t[cpu] = count(); } cpc:::minor-faults-all-1 { @n[cpu] = count(); }
	END { printa("all %d %@d\n", @n); printa("tenth %d %@d\n", @t); }'
expect "0 " "$status $err"
expect "" "$(awk '$1 == "all" { n[$2] = $3 } $1 == "tenth" { t[$2] = $3 } END { for (c in n) { d = n[c] - 10 * t[c]; if (d > 10 || d < -10) print n[c], t[c] } }' "$TMP/out")" "every tenth"
[ "$(total '^all')" -ge "$n" ] || { echo "only $(total '^all') faults"; fails=1; }

# the listed ones are available; time passes
ktrace -l -P cpc
expect 0 "$status" "$err"
for name in page-faults-all-1 context-switches-all-1 cpu-clock-all-10000000 task-clock-all-10000000; do
	expect_match " cpc +$name\$" "$out"
done
id=$(awk '/page-faults-all-1$/ { print $1 }' "$TMP/out")
ktrace -l -i "$id"
expect_match " cpc +page-faults-all-1\$" "$out"
ktrace -qn 'cpc:::cpu-clock-all-10000000 { exit(0); }'
expect 0 "$status" "$err"

bad() { # name, why
	ktrace -n "cpc:::$1"
	expect 1 "$status"
	expect_match "$2" "$err"
}
bad nothing 'is not event-mode-count'
bad page-fautls-user-1 'did you mean "page-faults"'
bad page-faults-both-1 'mode user, kernel or all'
bad page-faults-user-0 'too small for page-faults: at least 1'
bad cycles-user-100 'too small for cycles: at least 5000'
bad PAPI_tot_ins-user-100 'at least 5000'
bad page-faults-user-0x10-5 'only events by number'

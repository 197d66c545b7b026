# timeout: 240
# bufpolicy=ring under load: of each CPU exactly the newest records that bufsize holds, in order, without a gap; nothing
# printed before the end, nothing counted as lost.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
cpus=$(nproc) threads=$((2 * $(nproc))) n=$(scale 50000)

# Lines "R cpu thread number time before", `before` being the time of the thread's last record before this one. Of each
# CPU there must be `want` records (or all of them); of each thread those up to the last one, and what is
# missing of it must be older than all that is there. last=0: threads were cut short, any number may be
# the last, and the record of exit() has the room of one.
tail_of() { # what, want, last number, "committed": those are in order of their commits, which are not shown
	expect "" "$(awk -v want="$2" -v last="$3" -v committed="${4-}" '
		/^R / {
			if ($5 < time && !committed) print "out of order: " $0
			time = $5
			if (!($2 in oldest)) oldest[$2] = $5
			if ($3 in number) { if ($4 != number[$3] + 1) print "gap after " number[$3] ": " $0 }
			else { cpu[$3] = $2; before[$3] = $6; first[$3] = $4 }
			number[$3] = $4
			count[$2]++
		}
		END {
			for (t in number) {
				if (last && number[t] != last) print "thread " t " ends at " number[t]
				if (first[t] && before[t] >= oldest[cpu[t]]) print "thread " t " begins late, at " first[t]
			}
			for (c in count) if (count[c] != want && (last || count[c] != want - 1)) print "CPU " c ": " count[c] " records"
			if (!time) print "no records"
		}' "$TMP/out")" "$1"
}

# A record of five numbers costs 16 + 8 * 5 = 56 bytes.
record='printf("R %d %d %d %d %d\n", (uint64_t)cpu, (uint64_t)tid, (uint64_t)arg, timestamp, self->t); self->t = timestamp;'
for records in 10 150 1000; do
	ktrace -x bufpolicy=ring -x bufsize=$((56 * records)) -q -c "$TMP/load -t $threads -n $n -k $n" -n "self uint64_t t;
		syscall::getpriority:entry /pid == \$target/ { ${record//(uint64_t)arg,/arg1,} } profile-997 { @ = count(); }"
	expect 0 "$status"
	expect "" "$err"
	tail_of "system calls, $records records" "$records" $((n - 1))
done
# places in user code: there firings are preempted, and some may sleep
for more in '' 'this->x = copyin(arg0 & 0, 0);'; do
	ktrace -x bufpolicy=ring -x bufsize=$((56 * 100)) -q -c "$TMP/load -t $threads -n $(scale 20000) -u" -n "self uint64_t t;
		pid\$target:load:place:entry { $more ${record//(uint64_t)arg,/arg0,} }"
	expect 0 "$status"
	expect "" "$err"
	tail_of "user code" 100 $(($(scale 20000) - 1))
done
# ended in the middle of it, by many threads that are preempted while they write, when each CPU has had more than enough
counting= full=1
IFS=, read -ra ranges <<<"$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/self/status)"
for range in "${ranges[@]}"; do
	for id in $(seq "${range%-*}" "${range#*-}"); do
		counting+=" pid\$target:load:place:entry /cpu == $id/ { n$id++; }" full+=" && n$id > 100"
	done
done
for i in 1 2 3; do
	ktrace -x bufpolicy=ring -x bufsize=$((56 * 20)) -q -c "$TMP/load -t $((4 * threads)) -n 100000000 -u" -n "self uint64_t t;
		pid\$target:load:place:entry { ${record//(uint64_t)arg,/arg0,} } $counting tick-$((97 * i))ms /$full/ { exit(0); }"
	tail_of "user code, cut short" 20 0
done

# speculations: every second record is committed, all of them count as what they are, records of that time
n=$(scale 20000)
ktrace -x bufpolicy=ring -x bufsize=$((56 * 300)) -x nspec=$threads -q -c "$TMP/load -t $threads -n $n -k $n" -n "self uint64_t t;
	syscall::getpriority:entry /pid == \$target && arg1 % 2/ { ${record//(uint64_t)arg,/arg1,} }
	syscall::getpriority:entry /pid == \$target && arg1 % 2 == 0/ { self->s = speculation(); }
	syscall::getpriority:entry /self->s/ { speculate(self->s); ${record//(uint64_t)arg,/arg1,} }
	syscall::getpriority:entry /self->s/ { commit(self->s); self->s = 0; }"
expect 0 "$status"
if [ -z "$err" ]; then
	tail_of "speculations" 300 $((n - 1)) committed
else # the consumer takes these one by one, and may be too slow
	expect "" "$(grep -v 'drops\? on CPU\|failed speculation' <<<"$err")" "speculations"
fi
# strings, faults, ERROR and END: the remaining records are those of the interpreter
script='BEGIN { s = "abcdefghij"; }'
for i in $(seq 60); do
	script+=" BEGIN { printf(\"$i %s\\n\", substr(s, $((i % 10)))); } BEGIN { printf(\"$i\\n\"); trace(*(int *)0); } BEGIN { trace($i); trace(s); }"
done
script+=' BEGIN { exit(3); } ERROR { printf("e %d\n", arg4); } END { printf("end\n"); }'
for size in 10k 20k 50k 200k 4m; do
	options="-x bufpolicy=ring -x bufsize=$size -x strsize=4k"
	ktrace $options -qn "$script"
	expect 3 "$status"
	"$DTRACE" -x engine=vm $options -qn "$script" >"$TMP/vm.out" 2>"$TMP/vm.err"
	expect "$(cat "$TMP/vm.out")" "$(cat "$TMP/out")" "as the interpreter, bufsize=$size"
	expect "$(cat "$TMP/vm.err")" "$err" "faults as the interpreter, bufsize=$size"
done

# The process engine: a target that writes anything into the memory that it shares with dtrace lies to its own tracer, and nothing else:
# dtrace ends, and not by a signal. RUNS=500 for a long run.
# needs: gcc python3
# timeout: 600
. "$SRC/test/lib.bash"
build scribbler process/scribbler.c -lpthread
# All that is in that memory: records of numbers and strings in several parts, faults, keys of both kinds, all variables, speculations.
cat >"$TMP/all.d" <<'D'
BEGIN { g = 1; a["begin"] = 1; s = "begin"; spec = speculation(); }
pid$target:a.out:work:entry { g++; self->n++; a[copyinstr(arg1)]++; s = copyinstr(arg1); self->s = s; }
pid$target:a.out:work:entry { @[copyinstr(arg1), arg0 & 7] = count(); @q = quantize(arg0); @v[self->n & 3] = avg(arg0); }
pid$target:a.out:work:entry { printf("%s %d %s\n", copyinstr(arg1), g, self->s); if (g & 1) { trace(arg0); } else { trace(s); } }
pid$target:a.out:work:entry /(g & 63) == 0/ { trace(*(userland char *)0); }
pid$target:a.out:work:entry { speculate(spec); printf("guess %s\n", s); }
pid$target:a.out:work:return { @r[arg1 & 3] = sum(1); }
tick-1ms { g++; a["tick"]++; a[s]--; s = strjoin(s, "x"); printf("tick %s %d %d\n", s, g, a["text"]); @t[s] = count(); }
profile-199 { @p[self->s] = count(); }
END { printf("end %d %d %s\n", g, a["text"], s); }
END { commit(spec); }
D
# The status is a lie as well, if it has written where exit() is noted: what counts is that no signal ended dtrace, and that it ended.
ended() {
	python3 -c 'import subprocess, sys
try: print("by a signal" if subprocess.run(sys.argv[3:], stdout=open(sys.argv[1], "w"), stderr=open(sys.argv[2], "w"), timeout=600).returncode < 0 else "")
except subprocess.TimeoutExpired: print("not at all")' "$TMP/out" "$TMP/err" "$@"
}
lines=0
for seed in $(seq "${RUNS:-$(scale 6)}"); do
	how=$(ended "$DTRACE" -x engine=process -x evaltime=postinit -q -o "$TMP/records" -s "$TMP/all.d" -c "$TMP/scribbler $seed 200")
	lines=$((lines + $(wc -l <"$TMP/records")))
	expect "" "$how" "seed $seed: dtrace ended: $(head -c 2000 "$TMP/err")"
	expect "" "$(grep -E 'Sanitizer|runtime error' "$TMP/err")" "seed $seed"
done
[ $lines -gt 100 ] || { echo "only $lines lines: $(cat "$TMP/err")"; count_failure; }

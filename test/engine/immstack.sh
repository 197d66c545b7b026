# immstack(): the frames of stack() as text that the kernel has made, as a value and as a key; options immstackframes
# and immstackstrsize; output formats.
# needs: root bpf python3
. "$SRC/test/lib.bash"
where='sdt:sched::sched_switch /pid == $target/'
names() { sed "s/^ *//; s/^[^\`]*\`//" | grep -v '^[0-9]*$'; }

ktrace -qn "$where { @[immstack()] = count(); }
	$where { @s[stack()] = count(); } END { printa(@); printf(\"--\\n\"); printa(@s); }" -c 'sleep 0.05'
expect "$(sed '1,/^--/d' "$TMP/out" | names | sort)" "$(sed '/^--/,$d' "$TMP/out" | names | sort)" "the frames of stack()"
expect_match '^ +[a-z_0-9]*nanosleep[a-z_0-9]*\+0x[0-9a-f]+$' "$out" "a frame"
expect 0 "$(sed '/^--/,$d' "$TMP/out" | grep -c '[]`/[]')" "no module, no size"
expect "$(lines '^ +[0-9]+$')" "$(($(sed '/^--/,$d' "$TMP/out" | grep -cE '^ +[0-9]+$') * 2))" "as many keys"

# printed, with one frame after the other; the probes of the tracer have none
ktrace -qn "BEGIN { immstack(); printf(\"--\\n\"); } $where { printf(\"%s\\n\", probename); stack(3); printf(\"--\\n\"); immstack(3); exit(0); }" -c 'sleep 0.05'
expect "--" "$(sed '/^$/d; /^sched/,$d' "$TMP/out")" "BEGIN"
expect "$(sed '1,/^sched_switch/d; /^--/,$d' "$TMP/out" | names)" "$(sed '1,/^sched_switch/d; 1,/^--/d' "$TMP/out" | names)" "three frames"

# the number of frames and their sizes
frames() { sed '/^$/d' "$TMP/out" | grep -c '^  *[a-z_]'; }
ktrace -qx immstackframes=2 -n "$where { immstack(); exit(0); }" -c 'sleep 0.05'
expect 2 "$(frames)"
ktrace -qx immstackframes=1000 -x maxframes=3 -n "$where { immstack(); exit(0); }" -c 'sleep 0.05'
expect 3 "$(frames)"
ktrace -qx immstackframes=1000 -n "$where { immstack(); exit(0); }" -c 'sleep 0.05'
expect 0 "$status" "$err"
ktrace -qx immstackstrsize=5 -n "$where { immstack(); exit(0); }" -c 'sleep 0.05'
expect 0 "$(sed '/^$/d; s/^ *//' "$TMP/out" | grep -cE '.{8}')" "eight bytes for each, with the NUL"
expect_match '^ +[a-z_0-9]{7}$' "$out" "a name that was cut"
ktrace -qx stackoffsets=no -n "$where { @[immstack()] = count(); }" -c 'sleep 0.05'
expect 0 "$(lines '\+0x')"

# formats
ktrace -O ndjson -n "$where { immstack(2); exit(0); }" -c 'sleep 0.05'
python3 - "$TMP/out" <<'PY' || count_failure
import json, sys
frames = [s for line in open(sys.argv[1]) for s in [json.loads(line)] if '"stack"' in line]
value = json.dumps(frames[0])
at = json.loads(value[value.index('{"stack"'):value.index("]}", value.index('{"stack"')) + 2])
assert at["stack"] == "kernel" and len(at["frames"]) == 2, at
for f in at["frames"]:
    assert "address" not in f and "module" not in f and f["symbol"] and "+" not in f["symbol"] and f["offset"] > 0, f
PY
ktrace -O folded -n "$where { @[immstack(4)] = count(); }" -c 'sleep 0.05'
expect_match '^[^ +]+;[^ +]+;[^ +]+;[^ +]+ [0-9]+$' "$out" "folded"

# a key of one kind cannot become one of the other
ktrace -qn "$where { @[immstack()] = count(); @[stack()] = count(); }" -c true
expect_match 'key #1 of @_ is stack\( \), but was immstack before' "$err"

# -O ndjson: every line is an object of the published schema (doc/ndjson.md); nothing is lost, nothing is injected.
# needs: jq jsonschema python3
# uses: root bpf
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
cd "$TMP" || exit 1
valid() { # file: each line against the schema, by Python's json and by jq
	/usr/bin/python3 - "$1" "$SRC/doc/ndjson.schema.json" <<'P' || count_failure
import json, jsonschema, sys
v = jsonschema.Draft7Validator(json.load(open(sys.argv[2])))
bad = 0
for n, line in enumerate(open(sys.argv[1], encoding='utf-8', errors='strict'), 1):
    for e in v.iter_errors(json.loads(line)):
        print('line %d: %s\n%s' % (n, e.message[:300], line[:500]))
        bad = 1
sys.exit(bad)
P
	jq -e . "$1" >jq.out || { echo "jq cannot read $1"; count_failure; }
}
types() { jq -r .type out | xargs; }
py() { /usr/bin/python3 -c "
import json, sys
r = [json.loads(l) for l in open('out')]
$1"; }

# all kinds of values
dt -O ndjson -n '
	typedef struct { int a; char s[4]; struct { short x; unsigned y : 3; }; int z[2]; } t;
	this t v;
	BEGIN { this->v.a = -5; printf("%s %d\n", "one", 5); trace((uint64_t)-1); trace((int64_t)1 << 63); print(this->v); trace(this->v.a); printf("plain"); }'"
	BEGIN { trace(\"a\\\"b\\\\\\n\\t\\001\\177\"); trace(\"\\303\\244\\377\"); trace(\"</script>\"); }"'
	BEGIN { @a["x\n{}", -3] = count(); @b = quantize(-5); @b = quantize(100); @c[1] = lquantize(99, 0, 10, 2); @d = avg(7); @e = sum(10); normalize(@e, 5); printa("%s\n", @a); exit(3); }
	END'
expect "3 " "$status $err"
valid out
expect "start record record aggregation record aggregation aggregation aggregation aggregation end" "$(types)"
expect "[['printf', 'one 5\\n', ['one', 5]], ['trace', 18446744073709551615], ['trace', -9223372036854775808], ['print', 'v', 't', {'members': {'a': -5, 's': '', 'x': 0, 'y': 0, 'z': [0, 0]}}], ['trace', 'a', -5], ['printf', 'plain', []]]" \
	"$(py "print([list(o.values()) for o in r[1]['output']])")"
expect "['a\"b\\\\\\n\\t\\x01\\x7f', {'text': 'ä\\ufffd', 'hex': 'c3a4ff'}, '</script>']" "$(PYTHONIOENCODING=utf-8 py "print([o['value'] for o in r[2]['output']])" | sed 's/�/\\ufffd/')"
expect "[['x\\n{}', -3], 1, 'printa', 'x\\n{}\\n']" "$(py "a = r[3]; print([a['keys'], a['value'], a['at'], a['text']])")"
expect "[[[-7, -4, 1], [64, 127, 1]], [[10, None, 1]], 7, [2, 5]]" \
	"$(py "b, c, d, e = r[5:9]; f = lambda a: [[x['low'], x['high'], x['count']] for x in a['buckets']]; print([f(b), f(c), d['value'], [e['value'], e['normal']]])")"
expect "2 3 0" "$(jq -r 'select(.type == "record") | .clause' out | head -n 2 | tail -n 1) $(jq -r 'select(.type == "end") | "\(.records) \(.drops)"' out)" # three records
# a script's own option; a file that is appended to; an empty trace
printf '#pragma D option oformat=ndjson\nBEGIN { exit(0); }\n' >p.d
dt -s p.d -o both
dt -s p.d -o both
valid both
expect "start end start end" "$(jq -r .type both | xargs)"

# faults and drops are lines, and nothing is on standard error
dt -O ndjson -b 64 -c true -n 'BEGIN { trace(*(int *)16); } BEGIN { trace(1); } BEGIN { trace(2); } BEGIN { trace(3); } BEGIN { trace(4); } BEGIN { trace(5); } BEGIN { trace(6); }'
expect "" "$err"
valid out
expect "invalid address 16 BEGIN" "$(jq -r 'select(.type == "fault") | "\(.fault) \(.value) \(.probe.name)"' out)"
lost=$(jq -s '[.[] | select(.type == "drop") | .count] | add' out)
expect "$lost" "$(jq 'select(.type == "end") | .drops' out)" "drops"
[ "$lost" -gt 0 ] || { echo "nothing was dropped"; count_failure; }
# a setopt() that is refused
dt -qO ndjson -n 'BEGIN { setopt("nosuch"); exit(0); }'
valid out
expect 'start error end' "$(types)"
# errors that end dtrace are objects on standard error
dt -O ndjson -n 'BEGIN { trace(nosuch); }'
cp "$TMP/err" errors
expect "1 D_IDENT_UNDEF 1 15" "$status $(jq -r '"\(.tag) \(.line) \(.column)"' errors)"
dt -O ndjson -n 'nosuch:::'
cat "$TMP/err" >>errors
dt -O ndjson -s /no/such/file
cat "$TMP/err" >>errors
expect "error error error" "$(jq -r .type errors | xargs)"
valid errors

# a line is there when it has happened, while the trace runs
: >live # before the command that writes to it
"$DTRACE" -x engine=vm -O ndjson -n 'BEGIN { trace(1); }' >live 2>errors &
pid=$!
wait_for 20 grep -q '"record"' live
kill -TERM $pid
wait $pid
expect "0 start record end " "$? $(jq -r .type live | xargs) $(cat errors)" "while it runs"

# a full disk, and a reader that has gone
if [ -w /dev/full ]; then
	"$DTRACE" -x engine=vm -O ndjson -n 'BEGIN { trace(1); exit(0); }' >/dev/full 2>errors
	expect "1 error" "$? $(jq -r .type errors | sort -u)"
	expect_match 'No space left' "$(cat errors)"
fi
{ "$DTRACE" -x engine=vm -O ndjson -n 'BEGIN { printf("%60000d%60000d%60000d\n", 1, 2, 3); }' 2>errors; echo $? >st; } | true
expect "141 " "$(cat st) $(cat errors)"
# what system() prints is not in the output
dt -wO ndjson -n 'BEGIN { system("echo injected"); trace(1); exit(0); }'
valid out
expect "start record end injected" "$(types) $err"

# -x brief: a clause is told of once, and again if it shows something else
dt -O ndjson -x brief -n 'BEGIN { trace(pid); printf("%s %d", "x", 5); } BEGIN { printf("hi"); exit(0); } END'
valid out
expect "start clause fired clause fired clause fired end" "$(types)"
expect '[["trace","pid"],["printf",null]] ["x 5","x",5] ["hi"] []' \
	"$(jq -c 'select(.type == "clause" and .clause == 1) | [.actions[] | [.action, .name]]' out) $(jq -c 'select(.type == "fired") | .values | .[1] // .[0] // []' out | xargs -d '\n')"

lacks root >/dev/null || lacks bpf >/dev/null || {
	# stacks, symbols, processes
	run_dtrace timeout 100 "$DTRACE" -O ndjson -c 'sh -c "exit 7"' -n 'syscall::exit_group:entry /pid == $target/ { ustack(); stack(); trace(arg0); @[ustack(2), stack(1), execname, func(0)] = count(); }'
	expect "0 " "$status $err"
	valid out
	# The end of a process comes from its parent's wait, its last record from the buffers, which are read by switchrate: either can
	# be first. All else has its place.
	expect_match '^start (record process|process record) aggregation end$' "$(types)"
	expect "true 1792" "$(jq -r 'select(.type == "process") | "\(.ended) \(.status)"' out)"
	expect "ustack stack trace 7" "$(jq -r 'select(.type == "record") | [.output[].action, .output[2].value] | join(" ")' out)"
	expect_match '_[eE]xit' "$(jq -r '.output[0]?.value.frames[0].symbol' out)"
}

# -O json: one document in FreeBSD's shape; -o replaces the file.
# needs: jq python3
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
dt -O json -n '
	struct s { int a; struct { char b; } c; };
	this struct s v;
	BEGIN { this->v.a = 3; trace(-1); trace("q\"\n"); printf("%s %d\n", "x", 7); print(this->v); print(5); }
	BEGIN { @a["k"] = count(); @a["l"] = count(); @a["l"] = count(); @b = lquantize(-1, 0, 10, 5); @b = lquantize(7, 0, 10, 5); @c = avg(4); printa(@a); exit(0); }
	END { }'
expect "0 " "$status $err"
/usr/bin/python3 -c 'import json; json.load(open("out"))' || count_failure
first() { jq -c ".dtrace.probes[0]$1" out; }
expect '["timestamp","cpu","id","provider","module","function","name","output"]' "$(first '|keys_unsorted')"
expect '[1,"dtrace","","","BEGIN"]' "$(first '|[.id,.provider,.module,.function,.name]')"
expect '[{"value":-1},{"value":"q\"\n"},{"message":"x 7\n"},{"value":"x"},{"value":7}]' "$(first '.output[:5]')"
expect '["struct s",[["a",3],["c",[{"object-name":"","name":"char","ctfid":0,"member-name":"b","value":0}]]]]' \
	"$(first '.output[5].type[0]|[.name,[.value[]|[.["member-name"],.value]]]')"
expect '{"aggregation-data":[{"keys":[{"value":"k"}],"count":1},{"keys":[{"value":"l"}],"count":2}],"aggregation-name":"a"}' "$(jq -c '.dtrace.probes[1].output[0]' out)"
expect '[["b",[{"value":0,"count":1,"operator":"<"},{"value":5,"count":1}]],["c",4]]' \
	"$(jq -c '[.dtrace.aggregations[] | [.["aggregation-name"], (.["aggregation-data"][0] | .buckets // .average)]]' out)"
# drops are probes
dt -O json -b 64 -c true -n 'BEGIN { trace(1); } BEGIN { trace(2); } BEGIN { trace(3); } BEGIN { trace(4); } BEGIN { trace(5); } BEGIN { trace(6); }'
expect "" "$err"
expect '[-1,"dtrace","INTERNAL","INTERNAL","DROP",0]' "$(jq -c '[.dtrace.probes[] | select(.id == -1)][0] | [.id,.provider,.module,.function,.name,.kind]' out)"
# nothing is an empty document; -o replaces
dt -O json -o file -n 'BEGIN { exit(0); }'
dt -O json -o file -n 'BEGIN { exit(0); }'
expect '{"dtrace":{"probes":[]}}' "$(jq -c . file)"
# interrupted, or ended by an error, it is still a document
dt -O json -n 'BEGIN { trace(1); @ = count(); normalize(@, pid - pid); trace(2); exit(0); }'
expect 1 "$status"
expect '[1]' "$(jq -c '[.dtrace.probes[].output[].value]' out)$(sed -n '/normal/!p' err)"
: >out # discard earlier output
"$DTRACE" -x engine=vm -O json -n 'BEGIN { trace(1); }' >out 2>err &
pid=$!
wait_for 20 grep -q probes out
kill -TERM $pid
wait $pid
expect '0 [1]' "$? $(jq -c '[.dtrace.probes[].output[].value]' out)$(cat err)"
# a full disk
[ ! -w /dev/full ] || {
	"$DTRACE" -x engine=vm -O json -n 'BEGIN { trace(1); exit(0); }' >/dev/full 2>err
	expect "1 dtrace: processing aborted: No space left on device" "$? $(cat err)"
}
dt -wqO json -n 'BEGIN { freopen("x"); trace(1); exit(0); }'
expect '[1]' "$(jq -c '[.dtrace.probes[].output[].value]' out)"
expect_match 'freopen\(\) has no effect' "$err"

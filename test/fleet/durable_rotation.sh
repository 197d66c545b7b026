# The output of a durable session under load: files of bounded size and number, whole lines, none missing; a reader that follows
# sees all, one that is too slow learns how much it has missed.
# needs: root bpf gcc python3
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/sessions.bash"
n=$(scale 20000)
script many <<E2
#pragma D option quiet
#pragma D option bufsize=16m
#pragma D option switchrate=20ms
#pragma D option logsize=64k
#pragma D option logfiles=1000
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { printf("number %d\n", arg0); }
E2
script few <<E2
#pragma D option quiet
#pragma D option bufsize=16m
#pragma D option switchrate=20ms
#pragma D option logsize=16k
#pragma D option logfiles=3
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { printf("number %d\n", arg0); }
E2
keep
beginning many
beginning few
attach many --from-start
follower=$front
$(load "$n")
wait_for 100 eval 'grep -q "^number $((999 + n))\$" "$TMP/a.out"'
kill -TERM $follower
wait $follower
cat >"$TMP/check.py" <<'E2'
"""check.py FOLDER SIZE FILES: sizes, places and lines; prints how many numbers are there, and whether none is missing between."""
import json, os, sys
folder, size, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
names = sorted(f for f in os.listdir(folder) if f[0].isdigit())
numbers, texts, at = [], "", int(names[0].split(".")[0])
if len(names) > files:
    print("too many files:", len(names))
if os.readlink(folder + "/current.ndjson") != names[-1]:
    print("current is", os.readlink(folder + "/current.ndjson"))
for f in names:
    data = open(folder + "/" + f, "rb").read()
    if len(data) > size:
        print(f, "has", len(data), "bytes")
    if int(f.split(".")[0]) != at:
        print(f, "does not begin where the one before ends:", at)
    if not data.endswith(b"\n"):
        print(f, "ends within a line")
    at += len(data)
    for i, line in enumerate(data.splitlines()):
        o = json.loads(line)
        if (o["type"] == "log") != (i == 0) or (i == 0 and o["at"] != int(f.split(".")[0])):
            print(f, i, "is", o["type"])
        if o["type"] == "record":
            numbers += [int(x["values"][0]) for x in o["output"] if x["values"]]
        if o["type"] == "text":
            texts += o["text"]
shown = [int(w.split()[1]) for w in texts.split("\n") if w.startswith("number ") and len(w.split()) == 2]
gap = [b for a, b in zip(numbers, numbers[1:]) if b != a + 1]
print(len(numbers), len(shown), "gaps", len(gap))
E2
expect "$n $n gaps 0" "$(/usr/bin/python3 "$TMP/check.py" "$TMP/o/many" 65536 1000)" "all files"
expect "$n" "$(grep -c '^number' "$TMP/a.out")" "the front that followed"
expect "" "$(awk '/^number/ { if (n && $2 != n) print "gap before", $2; n = $2 + 1 }' "$TMP/a.out")"
expect 1 "$(wc -l <"$TMP/a.err")" "messages: that it began"
expect 0 "$(said_of many drops)"
expect 0 "$(said_of many lostlines)"

# Few files: the latest output is there, without gaps, and what was removed is counted.
wait_for 60 eval 'kept few | grep -q "number $((999 + n))"'
expect_match '^[0-9]+ [0-9]+ gaps 0$' "$(/usr/bin/python3 "$TMP/check.py" "$TMP/o/few" 16384 3)"
first=$(basename "$(ls "$TMP"/o/few/[0-9]*.ndjson | head -n 1)" .ndjson)
removed() { [ "$(said_of few removed)" = "$((10#$first))" ]; } # it is written once a second
wait_for 60 removed
trace -E -x targetwait=100s --attach
expect "$((10#$first))" "$(awk '$2 == "few" { print $6 }' "$TMP/out")" "REMOVED"

# A front that is stopped: nothing waits for it, and it is told.
attach few
wait_for 60 eval "$(load 1)"'; grep -q "^number 1000" "$TMP/a.out"' # it shows what comes
kill -STOP $front
$(load "$n" 4)
wait_for 100 eval '[ "$(said_of few removed)" -gt $((10#$first + 2 * n * 230)) ]'
kill -CONT $front
wait_for 100 eval 'grep -q "web: [0-9]* bytes of output are missing" "$TMP/a.err"'
kill -TERM $front
wait $front

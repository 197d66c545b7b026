"""A Perfetto trace as text, in the order of its packets: checks that tracks are described before they are used, that slices
nest and that times do not run back within a track. perfetto.py FILE

The fields are those of Perfetto's protos/perfetto/trace (trace_packet.proto, clock_snapshot.proto, track_event/*.proto); what is a
"oneof" there is given once."""
import sys

import protobuf

CLOCK = {1: ("id", "uint"), 2: ("time", "uint")}
CLOCKS = {1: ("clock*", CLOCK)}
NOTE = {3: ("uint", "uint"), 4: ("int", "int"), 6: ("string", "string"), 10: ("name", "string")}
EVENT = {4: ("note*", NOTE), 9: ("type", "uint"), 11: ("track", "uint"), 22: ("category*", "string"), 23: ("name", "string"), 30: ("counter", "int")}
PROCESS = {1: ("pid", "int"), 6: ("name", "string")}
THREAD = {1: ("pid", "int"), 2: ("tid", "int"), 5: ("name", "string")}
TRACK = {1: ("id", "uint"), 2: ("name", "string"), 3: ("process", PROCESS), 4: ("thread", THREAD), 5: ("parent", "uint"), 8: ("counter", {})}
PACKET = {6: ("clocks", CLOCKS), 8: ("time", "uint"), 10: ("sequence", "uint"), 11: ("event", EVENT), 13: ("flags", "uint"), 58: ("clock", "uint"), 60: ("track", TRACK)}
TRACE = {1: ("packet*", PACKET)}
TYPES = {1: "begin", 2: "end", 3: "instant", 4: "counter"}

packets = protobuf.decode(open(sys.argv[1], "rb").read(), TRACE)["packet"]
tracks, depth, last = {}, {}, {}


def one_of(message, *names):
    found = [n for n in names if n in message]
    assert len(found) == 1, "one of %s: %s" % (names, found)


for p in packets:
    one_of(p, "clocks", "event", "track")
assert {c["id"] for c in packets[0]["clocks"]["clock"]} == {1, 3, 6}, "the first packet has the clocks"
for p in packets[1:]:
    assert p["sequence"] == 1
    if "track" in p:
        t = p["track"]
        one_of(t, "process", "thread", "counter")
        for number in [v for kind in ("process", "thread") for k, v in t.get(kind, {}).items() if k in ("pid", "tid")]:
            assert 0 <= number < 1 << 31, "an int32"
        assert t["id"] and t["id"] not in tracks, "a track is described once"
        assert t.get("parent", 0) == 0 or t["parent"] in tracks
        tracks[t["id"]] = ("process %s" % t["process"].get("name", "?") if "process" in t else
                           "thread %s%s" % (t["thread"]["name"], "" if t["thread"]["pid"] == t["thread"]["tid"] else " (another)") if "thread" in t else
                           "counter %s" % t["name"])
        print("track", tracks[t["id"]])
        continue
    e = p["event"]
    track, kind = e["track"], TYPES[e["type"]]
    assert track in tracks and p["clock"] == 3 and p["time"] >= last.get(track, 0)
    last[track] = p["time"]
    assert (kind == "counter") == tracks[track].startswith("counter ") == ("counter" in e), "counters are on tracks of their own"
    assert kind != "counter" or not ("name" in e or e["category"] or e["note"]), "a counter has a value only"
    depth[track] = depth.get(track, 0) + {"begin": 1, "end": -1}.get(kind, 0)
    assert depth[track] >= 0, "a slice ends that did not begin"
    words = [kind, tracks[track]] + ([str(e["counter"])] if kind == "counter" else [e["name"]] if "name" in e else [])
    for n in e["note"]:
        one_of(n, "string", "int", "uint")
        words.append("%s=%s" % (n["name"], n.get("string", n.get("int", n.get("uint")))))
    print(*words)
for track, n in depth.items():
    if n:
        print("open", tracks[track], n)

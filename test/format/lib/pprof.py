"""A pprof profile as text: checks that all references hold, then a line for each sample, sorted:
"outer;inner labels values". pprof.py FILE"""
import gzip
import sys

import protobuf

VALUE_TYPE = {1: ("type", "int"), 2: ("unit", "int")}
LABEL = {1: ("key", "int"), 2: ("str", "int"), 3: ("num", "int"), 4: ("num_unit", "int")}
SAMPLE = {1: ("location", "packed"), 2: ("value", "packed"), 3: ("label*", LABEL)}
MAPPING = {1: ("id", "uint"), 5: ("filename", "int"), 7: ("has_functions", "uint")}
LINE = {1: ("function", "uint"), 2: ("line", "int")}
LOCATION = {1: ("id", "uint"), 2: ("mapping", "uint"), 3: ("address", "uint"), 4: ("line*", LINE)}
FUNCTION = {1: ("id", "uint"), 2: ("name", "int"), 3: ("system_name", "int"), 4: ("filename", "int")}
PROFILE = {1: ("sample_type*", VALUE_TYPE), 2: ("sample*", SAMPLE), 3: ("mapping*", MAPPING), 4: ("location*", LOCATION),
           5: ("function*", FUNCTION), 6: ("string*", "string"), 9: ("time", "int")}

p = protobuf.decode(gzip.open(sys.argv[1]).read(), PROFILE)
strings = p["string"]
assert strings[0] == "", "the first string is empty"
assert len(set(strings)) == len(strings), "a string is there twice"
mappings = {m["id"]: strings[m["filename"]] for m in p["mapping"]}
functions = {f["id"]: strings[f["name"]] for f in p["function"]}
locations = {}
for l in p["location"]:
    assert l["id"] and l["id"] not in locations and l["mapping"] in mappings
    locations[l["id"]] = "%s`%s" % (mappings[l["mapping"]], functions[l["line"][0]["function"]])
print("types:", *("%s/%s" % (strings[t["type"]], strings[t["unit"]]) for t in p["sample_type"]))
lines = []
for s in p["sample"]:
    assert len(s["value"]) == len(p["sample_type"])
    labels = ["%s=%s" % (strings[l["key"]], strings[l["str"]]) for l in s["label"]]
    lines.append(" ".join([";".join(locations[i] for i in reversed(s["location"])) or "-"] + labels + [str(protobuf.signed(v)) for v in s["value"]]))
print("\n".join(sorted(lines)))

# needs: python3 prometheus-client
# -x oformat=prometheus: what Prometheus's own parser makes of each kind of aggregation, of labels, and of hostile keys.
. "$SRC/test/lib.bash"
parsed() { /usr/bin/python3 "$SRC/test/format/lib/prometheus.py" "$TMP/out"; }

dt -O prometheus -n 'BEGIN { @reads["cat", probename] = count(); @reads["cat", probename] = count(); @reads["dog", probename] = count();
	@bytes[execname] = sum(1000); @left[execname] = sum(-3); @lat = avg(10); @lat = avg(21); @most = max(9); @ = stddev(4); exit(0); }'
expect "" "$err"
expect 'counter dtrace_reads -- count() of @reads
  dtrace_reads_total [('"'key1', 'dog'), ('probename', 'BEGIN'"')] 1
  dtrace_reads_total [('"'key1', 'cat'), ('probename', 'BEGIN'"')] 2
counter dtrace_bytes -- sum() of @bytes
  dtrace_bytes_total [('"'execname', 'dtrace'"')] 1000
gauge dtrace_left -- sum() of @left
  dtrace_left [('"'execname', 'dtrace'"')] -3
summary dtrace_lat -- avg() of @lat
  dtrace_lat_sum [] 31
  dtrace_lat_count [] 2
gauge dtrace_most -- max() of @most
  dtrace_most [] 9
gauge dtrace_aggregation -- stddev() of @
  dtrace_aggregation [] 0' "$(parsed)"

# distributions: the largest number of each bucket, from zero (or the lowest used) up to the highest used
dt -O prometheus -n 'BEGIN { @q["a"] = quantize(0); @q["a"] = quantize(5); @q["b"] = quantize(9); @n = quantize(-6); @n = quantize(1);
	@l = lquantize(15, 0, 30, 10); @l = lquantize(99, 0, 30, 10); @l = lquantize(-1, 0, 30, 10);
	@ll = llquantize(7, 10, 0, 1, 10); exit(0); }'
expect 'histogram dtrace_q -- quantize() of @q
a 0:1 1:1 3:1 7:2 15:2 +Inf:2
b 0:0 1:0 3:0 7:0 15:1 +Inf:1
histogram dtrace_n -- quantize() of @n
-4:1 -2:1 -1:1 0:1 1:2 +Inf:2
histogram dtrace_l -- lquantize() of @l
-1:1 9:1 19:2 29:2 +Inf:3' "$(parsed | python3 -c '
import ast, re, sys
out = {}
for line in sys.stdin:
    m = re.match(r"  (\w+) (\[.*\]) (\d+)$", line)
    if not m:
        name = line.strip()
        out[name] = {}
    elif m[1].endswith("_bucket"):
        labels = dict(ast.literal_eval(m[2]))
        out[name].setdefault(labels.get("key1", ""), []).append("%s:%s" % (labels["le"], m[3]))
for name, rows in out.items():
    if "@ll" in name:
        continue
    print(name)
    for key, row in rows.items():
        print((key + " " + " ".join(row)).strip())')"
expect_match 'dtrace_ll_bucket\{le="6"\} 0' "$out"
expect_match 'dtrace_ll_bucket\{le="7"\} 1' "$out"
expect_match 'dtrace_ll_count 1' "$out"

# a key is a value, never syntax
dt -O prometheus -n 'BEGIN { @["a\"} 5\nevil{x=\"", "\\", "\377"] = count(); exit(0); }'
expect "counter dtrace_aggregation -- count() of @
  dtrace_aggregation_total [('key1', 'a\"} 5\\nevil{x=\"'), ('key2', '\\\\'), ('key3', '?')] 1" \
	"$(parsed | sed 's/\xef\xbf\xbd/?/')" "hostile keys"
expect 3 "$(lines .)" "lines"

# -x oformat=folded: keys are frames, each row is a line; several aggregations; names with anything in them.
. "$SRC/test/lib.bash"

dt -x oformat=folded -n 'BEGIN { @["cat", 1] = count(); @["cat", 1] = count(); @["dog", -2] = count(); @["cat", 0] = count(); exit(0); }'
expect 'cat;0 1
cat;1 2
dog;-2 1
' "$out"
expect "" "$err"

# quantizers and averages count their values, sums what they sum; what was normalised is as printed
dt -O folded -n 'BEGIN { @q["q"] = quantize(5); @q["q"] = quantize(900); @a["a"] = avg(7); @a["a"] = avg(8); @s["s"] = sum(40); @s["s"] = sum(2);
	@n["n"] = sum(100); normalize(@n, 10); exit(0); }'
expect '@q;q 2
@a;a 2
@s;s 42
@n;n 10
' "$out" "several"

# what cannot be added up is left out, and said
dt -O folded -n 'BEGIN { @m["x"] = min(3); @s["a"] = sum(-5); @s["b"] = sum(5); exit(0); }'
expect '@s;b 5
' "$out"
expect "dtrace: 2 rows of aggregations not in the output: min(), max() and sums below zero cannot be added up" "$err"
dt -O folded -n 'BEGIN { @ = count(); exit(0); }'
expect "" "$out"
expect "dtrace: no stacks were recorded: there was no aggregation with keys, and no record with a stack" "$err"

# one stack is one line, whatever the names are
dt -O folded -n 'BEGIN { @["a;b", "line\nfeed", "\033[31mred", "", "two words"] = count(); exit(0); }'
expect 'a:b;line?feed;?[31mred;;two words 1
' "$out" "hostile names"

# what was printed counts, also if it was cleared then; what was cleared without does not
dt -O folded -n 'BEGIN { @["x"] = count(); @["z"] = count(); printa(@); clear(@); exit(0); } END { @["x"] = count(); @["y"] = count(); }'
expect 'x 2
y 1
z 1
' "$out" "printed and cleared"
dt -O folded -n 'BEGIN { @["x"] = count(); @["z"] = count(); printa(@); trunc(@); exit(0); } END { @["x"] = count(); printa(@); }'
expect 'x 2
z 1
' "$out" "printed and truncated"
dt -O folded -n 'BEGIN { @["x"] = count(); printa(@); exit(0); } END { @["x"] = count(); printa(@); }'
expect 'x 2
' "$out" "printed twice"
dt -O folded -n 'BEGIN { @["x"] = count(); clear(@); exit(0); } END { @["y"] = count(); }'
expect 'y 1
' "$out" "cleared unseen"
# a stack that printa() prints is not one that its clause records
dt -O folded -n 'BEGIN { @a[stack(), "x"] = count(); @b["y"] = count(); printa("%k %s %@d\n", @a); exit(0); }'
expect "0 " "$(grep -c stacks <<<"$out") $err" "printa() of stacks: $out"
expect 1 "$(awk '/^@a;x/ { n += $NF } END { print n + 0 }' <<<"$out")" "printa() of stacks: $out"

# -o replaces the file: it is one document
echo old >"$TMP/file"
dt -O folded -o "$TMP/file" -n 'BEGIN { @["x"] = count(); exit(0); }'
expect "x 1" "$(cat "$TMP/file")" "-o"

# a full disk is an error in every format
for f in folded flamegraph pprof perfetto prometheus; do
	dt -O $f -o /dev/full -n 'BEGIN { @["x"] = count(); exit(0); }'
	expect_match '^dtrace: .*: No space left on device$' "$err"
	expect 1 $status "status: $f"
done

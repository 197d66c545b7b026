# needs: python3
# -x oformat=perfetto: packets of a timeline, checked by a reader that knows their fields.
. "$SRC/test/lib.bash"
timeline() { python3 "$SRC/test/format/lib/perfetto.py" "$TMP/trace"; }

# one firing is one event, whatever the number of clauses; what they trace is beside it
dt -O perfetto -o "$TMP/trace" -n 'BEGIN { trace(42); trace("text\377"); } BEGIN { printf("%s %d\n", "hello", 5); trace(-1); exit(0); } END { trace((unsigned)7); }'
expect "" "$err"
expect 'track process dtrace
track thread dtrace
instant thread dtrace dtrace:BEGIN value1=42 value2=text? text=hello 5 value4=-1
instant thread dtrace dtrace:END value1=7' "$(timeline | sed 's/\xef\xbf\xbd/?/')"

# what printa() shows is a counter for each key
dt -O perfetto -o "$TMP/trace" -n 'BEGIN { @c["a\n"] = count(); @m = max(-9); } BEGIN { printa(@c); } BEGIN { @c["b"] = count(); } END { printa(@c); }
	BEGIN { @q = quantize(1); exit(0); }'
expect 'track counter @c[a?]
counter counter @c[a?] 1' "$(timeline | grep 'a?' | head -n 2)"
expect 'counter counter @c[b] 1' "$(timeline | grep '^counter.*b' | tail -n 1)"
expect 'counter counter @m -9' "$(timeline | grep '^counter.*@m')"
expect '' "$(timeline | grep @q)"

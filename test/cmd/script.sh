# Scripts that begin with #!: the kernel passes "-qs" and the path; words follow.
. "$SRC/test/lib.bash"
printf '#!%s -qs\nBEGIN\n{\n\tprintf("%%s %%s\\n", $$1, basename($$0));\n\texit(4);\n}\n' "$DTRACE" >"$TMP/a.d"
chmod +x "$TMP/a.d"
out=$("$TMP/a.d" word)
expect 4 $?
expect "word a.d" "$out"
# Errors count lines from the #! line.
printf '#!%s -qs\nBEGIN\n{\n\ttrace(1;\n}\n' "$DTRACE" >"$TMP/b.d"
chmod +x "$TMP/b.d"
expect "dtrace: failed to compile script $TMP/b.d: line 4: syntax error: expected ) near \";\"" "$("$TMP/b.d" 2>&1)"
# Separate flags, which Linux passes as one word, and flags with values.
printf '#!%s -q -x strsize=4 -C -s\n#define TEXT "abcdef"\nBEGIN\n{\n\tprintf("%%s %%s %%d\\n", TEXT, $$1, $2);\n\texit(0);\n}\n' "$DTRACE" >"$TMP/c.d"
chmod +x "$TMP/c.d"
expect "abcd -q- 7" "$("$TMP/c.d" -- -q- 7 2>&1)"
# A description with a blank is not taken for such a line.
expect "one 1" "$("$DTRACE" '-qn BEGIN { printf("one %d\n", $1); exit(0); }' 1 | head -n 1)"

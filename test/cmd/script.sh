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

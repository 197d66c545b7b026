# uses: man
# Manual pages of the providers, made from their chapters: one for each, with a name, and nothing that man complains about.
. "$SRC/test/lib.bash"
"$SRC/doc/mkman" "$TMP/man7"
expect "$(cd "$SRC/doc/providers" && ls ./*.md | sed 's,^\./\(.*\)\.md,dtrace_\1.7,')" "$(ls "$TMP/man7")" pages
for f in "$TMP"/man7/*; do
	name=$(basename "$f" .7)
	expect_match "^$name "'\\- .+' "$(sed -n '/^\.SH NAME$/{n;p}' "$f")"
	# every code block is closed, no Markdown is left outside of them
	expect "$(grep -c '^\.nf$' "$f")" "$(grep -c '^\.fi$' "$f")" "$name: blocks"
	expect "" "$(sed '/^\.nf$/,/^\.fi$/d' "$f" | grep -nE '^(\| |- |## |```)|\]\(|`' | grep -v '\\fB')" "$name: Markdown"
	if type -P man >/dev/null; then
		expect "" "$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -l -Tutf8 -Z "$f" 2>&1 >/dev/null)" "$name: man"
	fi
done
# a table is a list of terms, links and code are plain
expect "openssl:::handshake-done it has succeeded: both sides have agreed on keys" \
	"$(sed 's/\\-/-/g; s/\\f[BR]//g' "$TMP/man7/dtrace_openssl.7" | grep -m 1 -A 1 '^openssl:::handshake-done$' | xargs)" "a row of a table"

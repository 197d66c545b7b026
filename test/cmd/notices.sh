# Notices on stderr, and what -q leaves out.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
echo 'BEGIN, END { exit(0); }' >a.d
dt -n 'BEGIN { exit(0); }'
expect "dtrace: description 'BEGIN ' matched 1 probe" "$err"
dt -s a.d -n 'dtrace:::/pid/{}'
expect "dtrace: script 'a.d' matched 2 probes
dtrace: description 'dtrace:::' matched 3 probes" "$err"
dt -w -s a.d
expect "dtrace: script 'a.d' matched 2 probes
dtrace: allowing destructive actions" "$err"
dt -qw -s a.d
expect "" "$err"
echo '#pragma D option quiet' >>a.d
dt -s a.d
expect "" "$err"

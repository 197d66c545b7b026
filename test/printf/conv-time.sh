# %T and %Y: nanoseconds since 1970 in local time.
. "$SRC/test/lib.bash"
show() { TZ=$1 "$DTRACE" -x engine=vm -qn 'BEGIN { printf("%T|%Y|%22Y|%.4Y\n", 1700000000000000000, 1700000000999999999, (int64_t)-1, 0LL); exit(0); }' | head -n 1; }
expect "Tue, 14 Nov 2023 22:13:20 UTC|2023 Nov 14 22:13:20|  1969 Dec 31 23:59:59|1970" "$(show UTC)"
expect "Tue, 14 Nov 2023 17:13:20 EST|2023 Nov 14 17:13:20|  1969 Dec 31 18:59:59|1969" "$(show EST5)"
expect "Wed, 15 Nov 2023 03:43:20 IST|2023 Nov 15 03:43:20|  1970 Jan  1 05:29:59|1970" "$(show IST-5:30)"

# %P and %I ask the system's tables.
# needs: services
. "$SRC/test/lib.bash"
dt -qn 'BEGIN { printf("%P %6P|%-6P|\n", (uint16_t)22, (uint16_t)22, (uint16_t)22); exit(0); }'
expect "ssh    ssh|ssh   |" "$(head -n 1 <<<"$out")"
host=$(getent hosts 127.0.0.1 | awk '{ print $2 }')
[ -z "$host" ] && exit
dt -qn 'BEGIN { printf("%I\n", "127.0.0.1"); exit(0); }'
expect "$host" "$(head -n 1 <<<"$out")"

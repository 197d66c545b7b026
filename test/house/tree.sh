# The tree holds sources only: nothing that a build makes. (Fuzzers begin with small ELF files.)
. "$SRC/test/lib.bash"
cd "$SRC" || exit 1
git rev-parse --git-dir >/dev/null 2>&1 || skip "not a git checkout"
expect "" "$(git ls-files -ci --exclude-standard)" "files that .gitignore names"
expect "" "$(git ls-files -z -- ':!test/fuzz' | xargs -0 stat -c '%s %n' | awk '$1 > 300000 { print $2 }')" "files of more than 300 KB"

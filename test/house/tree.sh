# The tree holds sources only: nothing that a build makes. (Fuzzers begin with small ELF files.)
. "$SRC/test/lib.bash"
cd "$SRC" || exit 1
git rev-parse --git-dir >/dev/null 2>&1 || skip "not a git checkout"
expect "" "$(git ls-files -ci --exclude-standard)" "files that .gitignore names"
expect "" "$(git ls-files -z -- ':!test/fuzz' | xargs -0 stat -c '%s %n' | awk '$1 > 300000 { print $2 }')" "files of more than 300 KB"
expect "" "$(git grep -nE '^[^#]*\btrap .*\bEXIT$' -- 'test/*.sh' 'test/*.bash' ':!test/lib.bash' ':!test/process/programs.sh')" "tests whose failures are not counted: lib.bash has the trap for the end; see at_end there"

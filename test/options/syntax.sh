# Every option of options.def: the values that its kind accepts, and the message for an invalid one.
# timeout: 120
. "$SRC/test/lib.bash"
cd "$TMP" && mkdir dir || exit 1
accepts() { # -x WORD is taken
	dt -e -x "$1" -n BEGIN
	[ "$status" = 0 ] || { echo "-x $1 refused: $err"; fails=1; }
}
refuses() { # -x WORD is not, and the message says this
	dt -e -x "$1" -n BEGIN
	expect "dtrace: failed to set -x $1: $2" "$err"
	expect 1 "$status" "-x $1"
}
first_choice() { sed -nE "s/^DT_CHOICE\(${1^^}, [A-Z0-9]+, \"(.*)\"\)\$/\1/p" "$SRC/src/base/options.def" | paste -sd'|'; }
sed -nE 's/^DT_OPTION\([A-Z]+, "([a-z]+)", -?[0-9]+, ([A-Z]+), ([A-Z]+), .*/\1 \2 \3/p' "$SRC/src/base/options.def" >options
[ "$(wc -l <options)" -gt 70 ] || { echo "only $(wc -l <options) options?"; fails=1; }
while read -r name context kind; do
	value=
	case $kind in
	BOOL)
		accepts "$name"
		for v in yes no on off; do accepts "$name=$v"; done
		refuses "$name=maybe" "invalid value \"maybe\" for option \"$name\": expected yes or no"
		;;
	INT)
		value=4
		for v in 4 04 0x4; do accepts "$name=$v"; done
		refuses "$name" "option \"$name\" needs a value: a number"
		refuses "$name=many" "invalid value \"many\" for option \"$name\": expected a number"
		refuses "$name=-1" "invalid value \"-1\" for option \"$name\": expected a number"
		;;
	SIZE)
		value=4k
		for v in 4096 4k 4K 32k; do accepts "$name=$v"; done
		for v in pink 4x -8 99999999999999999999 9999999t; do
			refuses "$name=$v" "invalid value \"$v\" for option \"$name\": expected a size such as 256, 32k or 4m"
		done
		;;
	RATE)
		value=10hz
		for v in 10hz 1s 100ms 1000us; do accepts "$name=$v"; done
		for v in fast 0hz 5parsec; do
			refuses "$name=$v" "invalid value \"$v\" for option \"$name\": expected a rate such as 10hz, 100ms or 1s"
		done
		;;
	PERCENT)
		value=2%
		for v in 2% 0.5% 0.0001% 100% 2.25%; do accepts "$name=$v"; done
		for v in 2 0% 101% 100.1% -1% 2.5.1% x% 0.00001% %; do
			refuses "$name=$v" "invalid value \"$v\" for option \"$name\": expected a percentage such as 2% or 0.5%"
		done
		;;
	CHOICE)
		choices=$(first_choice "$name")
		[ -n "$choices" ] || { echo "$name has no choices"; fails=1; }
		for v in ${choices//|/ }; do accepts "$name=$v"; done
		value=${choices%%|*}
		refuses "$name=other" "invalid value \"other\" for option \"$name\": expected $choices"
		;;
	STRING | LIST)
		value="$TMP/text=1"
		[[ $name = *dir ]] && value=$TMP/dir
		# cgroup and container name something that must exist: providers/cgroup.sh
		[[ $name = cgroup || $name = container ]] || accepts "$name=$value"
		refuses "$name" "option \"$name\" needs a value: a text"
		;;
	ATTR)
		value=Evolving/Evolving/Common
		accepts "$name=$value"
		refuses "$name=so/so" "invalid value \"so/so\" for option \"$name\": expected a stability such as Evolving/Evolving/Common"
		;;
	VERSION)
		value=1.14
		for v in 1.14 1.6.3 1.0; do accepts "$name=$v"; done
		refuses "$name=new" "invalid value \"new\" for option \"$name\": expected a version such as 1.2"
		;;
	*) echo "kind $kind is not tested"; fails=1 ;;
	esac
	# while tracing only dynamic ones can be set
	dt -q -n "BEGIN { setopt(\"$name\"${value:+, \"$value\"}); exit(0); }"
	if [ "$context" = DYNAMIC ]; then
		expect "" "$err" "setopt $name"
	else
		expect "dtrace: setopt(\"$name\"${value:+, \"$value\"}): Operation illegal when tracing is active" "$err" "setopt $name"
	fi
	# #pragma D option takes them too, unless they act before a program is read
	echo "#pragma D option $name${value:+=$value}
	BEGIN { exit(0); }" >p.d
	dt -e -x errtags -s p.d
	[ "$status" = 0 ] || expect_match "^dtrace: failed to compile script p.d: \\[D_PRAGMA_OPTSET\\] line 1: failed to set option '$name'.*acts before the program is read: use -x\$" "$err"
done <options

// tag: D_PRAGMA_OPTSET 2
#pragma D option strsize=banana
BEGIN { trace(1); }

// tag: D_PRAGMA_OPTSET
#pragma D option strsize=banana
BEGIN { trace(1); }

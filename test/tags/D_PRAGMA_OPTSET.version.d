// A version cannot be raised again.
// tag: D_PRAGMA_OPTSET 4
#pragma D option version=1.5
#pragma D option version=1.6
BEGIN { trace(1); }

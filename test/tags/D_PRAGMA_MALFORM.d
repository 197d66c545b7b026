// tag: D_PRAGMA_MALFORM
#pragma D option
BEGIN { trace(1); }

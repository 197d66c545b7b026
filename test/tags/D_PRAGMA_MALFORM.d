// tag: D_PRAGMA_MALFORM 2
#pragma D option
BEGIN { trace(1); }

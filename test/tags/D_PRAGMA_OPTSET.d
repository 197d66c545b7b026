// tag: D_PRAGMA_OPTSET
#pragma D option nosuchoption=1
BEGIN { trace(1); }

// tag: D_PRAGCTL_INVAL 2
#nosuchline
BEGIN { trace(1); }

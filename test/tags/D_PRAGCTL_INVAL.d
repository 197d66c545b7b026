// tag: D_PRAGCTL_INVAL
#nosuchline
BEGIN { trace(1); }

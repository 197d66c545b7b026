// A clause without actions records that the probe fired.
// run: 
BEGIN { }
END { }
BEGIN { exit(0); }

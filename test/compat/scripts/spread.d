#!/usr/sbin/dtrace -s
// run: -q
/*
 * spread.d: the same eight values in all the ways that D has to summarise them.
 */
#pragma D option aggsortkey

int seed;

BEGIN { seed = (seed * 37 + 11) % 1000; @n["count"] = count(); @sum["sum"] = sum(seed); @lin = lquantize(seed, 0, 1000, 250); @log = llquantize(seed, 10, 0, 2, 10); }
BEGIN { @avg["avg"] = avg(seed); @min["min"] = min(seed); @max["max"] = max(seed); @dev["stddev"] = stddev(seed); @pow = quantize(seed); }
BEGIN { seed = (seed * 37 + 11) % 1000; @n["count"] = count(); @sum["sum"] = sum(seed); @lin = lquantize(seed, 0, 1000, 250); @log = llquantize(seed, 10, 0, 2, 10); }
BEGIN { @avg["avg"] = avg(seed); @min["min"] = min(seed); @max["max"] = max(seed); @dev["stddev"] = stddev(seed); @pow = quantize(seed); }
BEGIN { seed = (seed * 37 + 11) % 1000; @n["count"] = count(); @sum["sum"] = sum(seed); @lin = lquantize(seed, 0, 1000, 250); @log = llquantize(seed, 10, 0, 2, 10); }
BEGIN { @avg["avg"] = avg(seed); @min["min"] = min(seed); @max["max"] = max(seed); @dev["stddev"] = stddev(seed); @pow = quantize(seed); }
BEGIN { seed = (seed * 37 + 11) % 1000; @n["count"] = count(); @sum["sum"] = sum(seed); @lin = lquantize(seed, 0, 1000, 250); @log = llquantize(seed, 10, 0, 2, 10); }
BEGIN { @avg["avg"] = avg(seed); @min["min"] = min(seed); @max["max"] = max(seed); @dev["stddev"] = stddev(seed); @pow = quantize(seed); }
BEGIN { seed = (seed * 37 + 11) % 1000; @n["count"] = count(); @sum["sum"] = sum(seed); @lin = lquantize(seed, 0, 1000, 250); @log = llquantize(seed, 10, 0, 2, 10); }
BEGIN { @avg["avg"] = avg(seed); @min["min"] = min(seed); @max["max"] = max(seed); @dev["stddev"] = stddev(seed); @pow = quantize(seed); }
BEGIN { seed = (seed * 37 + 11) % 1000; @n["count"] = count(); @sum["sum"] = sum(seed); @lin = lquantize(seed, 0, 1000, 250); @log = llquantize(seed, 10, 0, 2, 10); }
BEGIN { @avg["avg"] = avg(seed); @min["min"] = min(seed); @max["max"] = max(seed); @dev["stddev"] = stddev(seed); @pow = quantize(seed); }
BEGIN { seed = (seed * 37 + 11) % 1000; @n["count"] = count(); @sum["sum"] = sum(seed); @lin = lquantize(seed, 0, 1000, 250); @log = llquantize(seed, 10, 0, 2, 10); }
BEGIN { @avg["avg"] = avg(seed); @min["min"] = min(seed); @max["max"] = max(seed); @dev["stddev"] = stddev(seed); @pow = quantize(seed); }
BEGIN { seed = (seed * 37 + 11) % 1000; @n["count"] = count(); @sum["sum"] = sum(seed); @lin = lquantize(seed, 0, 1000, 250); @log = llquantize(seed, 10, 0, 2, 10); }
BEGIN { @avg["avg"] = avg(seed); @min["min"] = min(seed); @max["max"] = max(seed); @dev["stddev"] = stddev(seed); @pow = quantize(seed); }

BEGIN
{
	exit(0);
}

END
{
	printa("%-8s %@8d\n", @n);
	printa("%-8s %@8d\n", @sum);
	printa("%-8s %@8d\n", @avg);
	printa("%-8s %@8d\n", @min);
	printa("%-8s %@8d\n", @max);
	printa("%-8s %@8d\n", @dev);
	printa(@lin);
	printa(@log);
	printa(@pow);
}

/*
 * every: output every few seconds, and a given number of times, for the scripts in tools/ that show tables.
 */
module every 1.0;

int seconds, outputs;

/* At tick-1s: is it time for output, every `interval` seconds (0: every second)? */
export inline int due(int interval)
{
	if (++seconds % (interval ? interval : 1))
		return 0;
	outputs++;
	return 1;
}

/* After it: was that the last of `count`? 0: there is no last one. */
export inline int over(int count)
{
	return count && outputs == count;
}

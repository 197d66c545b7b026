// tag: D_SYM_BADREF 6
#pragma D option zdefs

pid4194998:a.out:main:entry
{
	trace(pid4194999`a.out`x);
}

//@ command = "nearmiss explore undefined_variable.c --function shown --global verbosity --range verbosity=0..3"
//@ paths = 4
// Nobody defines these variables: one is an input, the others are zero. Functions that are not called here are no matter.
extern int verbosity;
extern const short limits[4];
extern _Thread_local int depth;
extern int unneeded;
void elsewhere(int);

int shown(int level)
{
    if (level > verbosity)
        return 0;
    if (level < limits[2] + depth)
        return -1;
    if (level == verbosity)
        return 1;
    return 2;
}

int other(void)
{
    elsewhere(unneeded);
    return unneeded;
}
